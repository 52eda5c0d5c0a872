import TestSupport

/// Two of our state machines that talk to each other over a link without Bluetooth. Users type what the other device displays.
final class TwoPairings {
  enum Fault: CaseIterable, Sendable {
    case drop, cut, double, disconnect
  }

  enum Outcome: Equatable {
    case paired(PairingResult)
    case failed(PairingFailure)
    case encrypted(LinkSecurity)
  }

  static let centralAddress = PeerAddress(Address(rawValue: 0x00_1B_DC_00_00_01), .public)
  static let peripheralAddress = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_50), .random)

  private(set) var pairings: [LinkRole: Pairing]
  private(set) var outcomes: [LinkRole: [Outcome]] = [.central: [], .peripheral: []]
  /// All PDUs that were sent, before the fault.
  private(set) var trace: [(from: LinkRole, bytes: [UInt8])] = []
  private(set) var displayed: [LinkRole: SixDigits] = [:]
  private(set) var compared: [LinkRole: SixDigits] = [:]
  private(set) var requests: [AuthenticationRequirements] = []
  /// The keys with which the link was encrypted.
  private(set) var linkKeys: [UInt128] = []

  /// What a user types instead of the displayed passkey.
  var typed: [LinkRole: SixDigits] = [:]
  /// The users who see different numbers.
  var refusers: Set<LinkRole> = []
  /// The users who answer no question.
  var absentUsers: Set<LinkRole> = []
  /// The fault, and the number of the PDU that it hits.
  var fault: (Fault, at: Int)?
  /// Changes each PDU on its way. Nil drops it.
  var change: ((LinkRole, [UInt8]) -> [UInt8]?)?

  /// Called before a device gets a PDU.
  var onDelivery: ((LinkRole, [UInt8]) -> Void)?

  private var waiting: [(to: LinkRole, bytes: [UInt8])] = []
  private var askers: Set<LinkRole> = []
  private var timers: Set<LinkRole> = []
  private var isConnected = true

  init(
    central: Pairing? = nil, peripheral: PairingParameters? = nil, centralBond: Bond? = nil, peripheralBond: Bond? = nil, seed: UInt64 = 1
  ) {
    pairings = [
      .central: central
        ?? Pairing(
          role: .central, own: Self.centralAddress, peer: Self.peripheralAddress, bond: centralBond,
          random: RandomSource(SplitMix64(seed: seed))),
      .peripheral: Pairing(
        role: .peripheral, own: Self.peripheralAddress, peer: Self.centralAddress,
        acceptance: peripheral.map { .accept($0) } ?? .refuse(.pairingNotSupported), bond: peripheralBond,
        random: RandomSource(SplitMix64(seed: seed &+ 1000))),
    ]
  }

  subscript(role: LinkRole) -> Pairing {
    get { pairings[role] ?? Pairing(role: role, own: Self.centralAddress, peer: Self.peripheralAddress) }
    set { pairings[role] = newValue }
  }

  func result(_ role: LinkRole) -> PairingResult? {
    if case .paired(let result)? = outcomes[role]?.last { result } else { nil }
  }

  func failure(_ role: LinkRole) -> PairingFailure? {
    if case .failed(let failure)? = outcomes[role]?.last { failure } else { nil }
  }

  /// Starts a pairing and carries it to its end.
  /// - Parameter whenSilent: Called after all PDUs that need no user arrived.
  func pair(_ parameters: PairingParameters, by role: LinkRole = .central, whenSilent: (() -> Void)? = nil) {
    do throws(PairingFailure) { take(try self[role].start(parameters), role) } catch { outcomes[role]?.append(.failed(error)) }
    while !waiting.isEmpty { deliverNext() }
    whenSilent?()
    run()
  }

  /// Encrypts the link with the key of the bond.
  func encrypt() {
    do throws(PairingFailure) { take(try self[.central].encrypt(), .central) } catch { outcomes[.central]?.append(.failed(error)) }
    run()
  }

  func disconnect() {
    guard isConnected else { return }
    isConnected = false
    waiting = []
    for role in LinkRole.allCases { take(self[role].disconnected(.connectionTimeout), role) }
  }

  /// Delivers all PDUs and answers all questions. After that, lets the timers run out.
  func run() {
    repeat {
      while !waiting.isEmpty { deliverNext() }
    } while answer() || timeOut()
  }

  func take(_ actions: [Pairing.Action], _ role: LinkRole) {
    for action in actions {
      switch action {
      case .send(let bytes): send(bytes, from: role)
      case .startTimer: timers.insert(role)
      case .stopTimer: timers.remove(role)
      case .encrypt(let key, let ediv, let rand): encrypt(key, ediv, rand)
      // `encrypt` takes it.
      case .answerKeyRequest: break
      case .askPasskey: askers.insert(role)
      case .displayPasskey(let passkey): displayed[role] = passkey
      case .compare(let number): compared[role] = number
      case .securityRequested(let requirements): requests.append(requirements)
      case .encrypted(let security): outcomes[role]?.append(.encrypted(security))
      case .paired(let result): outcomes[role]?.append(.paired(result))
      case .failed(let failure): outcomes[role]?.append(.failed(failure))
      }
    }
  }

  // MARK: The link

  private func send(_ bytes: [UInt8], from role: LinkRole) {
    guard isConnected else { return }
    trace.append((role, bytes))
    guard let arriving = change.map({ $0(role, bytes) }) ?? bytes else { return }
    let copies: [[UInt8]]
    switch fault {
    case (.drop, trace.count)?: copies = []
    case (.cut, trace.count)?: copies = [Array(arriving.dropLast())]
    case (.double, trace.count)?: copies = [arriving, arriving]
    case (.disconnect, trace.count)?: return disconnect()
    default: copies = [arriving]
    }
    waiting += copies.map { (role.other, $0) }
  }

  func deliverNext() {
    guard !waiting.isEmpty else { return }
    let next = waiting.removeFirst()
    onDelivery?(next.to, next.bytes)
    take(self[next.to].receive(next.bytes), next.to)
  }

  /// The controllers encrypt the link.
  private func encrypt(_ key: UInt128, _ ediv: UInt16, _ rand: UInt64) {
    // PDUs that were sent before arrive before.
    while !waiting.isEmpty { deliverNext() }
    guard isConnected else { return }
    let actions = self[.peripheral].longTermKeyRequested(ediv: ediv, rand: rand)
    take(actions, .peripheral)
    switch actions.first {
    case .answerKeyRequest(key)?:
      linkKeys.append(key)
      take(self[.peripheral].encryptionChanged(.on), .peripheral)
      take(self[.central].encryptionChanged(.on), .central)
    case .answerKeyRequest(nil)?: take(self[.central].encryptionChanged(.failed(ControllerErrorCode(rawValue: 0x06))), .central)
    default:
      // Different keys: the first encrypted packet ends the link.
      isConnected = false
      for role in LinkRole.allCases { take(self[role].disconnected(.micFailure), role) }
    }
  }

  // MARK: Users and time

  /// Answers the open questions. - Returns: Whether there was one.
  private func answer() -> Bool {
    let (asked, numbers) = (askers.subtracting(absentUsers), compared.filter { !absentUsers.contains($0.key) })
    (askers, compared) = (askers.intersection(absentUsers), compared.filter { absentUsers.contains($0.key) })
    for role in LinkRole.allCases {
      if asked.contains(role), let passkey = typed[role] ?? displayed[role.other] ?? SixDigits(123_456) {
        take(self[role].enter(passkey), role)
      }
      if let number = numbers[role] {
        numbersShown[role] = number
        take(self[role].answerComparison(!refusers.contains(role)), role)
      }
    }
    return !asked.isEmpty || !numbers.isEmpty
  }

  /// The numbers that the users compared.
  private(set) var numbersShown: [LinkRole: SixDigits] = [:]

  /// Ends the running timers. - Returns: Whether there was one.
  private func timeOut() -> Bool {
    let ended = timers
    timers = []
    for role in LinkRole.allCases where ended.contains(role) { take(self[role].timedOut(), role) }
    return !ended.isEmpty
  }
}

extension PairingParameters {
  /// The identity that a test device distributes.
  static func identity(_ role: LinkRole) -> LocalIdentity {
    role == .central
      ? LocalIdentity(irk: 0xC0C1_C2C3, address: PeerAddress(Address(rawValue: 0x00_1B_DC_00_00_99), .public))
      : LocalIdentity(irk: 0xD0D1_D2D3, address: PeerAddress(Address(rawValue: 0xD1_00_00_00_00_99), .random))
  }

  /// The parameters of a test device with an identity.
  static func device(
    _ role: LinkRole, _ ioCapability: IOCapability = .noInputNoOutput, mitm: Bool = false,
    _ secureConnections: SecureConnectionsUse = .preferred
  ) -> PairingParameters {
    var parameters = PairingParameters(ioCapability: ioCapability, requestsMITM: mitm)
    parameters.secureConnections = secureConnections
    parameters.identity = identity(role)
    return parameters
  }
}
