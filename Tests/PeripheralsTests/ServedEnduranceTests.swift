import BluetoothLESimulator
import TestSupport

/// A served device over a long time, with centrals that behave badly. None of them stops another, and nothing is left behind.
@Suite(.timeLimit(.minutes(15))) struct ServedEnduranceTests {
  private static let file = #"""
    {"name": "T", "address": "D1:00:00:00:00:09/random", "security": {}, "advertisement": {"flags": 6}, "services": [
      {"uuid": "1801", "characteristics": [
        {"uuid": "2a05", "properties": ["indicate"]}, {"uuid": "2b29", "properties": ["read", "write"], "value": "00"},
        {"uuid": "2b2a", "properties": ["read"]}]},
      {"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["read", "write", "notify"], "value": "0a0b"},
        {"uuid": "ff02", "properties": ["write_without_response"], "reactions": [{"then": [{"notify": "ff03", "value": "01"}]}]},
        {"uuid": "ff03", "properties": ["notify"]},
        {"uuid": "ff04", "properties": ["write_without_response"], "reactions": [{"then": [{"indicate": "ff05", "value": "01"}]}]},
        {"uuid": "ff05", "properties": ["indicate"]},
        {"uuid": "ff06", "properties": ["read", "write", "write_without_response"], "value": "0a0b"}]}]}
    """#

  /// The handles of the file above in hex, little-endian, by UUID. `+` marks the configuration of a value.
  private let handles: [String: String]
  private let description: PeripheralDescription

  init() throws {
    description = try PeripheralFile.parse(Array(Self.file.utf8), name: "x")[0]
    var handles: [String: String] = [:]
    for uuid in ["ff01", "ff02", "ff03", "ff04", "ff05", "ff06"] {
      handles[uuid] = description.hex(uuid)
      handles["\(uuid)+"] = description.configuration(uuid)
    }
    self.handles = handles
  }

  private func pdu(_ opcode: String, _ uuid: String, _ more: String = "") -> String { opcode + (handles[uuid] ?? "") + more }

  // MARK: Centrals

  /// Floods the device with Write Commands, each of which makes it send a value. It takes the values, but confirms none.
  @LoopActor private func flood(_ central: RawCentral, _ uuid: String, for time: Duration) async throws -> Int {
    let report = uuid == "ff02" ? "ff03+" : "ff05+"
    #expect(try await central.ask(pdu("12", report, uuid == "ff02" ? "0100" : "0200")).answer == "13")
    let deadline = EventLoop.shared.now.advanced(by: time)
    var sent = 0
    while EventLoop.shared.now < deadline, central.end == nil {
      guard (try? await central.link.channel.waitUntilWritable(until: deadline)) == true else { break }
      central.send(pdu("52", uuid, "00"))
      sent += 1
    }
    return sent
  }

  /// Valid PDUs of all kinds and of both roles, for a value of the device.
  private var kinds: [String] {
    let handle = handles["ff06"] ?? ""
    return [
      "01020a0001", "022000", "032000", "040100ffff", "0501\(handle)01ff", "060100ffff002800ff", "07\(handle)0100", "080100ffff01ff",
      "0904\(handle)0a0b", "0a\(handle)", "0b0a0b", "0c\(handle)0000", "0d0a0b", "0e\(handle)\(handle)", "0f0a0b0a0b", "100100ffff0028",
      "1106\(handle)010000ff", "12\(handle)0a0b", "13", "16\(handle)00000a", "17\(handle)00000a", "1800", "19", "1b\(handle)0a0b",
      "1d\(handle)0a0b", "1e", "20\(handle)\(handle)", "2102000a0b", "23\(handle)02000a0b", "52\(handle)0a0b",
      "d2\(handle)0a0b000000000000000000000000",
    ]
  }

  /// Sends each PDU cut at each length, and each other opcode. The device answers each request, and nothing else.
  @LoopActor private func sendNonsense(_ central: RawCentral) async throws {
    let cut = kinds.flatMap { kind in stride(from: 0, through: kind.count, by: 2).map { String(kind.prefix($0)) } }
    let others = (0...255).map { Hex.encode(UInt8($0)) }.filter { opcode in !kinds.contains { $0.hasPrefix(opcode) } }
    for hex in cut + others {
      let opcode = Hex.decode(hex)?.first.map { ATTOpcode(rawValue: $0) }
      let isAsked: Bool
      switch opcode {
      case .request, .unsolicited(.indication): isAsked = true
      case .unknown(let code)?: isAsked = code & 0x40 == 0
      default: isAsked = false
      }
      central.send(hex)
      guard isAsked else { continue }
      let answer = try await central.next()
      #expect(answer != nil && (answer == "1e") == hex.hasPrefix("1d"), "\(hex): \(answer ?? "no answer")")
    }
    #expect(try await central.next(within: .seconds(2)) == nil && central.end == nil)
  }

  // MARK: A day

  @Test(.onLoop) @LoopActor func aDayWithBadCentrals() async throws {
    let served = try await ServedHost(description)
    let start = EventLoop.shared.now
    let day = start.advanced(by: .seconds(24 * 3600))
    var phones: [HostCentral] = []
    for number in 1...4 as ClosedRange<UInt64> { phones.append(try await served.phone(number, extended: number < 4)) }
    let (good, bad) = (phones[0], phones[3])
    var floods = 0

    // Reads every 20 s over one link, all the time.
    let steady = EventLoop.shared.spawn { () -> [Duration] in
      var times: [Duration] = []
      let error = await failure {
        let central = RawCentral(try await good.connect(served.address, timeout: .seconds(20)))
        while EventLoop.shared.now < day {
          let (answer, time) = try await central.ask(pdu("0a", "ff01"))
          times.append(time)
          #expect(answer == "0b0a0b")
          try await EventLoop.shared.sleep(for: .seconds(20))
        }
        await central.link.disconnect()
      }
      #expect(error == nil)
      return times
    }
    // Come and go.
    let guests = phones[1...2].map { phone in
      EventLoop.shared.spawn { () -> Int in
        var count = 0
        let error = await failure {
          while EventLoop.shared.now < day {
            let central = RawCentral(try await phone.connect(served.address, timeout: .seconds(60)))
            central.confirms = true
            if count.isMultiple(of: 50) {
              _ = try await central.link.security?.pair(PairingParameters(), user: PlainUser(), keep: { _ in })
            }
            #expect(try await central.ask(pdu("12", "ff05+", "0200")).answer == "13")
            #expect(try await central.ask(pdu("0a", "ff01")).answer == "0b0a0b")
            await central.link.disconnect()
            count += 1
            try await EventLoop.shared.sleep(for: .seconds(160))
          }
        }
        #expect(error == nil)
        return count
      }
    }
    var visits = 0
    while EventLoop.shared.now < day {
      let central = RawCentral(try await bad.connect(served.address, timeout: .seconds(60)))
      switch visits % 8 {
      case 0: floods += try await flood(central, "ff02", for: .seconds(1))
      case 1:
        // The first indication has no confirmation. The device ends the link after the transaction time limit.
        let before = EventLoop.shared.now
        floods += try await flood(central, "ff04", for: .seconds(1))
        while central.end == nil { _ = try await central.next(within: .seconds(60)) }
        let time = before.duration(to: EventLoop.shared.now)
        #expect((.seconds(30) ..< .seconds(32)).contains(time) && (central.end as? Disconnection)?.reason == .remoteUserTerminated)
      case 2: try await sendNonsense(central)
      default: break
      }
      await central.link.disconnect()
      visits += 1
      try await EventLoop.shared.sleep(for: .seconds(900))
    }
    let times = await steady.value
    var count = visits + 1
    for guest in guests { count += await guest.value }
    #expect(count >= 1000 && served.connections == count && floods > 3000)
    let usual = times.prefix(100).max() ?? .zero
    #expect(times.count > 4000 && (times.max() ?? .seconds(60)) <= max(usual, .milliseconds(120)))
    #expect(served.device.memory.centrals.count == 2)
    try await served.end(phones)
  }
}

/// Returns the error of an operation, or nil.
@LoopActor
private func failure(_ operation: @LoopActor () async throws -> Void) async -> (any Error)? {
  do { try await operation() } catch { return error }
  return nil
}

private final class PlainUser: PairingUser {
  func passkey() async -> SixDigits? { nil }
  func show(_ passkey: SixDigits) {}
  func isSame(_ number: SixDigits) async -> Bool { true }
}
