import ATT
import Bluetooth
import EventLoop
import GAP
import SMP
import TestSupport
import Testing

@testable import Operations

/// What a link does about its security, without an SMP of its own.
@Suite(.timeLimit(.minutes(15))) struct ConnectionSecurityTests {
  private static let peer = PeerAddress(Address(rawValue: 0xD100_0000_0050), .random)
  private static let other = PeerAddress(Address(rawValue: 0xD100_0000_0051), .random)
  private static let adapter = PeerAddress(Address(rawValue: 1), .public)
  private static let strong = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)

  private static func bond(_ identity: PeerAddress = peer) -> Bond {
    Bond(identity: identity, irk: nil, keys: [LongTermKey(key: 1, security: strong)], method: .justWorks)
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { nil }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { false }
  }

  @LoopActor private final class Keeper: BondKeeper {
    var stored: [StoredBond] = []
    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) { stored = stored.filter { old in !bonds.contains { $0.replaces(old) } } + bonds }
  }

  @LoopActor private final class Procedures: SecurityProcedures {
    var security: LinkSecurity?
    var bond: Bond?
    var onRequest: (@LoopActor (AuthenticationRequirements) -> Void)?
    var (pairings, declines) = (0, 0)
    var outcome: Result<Bond?, PairingFailure> = .success(nil)
    var encryption: PairingFailure?

    func pair(_ parameters: PairingParameters, user: any PairingUser) async throws -> PairingResult {
      pairings += 1
      try await EventLoop.shared.sleep(for: .seconds(3))
      let bond = try outcome.get()
      security = ConnectionSecurityTests.strong
      return PairingResult(method: .justWorks, security: ConnectionSecurityTests.strong, bond: bond)
    }

    func encrypt(with bond: Bond) async throws {
      if let encryption { throw encryption }
      security = bond.security
    }

    func decline() { declines += 1 }
  }

  private static let wish = PairingWish(PairingParameters(ioCapability: .noInputNoOutput, requestsMITM: false), user: Person())

  @LoopActor private static func begun(
    _ procedures: Procedures, _ keeper: Keeper = Keeper(), _ wish: PairingWish? = nil
  ) async throws -> ConnectionSecurity {
    let security = ConnectionSecurity(procedures, peer, name: nil, adapter: adapter, keeper, wish)
    try await security.begin()
    return security
  }

  /// A command that the device refuses meanwhile waits for the pairing that the device asked for.
  @Test func oneRequestAndOneRefusal() async throws {
    try await onLoop {
      let procedures = Procedures()
      let security = try await Self.begun(procedures, Keeper(), Self.wish)
      procedures.onRequest?([.bonding])
      #expect(try await security.raise(for: .insufficientEncryption))
      #expect(procedures.pairings == 1 && procedures.declines == 0)
    }
  }

  /// Each attempt with a passkey reveals a part of it.
  @Test func noSecondAttemptUnasked() async throws {
    try await onLoop {
      let procedures = Procedures()
      procedures.outcome = .failure(.confirmMismatch)
      let security = try await Self.begun(procedures, Keeper(), Self.wish)
      procedures.onRequest?([.bonding])
      #expect(try await security.raise(for: .insufficientEncryption) == false)
      procedures.onRequest?([.bonding])
      security.take(Self.wish)
      #expect(try await security.raise(for: .insufficientEncryption) == false)
      #expect(procedures.pairings == 1 && procedures.declines == 1 && security.wish == nil)
    }
  }

  /// The Pairing Request of `pair` is the answer to a Security Request.
  @Test func aCommandThatPairs() async throws {
    try await onLoop {
      let procedures = Procedures()
      let wish = PairingWish(Self.wish.parameters, user: Self.wish.user, isOfCommand: true)
      let security = try await Self.begun(procedures, Keeper(), wish)
      procedures.onRequest?([.bonding])
      _ = try await security.pair(wish)
      #expect(procedures.pairings == 1 && procedures.declines == 0 && !security.askedInVain)
    }
  }

  /// A device takes over the bond of no other device.
  @Test func aClaimedIdentity() async throws {
    try await onLoop {
      let (procedures, keeper) = (Procedures(), Keeper())
      keeper.stored = [StoredBond(Self.bond(Self.other), of: Self.adapter, created: 0, name: "Other")]
      procedures.outcome = .success(Self.bond(Self.other))
      let security = try await Self.begun(procedures, keeper)
      await #expect(throws: PairingFailure.identityTaken(Self.other)) { try await security.pair(Self.wish) }
      #expect(keeper.stored.map(\.name) == ["Other"] && procedures.bond == nil)
    }
  }

  @Test func aBondThatTheUserRemoved() async throws {
    try await onLoop {
      let (procedures, keeper) = (Procedures(), Keeper())
      let stored = StoredBond(Self.bond(), of: Self.adapter, created: 0, name: nil)
      keeper.stored = [stored]
      let security = try await Self.begun(procedures, keeper)
      procedures.bond = Self.bond()
      #expect(try security.bond() == stored)
      keeper.stored = []
      #expect(try security.bond() == nil && procedures.bond == nil)
    }
  }

  /// Only some reasons tell that the device lost its bond. After others, a caller may connect again.
  @Test(arguments: [
    (ControllerErrorCode.pinOrKeyMissing, true), (.micFailure, true), (.remoteUserTerminated, false), (.connectionTimeout, false),
  ])
  func aLinkThatEndsBeforeItsEncryption(_ code: ControllerErrorCode, _ isLost: Bool) async throws {
    try await onLoop {
      let (procedures, keeper) = (Procedures(), Keeper())
      keeper.stored = [StoredBond(Self.bond(), of: Self.adapter, created: 0, name: nil)]
      procedures.encryption = .disconnected(code)
      do {
        _ = try await Self.begun(procedures, keeper)
        Issue.record("no error")
      } catch {
        #expect(isLost ? error as? PairingFailure == .bondRejected(code) : error as? Disconnection == Disconnection(Self.peer, .lost(code)))
      }
    }
  }
}
