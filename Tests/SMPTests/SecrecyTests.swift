import TestSupport

/// What the trace of a pairing reveals about the passkey.
///
/// A confirm value covers a random number of 128 bits. Until its sender reveals this number, both values of the covered bit (or all passkeys
/// of legacy pairing) fit equally well. After that, whoever has the trace computes the bit, because the other inputs are public. Therefore
/// a passkey is used once, and our traces leave out the random numbers: without them, no guess verifies.
@Suite(.timeLimit(.minutes(15))) struct SecrecyTests {
  private typealias Trace = [(from: LinkRole, bytes: [UInt8])]

  /// The trace as our recordings keep it: the parameters of secret PDUs are zeros.
  private func redacted(_ trace: Trace) -> Trace {
    trace.map { from, bytes in
      (from, Secrets.pairing.contains(bytes[0]) ? [bytes[0]] + [UInt8](repeating: 0, count: bytes.count - 1) : bytes)
    }
  }

  private func numbers(_ trace: Trace, _ role: LinkRole, _ code: UInt8) -> [UInt128] {
    trace.filter { $0.from == role && $0.bytes[0] == code }.map { $0.bytes.dropFirst().reversed().reduce(0) { $0 << 8 | UInt128($1) } }
  }

  /// Returns the guesses of each round's bit that fit the confirm value, for one device.
  private func fittingBits(_ trace: Trace, _ role: LinkRole) throws -> [[UInt8]] {
    func x(_ role: LinkRole) throws -> [UInt8] {
      try #require(trace.first { $0.from == role && $0.bytes[0] == 0x0C }).bytes[1..<33].reversed()
    }
    let (u, v) = (try x(role), try x(role.other))
    return zip(numbers(trace, role, 0x03), numbers(trace, role, 0x04)).map { confirm, random in
      [0x80, 0x81].filter { Toolbox.f4(u: u, v: v, x: random, z: $0) == confirm }
    }
  }

  @Test func secureConnections() throws {
    let kind = PairingKind.all[1]
    let air = kind.pair()
    let passkey = try #require(air.displayed[.central]).number
    let bits = (0..<20).map { [0x80 | UInt8(passkey >> UInt32($0) & 1)] }
    for role in LinkRole.allCases {
      // The test would find a bit: the whole trace has exactly one fitting guess in each round.
      #expect(try fittingBits(air.trace, role) == bits)
      let found = try fittingBits(redacted(air.trace), role)
      #expect(found.count == 20)
      #expect(found.allSatisfy { $0.isEmpty })
    }
  }

  /// Each round reveals only its own bit, and only after both devices committed to theirs. A guesser who does not know the passkey
  /// therefore gets one wrong bit in the first half of the rounds, on average, and nothing after it.
  @Test func wrongGuessesEndAtTheFirstWrongBit() throws {
    for wrong in [0, 1, 7, 19] {
      let kind = PairingKind.all[1]
      var central = kind.central
      central.passkey = SixDigits(543_210)
      let air = TwoPairings(peripheral: kind.peripheral)
      air.typed[.peripheral] = SixDigits(543_210 ^ 1 << UInt32(wrong))
      air.pair(central)
      #expect(air.failure(.central) == .wrongPasskey(.peer))
      // The responder checks first, and then keeps its own random number for itself.
      #expect(numbers(air.trace, .central, 0x04).count == wrong + 1)
      #expect(numbers(air.trace, .peripheral, 0x04).count == wrong)
    }
  }

  /// All million passkeys of legacy pairing against its trace: one fits the whole trace, none the redacted one.
  @Test func legacy() throws {
    let air = PairingKind.all[5].pair()
    let passkey = try #require(air.displayed[.central]).number
    func number(_ code: UInt8) throws -> UInt64 {
      try #require(air.trace.first { $0.bytes[0] == code }).bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let (request, response) = (try number(0x01), try number(0x02))
    for role in LinkRole.allCases {
      func fits(_ passkey: UInt32, _ random: UInt128, _ confirm: UInt128) -> Bool {
        let value = Toolbox.c1(
          k: UInt128(passkey), r: random, request: request, response: response, initiator: TwoPairings.centralAddress,
          responder: TwoPairings.peripheralAddress)
        return value == confirm
      }
      let confirm = try #require(numbers(air.trace, role, 0x03).first)
      #expect(fits(passkey, try #require(numbers(air.trace, role, 0x04).first), confirm))
      let zero = try #require(numbers(redacted(air.trace), role, 0x04).first)
      #expect(zero == 0)
      // One device is enough for all passkeys. The other has the same formula.
      let candidates = role == .central ? 0..<UInt32(1_000_000) : passkey..<passkey + 1
      #expect(candidates.first { fits($0, zero, confirm) } == nil)
    }
  }

  /// No PDU before the encryption contains a key of the bond.
  @Test func keysAreSentOnlyEncrypted() throws {
    for kind in PairingKind.all {
      let air = kind.pair()
      let result = try #require(air.result(.central)?.bond)
      let encrypted = try #require(air.trace.firstIndex { $0.bytes[0] >= 6 && $0.bytes[0] <= 9 })
      for key in result.keys.map(\.key) + air.linkKeys + [PairingParameters.identity(.central).irk] {
        let bytes = PairingPDU.confirm(key).bytes.dropFirst()
        for pdu in air.trace[..<encrypted] {
          #expect(!pdu.bytes.dropFirst().elementsEqual(bytes))
          #expect(!pdu.bytes.dropFirst().elementsEqual(bytes.reversed()))
        }
      }
    }
  }
}
