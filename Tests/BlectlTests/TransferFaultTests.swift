import TestSupport

@testable import BluetoothLE
@testable import Presentation

/// Every fault at each packet of a transfer of 200. If the device reports its count or the mode differs, every third packet.
@Suite(.timeLimit(.minutes(15))) struct TransferFaultTests {
  typealias Fault = FaultyLink.Fault

  /// How the data is sent, and how its arrival is confirmed.
  enum Way: String, CaseIterable, Sendable {
    case requests
    /// Commands that only the device's ATT layer confirms.
    case commands
    /// Commands to a device that reports its count.
    case countedCommands
    /// Commands to a device of unknown speed.
    case probedCommands

    var mode: TransferOptions.Mode { self == .requests ? .request : .command }
  }

  static let segment = 20
  static let packets = 200
  static let file = (0..<segment * packets).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  static let provesEvery = 16
  /// Returns the number of bytes that may arrive unconfirmed: those between two proofs, and those sent while an answer is on its way.
  static func window(_ way: Way) -> Int {
    switch way {
    case .requests: segment
    case .commands, .countedCommands: segment * (provesEvery + FaultyLink.buffers + 4)
    // Questions are rarer than every 16 packets: the longest probe has 64.
    case .probedCommands: segment * (64 + FaultyLink.buffers + 4)
    }
  }

  /// - Returns: Nil if the sender knows of no failure.
  @LoopActor private static func send(_ way: Way, from offset: Int = 0, over link: FaultyLink) async throws -> Failure? {
    let client = Client(link)
    var options = TransferOptions()
    options.mode = way.mode
    options.chunk = segment
    options.pacing.provesEvery = provesEvery
    let question = ArrivalQuestion(.read(FaultyLink.count)) { response in
      if case .read(let value) = response { ArrivalReport(value)?.count } else { nil }
    }
    let transfer = Transfer(
      client, to: 0x10, mode: way.mode.writeMode, segment: segment, pacing: options.pacing(segment: segment), ByteArray(file),
      from: offset,
      asking: way == .countedCommands ? question : nil, pace: way == .probedCommands ? TransferPace() : TransferPace().begin(on: nil))
    let task = EventLoop.shared.spawn { () -> Failure? in
      do { try await transfer.run() } catch {
        return Failure(
          transfer: IncompleteWrite(
            mode: way.mode.writeMode, progress: transfer.progress, total: file.count, segments: .max, cause: error))
      }
      return nil
    }
    link.interrupt = { task.cancel() }
    // Twice the time of an ATT transaction. Only a hang takes that long.
    let failure = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(60))) { await task.value }
    client.close()
    return try #require(failure, "it hangs")
  }

  @Test(.onLoop, arguments: Fault.allCases, Way.allCases)
  @LoopActor func everyFaultAtEveryPacket(_ fault: Fault, _ way: Way) async throws {
    for packet in stride(from: 1, through: Self.packets, by: way == .commands || way == .requests ? 1 : 3) {
      try await Self.check(fault, way, packet)
    }
  }

  @LoopActor private static func check(_ fault: Fault, _ way: Way, _ packet: Int) async throws {
    let place: Comment = "\(fault) at packet \(packet) by \(way)"
    let sink = FaultyLink.Sink()
    let failure = try await send(way, over: FaultyLink(sink, fault, at: packet))
    let code: Int32? =
      switch (fault, way) {
      case (.loss, _): 6
      case (.reset, _): 3
      case (.stalledCredits, _), (.droppingServer, .requests): 4
      case (.interrupt, _): 130
      case (.refusal, .requests): 5
      // Commands are not answered. An error in answer to the next request proves that they were read.
      case (.refusal, _): nil
      // Only the application can tell.
      case (.droppingServer, .commands), (.droppingServer, .probedCommands): nil
      case (.droppingServer, .countedCommands): 7
      }
    #expect(failure?.exitStatus.rawValue == code, "\(place): \(failure?.message ?? "no failure")")
    let arrived = sink.bytes.count
    #expect(sink.bytes == Array(file[..<arrived]), place)
    guard let failure else {
      #expect((ArrivalReport(of: sink.bytes) == ArrivalReport(of: file)) == (fault != .droppingServer), place)
      return
    }
    let told = try #require(failure.resumeOffset, place)
    #expect(told <= arrived && told >= arrived - window(way), "\(place): told \(told), arrived \(arrived)")
    #expect(["At least \(told) of 4000", "Between \(told) and "].contains(where: failure.message.contains), place)
    // The sink continues at the resumed offset.
    sink.bytes.removeLast(max(0, arrived - told))
    #expect(try await send(way, from: min(told, arrived), over: FaultyLink(sink)) == nil, place)
    #expect(ArrivalReport(of: sink.bytes) == ArrivalReport(of: file), place)
  }
}
