import TestSupport

/// A whole pairing of two devices with known keys. Our state machine plays one of them.
struct SampleConversation: Sendable, CustomTestStringConvertible {
  let name: String
  let isSecureConnections: Bool
  let role: LinkRole
  let central: PeerAddress
  let peripheral: PeerAddress
  /// The passkey, or the number to compare. Nil for Just Works.
  let digits: UInt32?
  let isAuthenticated: Bool
  /// Our private key, 32 bytes, least significant first as in PDUs.
  let privateKey: [UInt8]
  /// The key with which the link is encrypted.
  let key: UInt128
  /// The PDUs in their order. Nil stands for the start of encryption.
  let pdus: [(from: LinkRole, bytes: [UInt8])?]

  init(
    _ name: String, isSecureConnections: Bool, role: LinkRole, central: (String, Bool), peripheral: (String, Bool), digits: UInt32?,
    isAuthenticated: Bool, privateKey: String, key: String, pdus: String
  ) {
    func address(_ one: (String, Bool)) -> PeerAddress { PeerAddress(Address(one.0) ?? Address(rawValue: 0), one.1 ? .random : .public) }
    (self.name, self.isSecureConnections, self.role, self.digits, self.isAuthenticated) =
      (name, isSecureConnections, role, digits, isAuthenticated)
    (self.central, self.peripheral) = (address(central), address(peripheral))
    self.privateKey = Hex.decode(privateKey) ?? []
    self.key = (Hex.decode(key) ?? []).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    self.pdus = pdus.split(separator: "\n").map { line in
      line == "key" ? nil : (line.hasPrefix("i") ? .central : .peripheral, Hex.decode(String(line.dropFirst(2))) ?? [])
    }
  }

  var testDescription: String { "\(isSecureConnections ? "sc" : "legacy") \(role) \(name)" }

  /// All PDUs of one device with this code.
  func pdus(from side: LinkRole, code: UInt8) -> [[UInt8]] {
    pdus.compactMap { $0 }.filter { $0.from == side && $0.bytes.first == code }.map(\.bytes)
  }
}

/// A generator that gives known bytes, then zeros.
struct ScriptedRandom: RandomNumberGenerator {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  mutating func next() -> UInt64 {
    defer { bytes = bytes.dropFirst(8) }
    return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

@Suite(.timeLimit(.minutes(15))) struct SampleConversationTests {
  /// Our device sends what the sample has, byte for byte, and derives its key.
  @Test(arguments: SampleConversation.all) func sendsTheSamePDUs(_ sample: SampleConversation) throws {
    let ours = try PairingPDU(parsing: try #require(sample.pdus(from: sample.role, code: sample.role == .central ? 1 : 2).first))
    let features: PairingFeatures
    switch ours {
    case .pairingRequest(let found), .pairingResponse(let found): features = found
    default: throw Unexpected()
    }
    var parameters = PairingParameters(ioCapability: features.ioCapability, requestsMITM: features.authentication.contains(.mitm))
    parameters.secureConnections = features.authentication.contains(.secureConnections) ? .preferred : .never
    parameters.passkey = sample.digits.flatMap(SixDigits.init)
    (parameters.ownKeys, parameters.peerKeys) =
      sample.role == .central ? (features.initiatorKeys, features.responderKeys) : (features.responderKeys, features.initiatorKeys)
    parameters.identity = try identity(sample)

    let nonces = sample.pdus(from: sample.role, code: 4).flatMap { $0.dropFirst() }
    // A central has a key pair before it knows that the peer supports only legacy pairing.
    let scalar: [UInt8] = sample.isSecureConnections ? sample.privateKey.reversed() : [UInt8](repeating: 1, count: 32)
    let hasPair = sample.isSecureConnections || sample.role == .central && parameters.secureConnections == .preferred
    let random = RandomSource(ScriptedRandom((hasPair ? scalar : []) + nonces))
    let isCentral = sample.role == .central
    var pairing = Pairing(
      role: sample.role, own: isCentral ? sample.central : sample.peripheral, peer: isCentral ? sample.peripheral : sample.central,
      acceptance: .accept(parameters), random: random)

    var actions: [Pairing.Action] = isCentral ? try pairing.start(parameters) : []
    var digits: Set<SixDigits> = []
    func sent() throws -> [UInt8]? {
      while let action = actions.first {
        actions.removeFirst()
        switch action {
        case .send(let bytes): return bytes
        case .askPasskey:
          digits.insert(try #require(parameters.passkey))
          actions = pairing.enter(try #require(parameters.passkey)) + actions
        case .displayPasskey(let number): digits.insert(number)
        case .compare(let number):
          digits.insert(number)
          actions += pairing.answerComparison(true)
        case .startTimer, .stopTimer: break
        default:
          actions.insert(action, at: 0)
          return nil
        }
      }
      return nil
    }
    for (index, pdu) in sample.pdus.enumerated() {
      if let pdu, pdu.from == sample.role {
        #expect(Hex.encode(try sent() ?? []) == Hex.encode(pdu.bytes), "PDU \(index)")
      } else if let pdu {
        #expect(try sent() == nil)
        actions += pairing.receive(pdu.bytes)
      } else {
        #expect(try sent() == nil)
        if isCentral {
          #expect(actions == [.encrypt(key: sample.key, ediv: 0, rand: 0)])
        } else {
          #expect(actions.isEmpty)
          #expect(pairing.longTermKeyRequested(ediv: 0, rand: 0) == [.answerKeyRequest(sample.key)])
        }
        actions = sample.isSecureConnections ? pairing.encryptionChanged(.on) : []
      }
    }
    #expect(digits == Set(parameters.passkey.map { [$0] } ?? []))
    // The samples of legacy pairing end here: their keys are any numbers.
    guard sample.isSecureConnections else { return }
    #expect(try sent() == nil)
    guard case .paired(let result) = actions.first else { throw Unexpected() }
    #expect(result.security == LinkSecurity(keySize: 16, isAuthenticated: sample.isAuthenticated, isSecureConnections: true))
    let bond = try #require(result.bond)
    #expect(bond.keys == [LongTermKey(key: sample.key, security: result.security)])
    let peerIdentity = sample.pdus(from: sample.role.other, code: 9).first
    #expect(bond.identity == (isCentral ? sample.peripheral : sample.central))
    #expect((bond.irk != nil) == (peerIdentity != nil))
    #expect(bond.method.isAuthenticated == sample.isAuthenticated)
  }

  private struct Unexpected: Error {}

  private func identity(_ sample: SampleConversation) throws -> LocalIdentity? {
    guard let irk = sample.pdus(from: sample.role, code: 8).first, let address = sample.pdus(from: sample.role, code: 9).first else {
      // Legacy pairing: the request announces an identity, but the samples end before it.
      return sample.isSecureConnections ? nil : LocalIdentity(irk: 1, address: sample.central)
    }
    guard case .identityInformation(let irk) = try PairingPDU(parsing: irk),
      case .identityAddress(let address) = try PairingPDU(parsing: address)
    else { throw Unexpected() }
    return LocalIdentity(irk: irk, address: address)
  }
}
