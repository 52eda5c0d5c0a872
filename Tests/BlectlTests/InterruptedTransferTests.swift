import BluetoothLELinux
import Glibc
import TestSupport
import Traces

/// Ctrl-C and other signals interrupt a transfer. The data comes from a pipe, so that the transfer pauses after the chosen packet.
@Suite(.timeLimit(.minutes(15))) struct InterruptedTransferTests {
  typealias Way = FaultGridTests.Way

  private static func adapter() throws -> String { try FaultyDevice.air([FaultyDevice(fault: .loss, packet: 1000)], byRequest: false) }
  private static let peer = FaultyDevice(fault: .loss, packet: 1000).address

  /// Returns the number of bytes of the file in completed ACL packets, according to the trace.
  private static func carried(_ trace: String) async throws -> Int {
    try await onLoop {
      let packets = try Snoop.parse(try await InputFile.read(trace, limit: 64 << 20)).map(\.packet)
      // Number Of Completed Packets (Vol 4 Part E §7.7.19) of one handle.
      let completed = packets.filter { $0.starts(with: [4, 0x13, 5, 1]) }.reduce(0) { $0 + Int($1[6]) + Int($1[7]) << 8 }
      // Before the value are the ACL and L2CAP headers, opcode and handle. Only writes to the attribute that is tested last count.
      let sent = packets.filter { $0[0] == 2 && $0[2] & 0x30 == 0 }
      return sent.prefix(completed).filter { $0.count == 32 && [0x12, 0x52].contains($0[9]) }.reduce(0) { $0 + $1.count - 12 }
    }
  }

  private func send(_ way: Way, _ packet: Int, _ signal: Int32, _ state: String) async throws -> (ProcessResult, carried: Int) {
    let trace = TemporaryPath()
    let running = try Blectl.start(
      ["send-file", Self.peer, "fff6", "-", "--json", "-vv", "--trace", trace.path] + way.options.split(separator: " ").map(String.init),
      environment: ["XDG_STATE_HOME": state], adapter: try Self.adapter())
    running.send(Array(FaultGridTests.contents.prefix(20 * packet)))
    // Packets other than those that probe the device.
    #expect(running.waitForOutput(containing: way == .requests ? "< Write Request 120c00" : "< Write Command 520c00", times: packet))
    let result = running.end(by: signal)
    return (result, try await Self.carried(trace.path))
  }

  @Test(arguments: Way.allCases, [1, 17, 33, 200]) func controlC(_ way: Way, _ packet: Int) async throws {
    let state = TemporaryFolder.path()
    let (result, carried) = try await send(way, packet, SIGINT, state)
    #expect(result.status == 130 && !result.wasKilled, "\(result.errors.suffix(500))")
    let error = try #require(result.error, "\(result.errors.suffix(500))")
    let told = try #require(error.int("resume_offset"))
    #expect(
      error.string("kind") == "interrupted" && told <= carried && told >= 20 * packet - way.window, "told \(told), carried \(carried)")
    if told > 0 { #expect(error.string("message")?.contains("To keep one running: blectl sim --listen") == true) }
    // The transfer resumes from the saved state.
    let path = try TemporaryFolder.file(Array(FaultGridTests.contents))
    func resume(_ options: [String] = []) throws -> Blectl.Result {
      try Blectl.run(
        ["send-file", Self.peer, "fff6", path, "--json", "--resume", "--chunk", "20"] + options, environment: ["XDG_STATE_HOME": state],
        adapter: try Self.adapter())
    }
    if told == FaultGridTests.contents.count {
      // The pipe might have had more data, but the file has none.
      let resumed = try resume()
      let sentence = "Nothing left to send: all 4000 bytes of \(path) arrived"
      #expect(resumed.status == 66 && resumed.errors.contains(sentence), "\(resumed.errors)")
    } else if told > 0 {
      let resumed = try resume()
      let sent = try resumed.records.last
      #expect(resumed.status == 0 && sent?.isNull("verified") == true && sent?.int("offset") == told, "\(resumed.errors)")
      return
    }
    // The simulated device lost its data with the simulator.
    let resumed = try resume(["--verify", "notify:fff7"])
    let sent = try resumed.records.last
    #expect(resumed.status == 0 && sent?.int("verified_from") == 0 && sent?.int("offset") == 0, "\(resumed.errors)")
  }

  @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)]) func otherSignals(_ signal: Int32, _ status: Int32) async throws {
    let (result, carried) = try await send(.commands, 40, signal, TemporaryFolder.path())
    let told = try #require(result.error?.int("resume_offset"), "\(result.errors.suffix(500))")
    #expect(result.status == status && told <= carried && told >= 40 * 20 - Way.commands.window)
  }
}
