import Foundation
import TestSupport

/// Runs every fault through the executable at packets of a transfer of 200, and then completes the file. Packets near the ends and near
/// proofs are tested, and some others. With BLECTL_EVERY_PACKET, all 200 are tested, which takes minutes.
@Suite(.timeLimit(.minutes(15))) struct FaultGridTests {
  typealias Fault = FaultyDevice.Fault

  enum Way: String, CaseIterable, Sendable {
    case requests
    /// Commands with only the device's ATT layer to confirm them.
    case commands
    /// Commands to a device that reports how much it has.
    case countedCommands

    var options: String {
      switch self {
      case .requests: "--mode request --chunk 20"
      case .commands: "--mode command --chunk 20 --ack-every \(provesEvery)"
      case .countedCommands: "--mode command --chunk 20 --ack-every \(provesEvery) --verify notify:fff7"
      }
    }

    /// The number of bytes that may arrive unconfirmed: those between two proofs and those in the controller's eight buffers. It includes
    /// bytes sent after a proof's request, during the connection event that brings the answer.
    var window: Int { 20 * (self == .requests ? 1 : FaultGridTests.provesEvery + 16 + 8) }
  }

  static let packets = 200
  static let provesEvery = 16
  static let contents = SendFileTests.picture.prefix(20 * packets)
  static let places: [Int] =
    ProcessInfo.processInfo.environment["BLECTL_EVERY_PACKET"] != nil
    ? Array(1...packets) : [1, 17, 33, 131, 200]
  /// A peripheral file has at most 64 devices.
  private static let devicesInAir = 50

  static func crc(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.add(Array(bytes))
    return crc.value
  }

  /// Returns the exit code. Nil if only the application could detect the fault.
  static func status(_ fault: Fault, _ way: Way) -> Int? {
    switch (fault, way) {
    case (.loss, _): 6
    case (.reset, _): 3
    case (.stalledCredits, _): 4
    case (.refusal, .requests): 5
    case (.droppingServer, .requests): 4
    case (.refusal, .commands), (.droppingServer, .commands): nil
    case (.refusal, .countedCommands), (.droppingServer, .countedCommands): 7
    }
  }

  /// Whether the fault has an effect. Answered requests are done, and nothing follows the last one that could stall.
  private static func isFelt(_ device: FaultyDevice, _ way: Way) -> Bool {
    device.fault != .stalledCredits || way != .requests || device.packet < packets
  }

  @Test(arguments: Fault.allCases.filter { $0 != .reset }, Way.allCases) func everyFault(_ fault: Fault, _ way: Way) throws {
    let path = try TemporaryFolder.file(Array(Self.contents))
    for start in stride(from: 0, to: Self.places.count, by: Self.devicesInAir) {
      let devices = Self.places[start...].prefix(Self.devicesInAir).map { FaultyDevice(fault: fault, packet: $0) }
      let session = try CommandSession(adapter: FaultyDevice.air(devices, byRequest: way == .requests))
      for device in devices where Self.isFelt(device, way) { try Self.check(device, way, session, path) }
      _ = session.end()
    }
  }

  private static func check(_ device: FaultyDevice, _ way: Way, _ session: CommandSession, _ path: String) throws {
    let place: Comment = "\(device.fault) at packet \(device.packet) by \(way)"
    #expect(try session.run("connect \(device.address)").status == 0, place)
    let sent = try session.run("send-file fff6 \(path) \(way.options)")
    let code = status(device.fault, way)
    #expect(sent.status == code ?? 0, "\(place): \(sent.error?.string("message") ?? "no error")")
    // The device itself reports what arrived.
    if ![0, 5, 7].contains(sent.status) { #expect(try session.run("connect \(device.address)").status == 0, place) }
    let arrived = try report(session, place)
    guard device.fault != .refusal || way == .requests else { return try check(hole: device, sent, arrived, place, session) }
    #expect(arrived.count >= 20 * (device.packet - 1), place)
    #expect(arrived.crc == crc(contents.prefix(arrived.count)), place)
    if code != nil {
      let told = try #require(sent.error?.int("resume_offset"), place)
      #expect(told <= arrived.count && told >= arrived.count - way.window, "\(place): told \(told), arrived \(arrived.count)")
      let message = sent.error?.string("message") ?? ""
      #expect(["At least \(told) of 4000", "Between \(told) and "].contains(where: message.contains), "\(place): \(message)")
    } else {
      #expect(sent.records.last?.isNull("verified") == true, "\(place): nobody has said that it is right")
    }
    // It drops until the link ends, and the link is still up.
    if device.fault == .droppingServer, way != .requests {
      #expect(try session.run("disconnect").status == 0 && session.run("connect \(device.address)").status == 0, place)
    }
    let resumed = try session.run(
      "send-file fff6 \(path) \(way.options) --resume" + (way == .countedCommands ? "" : " --verify notify:fff7"))
    #expect(resumed.status == 0 && resumed.records.last?.bool("verified") == true, "\(place): \(resumed.error?.string("message") ?? "")")
    let whole = try report(session, place)
    #expect(whole.count == contents.count && whole.crc == crc(contents), place)
    #expect(try session.run("disconnect").status == 0, place)
  }

  /// A reset also ends the simulator. The next one has the same device, with an empty sink and no fault.
  @Test(arguments: Way.allCases) func everyReset(_ way: Way) throws {
    let path = try TemporaryFolder.file(Array(Self.contents))
    for packet in Self.places {
      let device = FaultyDevice(fault: .reset, packet: packet)
      let place: Comment = "reset at packet \(packet) by \(way)"
      let air = try TemporaryFolder.file(device.description(byRequest: way == .requests))
      let session = try CommandSession(adapter: "sim:\(air)")
      #expect(try session.run("connect \(device.address)").status == 0, place)
      let sent = try session.run("send-file fff6 \(path) \(way.options)")
      let told = try #require(sent.error?.int("resume_offset"), place)
      // The packet is the last one that the controller carried.
      let arrived = 20 * packet
      #expect(sent.status == 3 && told <= arrived && told >= arrived - way.window, "\(place): told \(told), arrived \(arrived)")
      try FaultyDevice(fault: .reset, packet: 1 << 12).description(byRequest: false).replacingOccurrences(
        of: "D1:00:00:00:10:00", with: device.address.prefix(17)
      )
      .write(toFile: air, atomically: true, encoding: .utf8)
      #expect(try session.run("connect \(device.address)").status == 0, place)
      let resumed = try session.run(
        "send-file fff6 \(path) \(way.options) --resume" + (way == .countedCommands ? "" : " --verify notify:fff7"))
      // The device forgot the data and gets it again.
      #expect(
        resumed.status == 0 && resumed.records.last?.int("offset") == 0 && resumed.records.last?.int("verified_from") == 0,
        "\(place): \(resumed.error?.string("message") ?? "")")
      let whole = try Self.report(session, place)
      #expect(whole.count == Self.contents.count && whole.crc == Self.crc(Self.contents), place)
      _ = session.end()
    }
  }

  /// Separate commands return the exit code of the process, and the text.
  @Test(arguments: Fault.allCases) func exitCodes(_ fault: Fault) throws {
    let path = try TemporaryFolder.file(Array(Self.contents))
    for way in Way.allCases where fault != .refusal || way == .requests {
      for packet in [1, 17, 199] {
        let device = FaultyDevice(fault: fault, packet: packet)
        let adapter = try FaultyDevice.air([device], byRequest: way == .requests)
        let result = try Blectl.run(
          ["send-file", device.address, "fff6", path] + way.options.split(separator: " ").map(String.init), adapter: adapter)
        let code = Self.status(fault, way) ?? 0
        #expect(Int(result.status) == code, "\(fault) at \(packet) by \(way): \(result.errors)")
        if code != 0 {
          // The simulated device ends with the process.
          #expect(result.errors.contains("To keep one running: blectl sim --listen"), "\(fault) at \(packet) by \(way): \(result.errors)")
          #expect(!result.errors.contains("--offset"), "\(fault) at \(packet) by \(way): \(result.errors)")
        }
      }
    }
  }

  /// A device whose count stops for two seconds does not get the rest of a long file.
  @Test func isNoticedBeforeTheEnd() throws {
    let air = try TemporaryFolder.file(
      """
      {"name": "Sink", "address": "D1:00:00:00:00:12/random", "advertisement": {"name": "Sink"}, "mtu": 247, "firmware": {"drops_after": 500},
        "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write_without_response"], "sink": {"report": "fff7"}}, {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """)
    let path = try TemporaryFolder.file([UInt8](repeating: 7, count: 1_000_000))
    let result = try Blectl.run(
      ["send-file", "name:Sink", "fff6", path, "--chunk", "244", "--verify", "notify:fff7", "--json"], adapter: "sim:\(air)")
    let told = try #require(result.error?.int("resume_offset"), "\(result.errors)")
    let sent = try #require(result.errors.firstMatch(of: /and (\d+) of \d+ bytes arrived/).flatMap { Int($0.1) }, "\(result.errors)")
    #expect(result.status == 7 && told == 500 * 244 && sent < 500_000, "\(result.errors)")
  }

  /// A lost link is restored without another command, and the transfer resumes.
  @Test(arguments: [Fault.loss, .stalledCredits], Way.allCases) func reconnects(_ fault: Fault, _ way: Way) throws {
    let path = try TemporaryFolder.file(Array(Self.contents))
    for packet in [1, 16, 17, 100, 199, 200] {
      let device = FaultyDevice(fault: fault, packet: packet)
      guard Self.isFelt(device, way) else { continue }
      let result = try Blectl.run(
        ["send-file", device.address, "fff6", path, "--json", "--reconnect", "2"] + way.options.split(separator: " ").map(String.init)
          + (way == .countedCommands ? [] : ["--verify", "notify:fff7"]), adapter: FaultyDevice.air([device], byRequest: way == .requests))
      let sent = try result.records.last
      #expect(
        result.status == 0 && sent?.bool("verified") == true && sent?.int("reconnects") == 1,
        "\(fault) at packet \(packet) by \(way): \(result.errors)")
    }
  }

  @Test func reconnectsBeforeTheFirstByte() throws {
    let air = try TemporaryFolder.file(
      #"""
      {"name": "Sink", "address": "D1:00:00:00:00:11/random", "variables": {"n": 0}, "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff6", "properties": ["write_without_response"], "sink": {"report": "fff7"}},
        {"uuid": "fff7", "properties": ["read", "notify"],
          "on_subscribe": [{"count": "n"}, {"disconnect": "out_of_range", "if": {"variable": "n", "is": 1}}]}]}]}
      """#)
    let path = try TemporaryFolder.file(Array(Self.contents))
    let command = ["send-file", "D1:00:00:00:00:11/random", "fff6", path, "--verify", "notify:fff7"]
    #expect(try Blectl.run(command, adapter: "sim:\(air)").status == 6)
    let result = try Blectl.run(command + ["--reconnect", "1"], adapter: "sim:\(air)")
    #expect(result.status == 0 && result.errors.contains("Reconnecting"), "\(result.errors)")
    // blectl reconnects, so the user has nothing to do.
    #expect(!result.errors.contains("--offset"), "\(result.errors)")
  }

  /// Checks a transfer with one missing packet before others that arrived. The reported count ends before the gap.
  private static func check(
    hole device: FaultyDevice, _ sent: CommandSession.Answer, _ arrived: (count: Int, crc: UInt32), _ place: Comment,
    _ session: CommandSession
  ) throws {
    #expect(arrived.count <= contents.count - 20, place)
    if arrived.count > 20 * (device.packet - 1) { #expect(arrived.crc != crc(contents.prefix(arrived.count)), place) }
    if let told = sent.error?.int("resume_offset") { #expect(told <= 20 * (device.packet - 1), "\(place): told \(told)") }
    #expect(try session.run("disconnect").status == 0, place)
  }

  private static func report(_ session: CommandSession, _ place: Comment) throws -> (count: Int, crc: UInt32) {
    let value = try #require(try session.run("read fff7").records.last?.string("value"), place)
    let bytes = try #require(Hex.decode(value), place)
    func number(_ part: ArraySlice<UInt8>) -> UInt32 { part.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    return (Int(number(bytes.prefix(4))), number(bytes.suffix(4)))
  }
}
