import BluetoothLESimulator
import Foundation
import TestSupport

/// Pairings of our two roles with Bumble: the method of Vol 3 Part H Table 2.8, and what both sides then know. One process of Bumble each.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BumblePairingTests {
  private static let isTimeReal: Bool = ProcessInfo.processInfo.environment["BLECTL_CLOCK"] == "real"

  /// A pairing of our device with Bumble's. The numbers of IO capabilities are those of the specification.
  private struct Case: CustomStringConvertible {
    let initiator: Int
    let responder: Int
    let isSecure: Bool
    let initiatorMITM: Bool
    let responderMITM: Bool

    var description: String {
      "\(initiator) with \(responder), \(isSecure ? "secure" : "legacy"), MITM \(initiatorMITM) \(responderMITM)"
    }

    var method: PairingMethod {
      AssociationTable.method(initiator: initiator, responder: responder, mitm: initiatorMITM || responderMITM, isSecure: isSecure)
    }

    /// Whether no pairing of the two devices can be authenticated.
    var isUnauthenticated: Bool {
      AssociationTable.method(initiator: initiator, responder: responder, mitm: true, isSecure: isSecure) == .justWorks
    }

    /// What Bumble asks or shows in this role.
    func question(_ role: LinkRole, _ number: String?) -> String? {
      switch method {
      case .justWorks: nil
      case .numericComparison: "compared \(number ?? "")"
      case .passkeyEntry(let displayer): (displayer == role ? "displayed " : "entered ") + "246810"
      }
    }

    /// One of the devices supports only LE legacy pairing, in turn.
    private var isOursLegacy: Bool { !isSecure && (initiator + responder).isMultiple(of: 2) }

    func parameters(_ role: LinkRole, _ level: SecurityLevel = .encrypted) -> PairingParameters {
      let isCentral = role == .central
      var parameters = PairingParameters(
        ioCapability: IOCapability(rawValue: UInt8(isCentral ? initiator : responder)) ?? .noInputNoOutput,
        requestsMITM: isCentral ? initiatorMITM : responderMITM)
      parameters.level = level
      parameters.secureConnections = isOursLegacy ? .never : .preferred
      parameters.passkey = SixDigits(246_810)
      return parameters
    }

    /// The features of Bumble in this role, as bumble_air.py takes them.
    func kind(_ role: LinkRole) -> String {
      let (ability, mitm) = role == .central ? (initiator, initiatorMITM) : (responder, responderMITM)
      return "\(ability)/\(isSecure || isOursLegacy ? 1 : 0)/\(mitm ? 1 : 0)"
    }

    /// All capabilities with MITM, then the other flags for three pairs of capabilities.
    static let all = [true, false].flatMap { isSecure in
      (0..<25).map { Case(initiator: $0 % 5, responder: $0 / 5, isSecure: isSecure, initiatorMITM: true, responderMITM: true) }
        + [(4, 4), (1, 4), (2, 0)].flatMap { initiator, responder in
          [(false, false), (true, false), (false, true)].map {
            Case(initiator: initiator, responder: responder, isSecure: isSecure, initiatorMITM: $0, responderMITM: $1)
          }
        }
    }
  }

  /// Our user, who knows the passkey and agrees with each number.
  private final class Person: PairingUser {
    var shown: String?
    func passkey() async -> SixDigits? { SixDigits(246_810) }
    func show(_ passkey: SixDigits) { shown = "\(passkey)" }
    func isSame(_ number: SixDigits) async -> Bool {
      shown = "\(number)"
      return true
    }
  }

  /// Checks what Bumble, in a role, knows of the pairing.
  private static func check(_ bumble: Record?, _ role: LinkRole, _ row: Case, number: String?) {
    #expect(bumble?.bool("authenticated") == (row.method != .justWorks), "\(row)")
    #expect(bumble?.bool("secure_connections") == row.isSecure, "\(row)")
    #expect(bumble?.string("question") == row.question(role, number), "\(row)")
  }

  private static func security(_ row: Case) -> LinkSecurity {
    LinkSecurity(keySize: 16, isAuthenticated: row.method != .justWorks, isSecureConnections: row.isSecure)
  }

  // MARK: We initiate

  private struct Outcome: Sendable {
    /// The failure of a pairing that must be authenticated. Nil if none was tried.
    var failure: PairingFailure?
    let result: PairingResult
    let shown: String?
  }

  @Test(.enabled(if: isTimeReal, "in this process time must be real: BLECTL_CLOCK=real")) func weInitiate() async throws {
    let air = try BumbleAir()
    let peer = PeerAddress(try #require(Address(BumbleAir.peer)), .random)
    let central = try await onLoop {
      let transport = try await StreamTransport.connect(to: try TransportAddress(air.adapter), timeout: .seconds(HangGuard.seconds))
      let central = HostCentral(transport, name: air.adapter)
      try await central.start()
      return central
    }
    /// Pairs on a link of its own: Bumble ends the session of a pairing with the link.
    @LoopActor func pair(_ parameters: PairingParameters) async throws -> (PairingResult, shown: String?) {
      let link = try #require(try await central.connect(peer, timeout: .seconds(HangGuard.seconds)) as? HostLink)
      let (manager, person) = (link.securityManager, Person())
      do {
        let result = try await manager.pair(parameters, user: person)
        #expect(manager.security == result.security)
        await link.disconnect()
        return (result, person.shown)
      } catch {
        #expect(manager.security == nil && manager.bond == nil)
        await link.disconnect()
        throw error
      }
    }
    for row in Case.all {
      air.say("pairing:\(row.kind(.peripheral))")
      try #require(air.event("pairing") != nil)
      let outcome = try await onLoop {
        var failure: PairingFailure?
        if row.isUnauthenticated {
          do { _ = try await pair(row.parameters(.central, .authenticated)) } catch { failure = error as? PairingFailure }
        }
        let (result, shown) = try await pair(row.parameters(.central))
        return Outcome(failure: failure, result: result, shown: shown)
      }
      if row.isUnauthenticated {
        #expect(outcome.failure == .notAuthenticated, "\(row)")
        #expect(air.event("failed")?.int("reason") == 0x03, "\(row)")
      }
      #expect(outcome.result.method == row.method && outcome.result.security == Self.security(row), "\(row)")
      #expect(outcome.result.bond != nil, "\(row)")
      Self.check(air.event("paired"), .peripheral, row, number: outcome.shown)
    }
    await central.close()
  }

  // MARK: We respond

  /// A device without attributes, which accepts pairings with given parameters, one after the other.
  @LoopActor private final class Responder: Advertiser {
    let address: PeerAddress
    var advertising = AdvertisingSettings()
    var linkLimits = LinkLimits()
    /// The parameters of the next pairings.
    var next: [PairingParameters] = []
    var person = Person()
    /// The results of the pairings. Nil for a failure.
    private(set) var results: [PairingResult?] = []

    init(_ address: PeerAddress) {
      self.address = address
      advertising.interval = .milliseconds(20)
      // Bumble answers in the same connection event.
      linkLimits.pollingTime = 7000
    }

    func begin(_ row: Case) {
      next = (row.isUnauthenticated ? [row.parameters(.peripheral, .authenticated)] : []) + [row.parameters(.peripheral)]
      (results, person) = ([], Person())
    }

    func connected(_ channel: any Channel) {
      guard let manager = (channel as? any DeviceChannel)?.manager else { return }
      manager.user = person
      if let parameters = next.first { manager.acceptance = .accept(parameters) }
      var result: PairingResult?
      manager.onEncrypted = { result = $1 }
      manager.onEnd = { [weak self, weak manager] in
        guard let self, let manager else { return }
        results.append(result)
        #expect((manager.security == nil) == (result == nil) && manager.bond == result?.bond)
        next = Array(next.dropFirst())
        if let parameters = next.first { manager.acceptance = .accept(parameters) }
      }
    }
  }

  @Test(.enabled(if: isTimeReal, "in this process time must be real: BLECTL_CLOCK=real")) func weRespond() async throws {
    let address = PeerAddress(try #require(Address("D1:00:00:00:02:03")), .random)
    let (responder, listener, pool, transport) = try await onLoop {
      let responder = Responder(address)
      let air = Air(seed: 3)
      air.add(responder)
      let pool = ControllerPool(air: air)
      let listener = try await Listener.open(try TransportAddress(listening: "tcp:127.0.0.1:0"))
      listener.handler = { if case .connected(let stream) = $0 { pool.attach(stream) } }
      return (responder, listener, pool, "tcp-client:\(listener.address.description.dropFirst(4))")
    }
    let bumble = try BumbleClient(transport)
    for row in Case.all {
      try await onLoop { responder.begin(row) }
      let isTwice = row.isUnauthenticated
      var pairings = try bumble.ask("pair \(address.address) \(isTwice ? 2 : 1) \(row.kind(.central))").records("pairings")
      let (results, shown) = try await onLoop { (responder.results, responder.person.shown) }
      if isTwice { #expect(!pairings.isEmpty && pairings.removeFirst().int("reason") == 0x03, "\(row)") }
      #expect(results.count == (isTwice ? 2 : 1) && (!isTwice || results.first == .some(nil)), "\(row)")
      let result = try #require(results.last ?? nil, "\(row)")
      #expect(result.method == row.method && result.security == Self.security(row) && result.bond != nil, "\(row)")
      Self.check(pairings.first, .central, row, number: shown)
    }
    bumble.end()
    try await onLoop {
      listener.close()
      pool.close()
    }
  }
}
