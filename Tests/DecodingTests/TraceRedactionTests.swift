import TestSupport
import Traces

/// Tests that traces hold no secrets.
@Suite(.timeLimit(.minutes(15))) struct TraceRedactionTests {
  private static let key: [UInt8] = (1...16).map { 0xA0 + $0 }

  private static func redacted(_ packet: [UInt8], _ direction: Direction = .hostToController) -> [UInt8] {
    var redaction = TraceRedaction()
    return redaction.redacted(packet, direction)
  }

  private static func command(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8] {
    CommandPacket(opcode: Opcode(rawValue: opcode), parameters: parameters).encoded
  }

  private static func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] { [4, code, UInt8(parameters.count)] + parameters }

  private static func returned(_ opcode: UInt16, _ bytes: [UInt8]) -> [UInt8] {
    event(0x0E, [1, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)] + bytes)
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  // MARK: The tables

  private static let commandNames = [
    "Link Key Request Reply", "PIN Code Request Reply", "User Passkey Request Reply", "Remote OOB Data Request Reply",
    "Remote OOB Extended Data Request Reply", "Write Stored Link Key", "LE Encrypt", "LE Enable Encryption",
    "LE Long Term Key Request Reply", "LE Generate DHKey", "LE Generate DHKey [v2]", "LE Add Device To Resolving List", "LE Create BIG",
    "LE Create BIG Test", "LE BIG Create Sync",
  ]
  private static let returnNames = ["Read Local OOB Data", "Read Local OOB Extended Data", "LE Rand"]

  /// The numbers of the secret packets equal those of the decoder's tables.
  @Test func opcodesAndCodes() {
    func names(_ opcodes: some Sequence<UInt16>) -> Set<String> { Set(opcodes.compactMap { HCITable.commands[$0]?.name }) }
    #expect(names(Secrets.commands) == Set(Self.commandNames) && Secrets.commands.count == Self.commandNames.count)
    #expect(names(Secrets.returns.subtracting(Secrets.commands)) == Set(Self.returnNames))
    #expect(Secrets.returns.isSuperset(of: Secrets.commands) && Secrets.returns.count == Self.commandNames.count + 3)
    #expect(
      Set(Secrets.events.map { DecodedPacket(hci: Self.event($0, [])).name })
        == ["Return Link Keys", "Link Key Notification", "User Passkey Notification"])
    #expect(Secrets.subevents.map { DecodedPacket(hci: Self.event(0x3E, [$0])).name } == ["LE Generate DHKey Complete"])
    #expect(
      Set(Secrets.pairing.map { DecodedPacket(securityManager: [$0]).name })
        == ["Pairing Random", "Encryption Information", "Identity Information", "Signing Information"])
  }

  // MARK: Commands and events

  @Test(arguments: Secrets.commands.sorted()) func aSecretCommand(_ opcode: UInt16) {
    #expect(Self.redacted(Self.command(opcode, Self.key)) == Self.command(opcode, Self.zeros(16)))
  }

  @Test(arguments: Secrets.returns.sorted()) func whatASecretCommandReturns(_ opcode: UInt16) {
    #expect(Self.redacted(Self.returned(opcode, [0x12] + Self.key)) == Self.returned(opcode, [0x12] + Self.zeros(16)))
  }

  @Test func secretEvents() {
    for code in Secrets.events { #expect(Self.redacted(Self.event(code, Self.key)) == Self.event(code, Self.zeros(16))) }
    #expect(Self.redacted(Self.event(0x3E, [9, 0] + Self.key)) == Self.event(0x3E, [9, 0] + Self.zeros(16)))
  }

  /// Redaction is an allow-list: packets without a format in the tables are zeroed.
  @Test func whatIsNotKnown() {
    // A vendor command, an unknown opcode, and an opcode without a format in the tables.
    for opcode: UInt16 in [0xFC01, 0x0FFF, 0x2062] {
      #expect(Self.redacted(Self.command(opcode, Self.key)) == Self.command(opcode, Self.zeros(16)))
      #expect(Self.redacted(Self.returned(opcode, [0] + Self.key)) == Self.returned(opcode, [0] + Self.zeros(16)))
    }
    for code: UInt8 in [0xFF, 0x60, 0x2D] { #expect(Self.redacted(Self.event(code, Self.key)) == Self.event(code, Self.zeros(16))) }
    for code: UInt8 in [0x19, 0xF0] {
      #expect(Self.redacted(Self.event(0x3E, [code] + Self.key)) == Self.event(0x3E, [code] + Self.zeros(16)))
    }
    #expect(Self.redacted([9] + Self.key) == [9] + Self.zeros(16))
    // Audio data, and a command that is longer than its length field.
    #expect(Self.redacted([3, 1, 0, 16] + Self.key) == [3, 1, 0, 16] + Self.zeros(16))
    #expect(Self.redacted([5, 1, 0, 16, 0] + Self.key) == [5, 1, 0, 16, 0] + Self.zeros(16))
    #expect(Self.redacted([1, 3, 0x0C, 0] + Self.key) == [1, 3, 0x0C, 0] + Self.zeros(16))
  }

  @Test func whatIsKnown() {
    for packet in [
      Self.command(0x0406, [0x40, 0, 0x13]), Self.returned(0x1405, [0, 0x40, 0, 0xC3]), Self.event(0x0F, [0, 1, 0x19, 0x20]),
      Self.event(0x05, [0, 0x40, 0, 0x13]), Self.event(0x3E, [2, 1, 3, 0, 6, 5, 4, 3, 2, 1, 3, 2, 1, 6, 0xC4]),
      Self.event(0x3E, [5, 0x40, 0] + Self.zeros(8) + [7, 7]), Self.event(0x08, [0, 0x40, 0, 1]), Self.event(0x0E, [1, 0, 0]),
    ] {
      #expect(Self.redacted(packet) == packet)
    }
  }

  // MARK: Data

  private static func frames(
    _ channel: ChannelIdentifier, _ payload: [UInt8], length: Int = 0xFFFF, handle: ConnectionHandle = 0x40
  ) -> [[UInt8]] {
    L2CAPFrame(channel: channel, payload: payload).fragments(handle: handle, length: length).map(\.encoded)
  }

  /// A pairing PDU keeps its code and loses the rest, however it is fragmented.
  @Test(arguments: Secrets.pairing.sorted(), [ChannelIdentifier.securityManager, .classicSecurityManager])
  func aSecretOfPairing(_ code: UInt8, _ channel: ChannelIdentifier) {
    for length in 1...21 {
      var redaction = TraceRedaction()
      let redacted = Self.frames(channel, [code] + Self.key, length: length).map { redaction.redacted($0, .hostToController) }
      #expect(redacted == Self.frames(channel, [code] + Self.zeros(16), length: length))
    }
  }

  @Test func otherFramesStay() {
    for (channel, payload) in [
      (ChannelIdentifier.att, [0x1B, 3, 0] + Self.key), (.signalling, [0x12, 1, 8, 0, 6, 0, 6, 0, 0, 0, 100, 0]),
      (.securityManager, [3] + Self.key), (.securityManager, [11, 1]), (0x0040, Self.key), (.securityManager, []),
    ] {
      for length in [1, 4, 5, 27] {
        var redaction = TraceRedaction()
        for packet in Self.frames(channel, payload, length: length) {
          #expect(redaction.redacted(packet, .controllerToHost) == packet)
        }
      }
    }
    #expect(Self.redacted(Self.frames(.securityManager, [0x77] + Self.key)[0]) == Self.frames(.securityManager, [0x77] + Self.zeros(16))[0])
  }

  /// Each direction of each link has its own frame.
  @Test func linksAndDirections() {
    var redaction = TraceRedaction()
    let one = Self.frames(.securityManager, [4] + Self.key, length: 7)
    let two = Self.frames(.att, [0x1B] + Self.key, length: 7, handle: 0x41)
    let other = Self.frames(.att, [0x52] + Self.key, length: 7)
    let expected = Self.frames(.securityManager, [4] + Self.zeros(16), length: 7)
    for index in 0..<3 {
      #expect(redaction.redacted(one[index], .hostToController) == expected[index])
      #expect(redaction.redacted(two[index], .hostToController) == two[index])
      #expect(redaction.redacted(other[index], .controllerToHost) == other[index])
    }
    // A continuation without a start may hold a key: after a frame's end, or at the start of a trace.
    let rest = ACLData(handle: 0x40, boundary: .continuing, payload: Self.key).encoded
    let zeroed = ACLData(handle: 0x40, boundary: .continuing, payload: Self.zeros(16)).encoded
    #expect(redaction.redacted(rest, .hostToController) == zeroed && Self.redacted(rest) == zeroed)
    // More bytes than the frame's length.
    #expect(
      redaction.redacted([2, 0x40, 0, 8, 0, 1, 0, 4, 0, 0x0A, 9, 9, 9], .hostToController) == [2, 0x40, 0, 8, 0, 1, 0, 4, 0, 0x0A, 0, 0, 0])
  }

  /// Hostile packets keep their length, cause no trap and reveal no key.
  @Test func hostilePackets() {
    var redaction = TraceRedaction()
    let seeds =
      [Self.command(0x2019, Self.key), Self.returned(0x2017, [0] + Self.key), Self.event(0x3E, [9, 0] + Self.key)]
      + Self.frames(.securityManager, [6] + Self.key, length: 9)
    hostile(seeds, mutations: 50_000) { packet in
      let redacted = redaction.redacted(packet, packet.count & 1 == 0 ? .hostToController : .controllerToHost)
      #expect(redacted.count == packet.count && redacted.prefix(1) == packet.prefix(1))
    }
  }
}
