package import BluetoothLE

/// Connects, uses and ends two links of one adapter side by side, to BumbleAir's two peripherals.
@LoopActor
package enum TwoBumbleLinks {
  /// The peripherals of BumbleAir with `--second`.
  package static let peers = ["F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"].compactMap { Address($0) }.map { PeerAddress($0, .random) }

  /// The results for the test to check.
  package struct Outcome: Sendable {
    /// The received bytes that each peripheral reports, in hexadecimal, and the sent ones.
    package var counted: [String] = []
    package var expected: [String] = []
    /// The second peripheral's answer after the end of the first link.
    package var afterwards: [UInt8] = []
  }

  /// Requests both links in one turn, writes to both, ends the first, and reads over the second. Closes the central.
  package static func use(_ central: any Central) async throws -> Outcome {
    do {
      let outcome = try await use(try await atOnce(peers) { try await central.connect($0, timeout: .seconds(30)) })
      await central.close()
      return outcome
    } catch {
      await central.close()
      throw error
    }
  }

  private static func use(_ links: [any Link]) async throws -> Outcome {
    var outcome = Outcome()
    let clients = links.map { Client($0.channel) }
    let pictures = [Bytes.picture(20_000), Array(Bytes.picture(30_000).suffix(15_000))]
    outcome.expected = pictures.map { BumbleAir.report($0) }
    outcome.counted = try await atOnce(Array(zip(clients, pictures))) { client, picture in
      try await client.exchangeMTU()
      let table = try await client.discover()
      try await client.writeRequest([0], to: try table.resolve(Selector("ffe8")).handle)
      let sink = try table.resolve(Selector("ffe9")).handle
      let length = WriteProcedure.largestSegment(mtu: client.mtu)
      for start in stride(from: 0, to: picture.count, by: length) {
        try await client.writeCommand(picture[start..<min(start + length, picture.count)], to: sink)
      }
      return Bytes.hex(try await client.read(try table.resolve(Selector("ffe7")).handle))
    }
    await links[0].disconnect()
    if let table = clients[1].table { outcome.afterwards = try await clients[1].read(try table.resolve(Selector("ffe2")).handle) }
    return outcome
  }

  /// Runs all of them at the same time on the loop.
  private static func atOnce<One, Value>(_ all: [One], _ work: @escaping @LoopActor (One) async throws -> Value) async throws -> [Value] {
    let results = Results<Value>()
    let tasks = all.map { one in
      EventLoop.shared.spawn {
        let number = results.reserve()
        do { results.all[number] = .success(try await work(one)) } catch { results.all[number] = .failure(error) }
      }
    }
    for task in tasks { await task.value }
    return try results.all.compactMap { try $0?.get() }
  }

  @LoopActor private final class Results<Value> {
    var all: [Result<Value, any Error>?] = []

    func reserve() -> Int {
      all.append(nil)
      return all.count - 1
    }
  }
}
