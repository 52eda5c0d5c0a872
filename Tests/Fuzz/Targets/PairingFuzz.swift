import TestSupport

extension FuzzTarget {
  /// PDUs, answers of users and events of the controller in any order, for a central that pairs.
  static let initiator = FuzzTarget("initiator", seeds: PairingCheck.seeds(.central)) { bytes in PairingCheck.run(.central, bytes) }
  /// The same for a peripheral.
  static let responder = FuzzTarget("responder", seeds: PairingCheck.seeds(.peripheral)) { bytes in PairingCheck.run(.peripheral, bytes) }
}

/// Checks a pairing: no bond without encryption, one end for each pairing, and no PDU above the MTU of the channel.
private struct PairingCheck {
  private var pairing: Pairing
  private var wasEncrypted = false
  private let bond: Bond?
  /// An honest device on the other side, and what it sent.
  private var partner: Pairing
  private var inbox: [[UInt8]] = []

  private static let own = PeerAddress(Address(rawValue: 0x00_1B_DC_00_00_01), .public)
  private static let peer = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_50), .random)

  /// A whole pairing with the partner in each of some parameters, and PDUs that an attacker could send.
  static func seeds(_ role: LinkRole) -> [[UInt8]] {
    let whole = [1, 4, 1, 1, 5] + [UInt8](repeating: 1, count: 90) + [3, 2] + [UInt8](repeating: 1, count: 8)
    let pdus: [[UInt8]] = [
      [role == .central ? 0x02 : 0x01, 3, 0, 0x09, 16, 3, 3], [0x03] + [UInt8](repeating: 1, count: 16),
      [0x04] + [UInt8](repeating: 2, count: 16), [0x0D] + [UInt8](repeating: 3, count: 16), [0x0B, 0x09], [0x05, 0x08], [0x0E, 1],
      [0x08] + [UInt8](repeating: 4, count: 16), [0x09, 0, 1, 2, 3, 4, 5, 6],
    ]
    return [0, 3, 0x20, 0x22, 0x24, 0x41, 0x84].map { [$0] + whole } + [
      [0] + pdus.flatMap { [0, UInt8($0.count)] + $0 } + [2, 3, 4, 5, 6]
    ]
  }

  @LoopActor static func run(_ role: LinkRole, _ bytes: [UInt8]) {
    var tape = Tape(bytes)
    var check = PairingCheck(role, &tape)
    for _ in 0..<256 where !tape.isAtEnd { check.step(&tape) }
    check.end()
  }

  private init(_ role: LinkRole, _ tape: inout Tape) {
    let how = tape.byte()
    let parameters = Self.parameters(how)
    bond =
      how & 0x80 == 0
      ? nil
      : Bond(
        identity: Self.peer, irk: nil,
        keys: [
          LongTermKey(
            key: 7, role: how & 0x40 == 0 ? nil : role,
            security: LinkSecurity(keySize: 7, isAuthenticated: false, isSecureConnections: false))
        ], method: .justWorks)
    pairing = Pairing(
      role: role, own: Self.own, peer: Self.peer, acceptance: .accept(parameters), bond: bond, random: RandomSource(SplitMix64(seed: 9)))
    var other = PairingParameters(ioCapability: .keyboardDisplay)
    other.identity = LocalIdentity(irk: 6, address: Self.peer)
    partner = Pairing(
      role: role.other, own: Self.peer, peer: Self.own, acceptance: .accept(other), random: RandomSource(SplitMix64(seed: 10)))
    if role == .peripheral, let actions = try? partner.start(other) { hear(actions) }
    start(parameters)
  }

  private static func parameters(_ how: UInt8) -> PairingParameters {
    var parameters = PairingParameters(ioCapability: IOCapability(rawValue: how % 5) ?? .noInputNoOutput, requestsMITM: how & 8 == 0)
    parameters.secureConnections = how & 0x20 == 0 ? .preferred : .never
    parameters.identity = how & 0x10 == 0 ? LocalIdentity(irk: 5, address: own) : nil
    parameters.keySizes = 7...16
    parameters.passkey = SixDigits(0x0101)
    return parameters
  }

  private mutating func start(_ parameters: PairingParameters) {
    guard let actions = try? pairing.start(parameters) else { return }
    take(actions)
  }

  private mutating func step(_ tape: inout Tape) {
    let choice = tape.byte()
    switch choice & 0x0F {
    case 1: if !inbox.isEmpty { take(pairing.receive(inbox.removeFirst())) }
    case 2:
      hear(partner.longTermKeyRequested(ediv: 0, rand: 0) + partner.encryptionChanged(.on))
      take(pairing.encryptionChanged(choice & 0x10 == 0 ? .on : choice & 0x20 == 0 ? .off : .failed(.connectionTimeout)))
    case 3: take(pairing.longTermKeyRequested(ediv: choice & 0x10 == 0 ? 0 : tape.number16(), rand: 0))
    case 4: if let passkey = SixDigits(UInt32(tape.number16())) { take(pairing.enter(passkey)) }
    case 5: take(pairing.answerComparison(choice & 0x10 == 0))
    case 6: take(choice & 0x10 == 0 ? pairing.declineRequest() : pairing.cancel())
    case 7: start(Self.parameters(tape.byte()))
    case 8: if let actions = try? pairing.encrypt() { take(actions) }
    case 9: if choice & 0xF0 == 0 { take(pairing.timedOut()) }
    case 10: pairing.acceptance = .accept(Self.parameters(tape.byte()))
    default: take(pairing.receive(tape.piece()))
    }
    expect((pairing.security?.keySize).map { (7...16).contains($0) } ?? true, "a key of \(String(describing: pairing.security)) octets")
  }

  private mutating func end() {
    take(pairing.disconnected(.connectionTimeout))
    expect(!pairing.isBusy && pairing.security == nil, "something goes on behind the end")
    expect(pairing.receive([0x01, 3, 0, 9, 16, 0, 0]).isEmpty, "the end is not the end")
    if !wasEncrypted { expect(pairing.bond == bond, "a bond without encryption") }
  }

  private mutating func take(_ actions: [Pairing.Action]) {
    var ends = 0
    for action in actions {
      switch action {
      case .send(let pdu):
        expect(pdu.count <= 65 && (try? PairingPDU(parsing: pdu)) != nil, "sends \(pdu)")
        hear(partner.receive(pdu))
      case .paired(let result):
        ends += 1
        expect(pairing.security == result.security, "paired, but not encrypted")
      case .failed: ends += 1
      case .startTimer, .stopTimer, .encrypt, .answerKeyRequest, .askPasskey, .displayPasskey, .compare, .securityRequested, .encrypted:
        break
      }
    }
    expect(ends <= 1, "two ends at once")
    if pairing.security != nil { wasEncrypted = true }
  }

  /// Takes what the partner does. Its user enters the same passkey and sees the same number.
  private mutating func hear(_ actions: [Pairing.Action]) {
    for action in actions {
      switch action {
      case .send(let pdu): if inbox.count < 256 { inbox.append(pdu) }
      case .askPasskey: if let passkey = SixDigits(0x0101) { hear(partner.enter(passkey)) }
      case .compare: hear(partner.answerComparison(true))
      default: break
      }
    }
  }
}
