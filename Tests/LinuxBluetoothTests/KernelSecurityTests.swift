import SystemPackage
import TestSupport

@testable import BluetoothLELinux

private let device = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
private let other = PeerAddress(Address(rawValue: 0x0011_2233_4455), .public)
private let changing = PeerAddress(Address(rawValue: 0x7FFF_FFFF_FFFF), .random)
private let secure = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
private let plain = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
private let notKept = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: false)

private func bond(_ identity: PeerAddress, _ security: LinkSecurity = secure, irk: UInt128? = nil) -> Bond {
  let method: PairingMethod = security.isAuthenticated ? .passkeyEntry(displayedBy: .peripheral) : .justWorks
  return Bond(identity: identity, irk: irk, keys: [LongTermKey(key: 7, security: security)], method: method)
}

@Suite(.timeLimit(.minutes(15))) struct KernelSecurityTests {
  /// Runs `body` with virtual time.
  private func with(_ bonds: [Bond] = [], peer: PeerAddress = device, _ body: @escaping @LoopActor (KernelRig) async throws -> Void)
    async throws
  {
    try await onLoop {
      let rig = KernelRig(bonds, peer: peer)
      try await rig.serving { try await body(rig) }
    }
  }

  static let keyboard = PairingParameters(ioCapability: .keyboardOnly, requestsMITM: true)

  // MARK: Encryption

  /// The kernel gets all bonds at once, except one whose address changes, before the security is raised.
  @Test func encryption() async throws {
    let own = bond(device)
    try await with([own, bond(other, plain, irk: 9), bond(changing)]) { rig in
      rig.socket.raised = .success(secure)
      try await rig.security.encrypt(with: own)
      #expect(rig.opcodes == [0x0030, 0x0013])
      #expect(rig.commands.map { $0.1[0] } == [1, 2])
      #expect(rig.socket.levels == [.secureConnections])
      #expect(rig.security.security == secure)
      // The link is already encrypted.
      try await rig.security.encrypt(with: own)
      #expect(rig.opcodes.count == 2 && rig.socket.levels.count == 1)
    }
  }

  @Test func encryptionFailures() async throws {
    let own = bond(device)
    let cases: [(Result<LinkSecurity, any Error>?, any Error, Bool)] = [
      (.failure(Errno.invalidArgument), KernelPairingProblem.noSecurityManager("hci3"), false),
      (.failure(SocketEnd(device, .errno(.permissionDenied))), PairingFailure.bondRejected(.authenticationFailure), true),
      (nil, PairingFailure.silent(.seconds(10)), true),
    ]
    for (raised, error, isAbandoned) in cases {
      try await with([own]) { rig in
        rig.socket.raised = raised
        let thrown = await #expect(throws: (any Error).self) { try await rig.security.encrypt(with: own) }
        #expect(thrown.map { "\($0)" } == "\(error)")
        #expect(rig.socket.isAbandoned == isAbandoned)
      }
    }
  }

  /// Nothing is sent next to bluetoothd, and a missing capability is named.
  @Test func refusals() async throws {
    let own = bond(device)
    try await with([own]) { rig in
      rig.keyring.hasDaemon = { true }
      await #expect(throws: KernelPairingProblem.bluetoothdRuns(device)) { try await rig.security.encrypt(with: own) }
      #expect(rig.commands.isEmpty && rig.socket.levels.isEmpty)
      rig.keyring.hasDaemon = { false }
      rig.statuses[0x0030] = 0x14
      await #expect(throws: KernelPairingProblem.notPermitted("hci3")) { try await rig.security.encrypt(with: own) }
      rig.statuses[0x0030] = 0x0D
      await #expect(throws: KernelPairingProblem.refused("hci3", command: 0x0030, status: 0x0D)) {
        try await rig.security.encrypt(with: own)
      }
    }
    // The kernel has no key of this device, so that it would pair.
    try await with([]) { rig in
      await #expect(throws: PairingFailure.noBond) { try await rig.security.encrypt(with: own) }
      #expect(rig.socket.levels.isEmpty)
    }
  }

  /// The kernel finds a device with a changing address by its identity.
  @Test func destination() async throws {
    // The hash of the address under this key: see the sample data of ah.
    let irk: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B
    let resolvable = PeerAddress(Address(rawValue: 0x7081_940D_FBAA), .random)
    try await with([bond(device, irk: irk)]) { rig in
      let destinations = [try await rig.keyring.destination(of: resolvable), try await rig.keyring.destination(of: changing)]
      #expect(destinations == [device, changing])
      #expect(rig.opcodes == [0x0030, 0x0013])
      // The kernel answers a Security Request itself, so it needs the keys before the link, also of an address that never changes.
      #expect(try await rig.keyring.destination(of: device) == device)
      #expect(rig.opcodes == [0x0030, 0x0013, 0x0030, 0x0013])
      // The bond is named as `unpair` finds it.
      rig.keyring.hasDaemon = { true }
      await #expect(throws: KernelPairingProblem.bluetoothdRuns(device)) { try await rig.keyring.destination(of: resolvable) }
    }
  }

  // MARK: Pairing

  /// A passkey, with the settings before and after it.
  @Test func passkey() async throws {
    try await with([bond(other, plain)]) { rig in
      rig.reactions[0x19] = { $0.event(0x10) }
      rig.reactions[0x1E] = { rig in
        rig.complete(0x1E)
        rig.socket.security = secure
        rig.key(3)
        rig.event(1, [0x19, 0, 0] + device.address.littleEndianBytes + [2])
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(result == PairingResult(method: .passkeyEntry(displayedBy: .peripheral), security: secure, bond: bond(device)))
      #expect(rig.security.security == secure && rig.security.bond == bond(device))
      #expect(rig.opcodes == [0x04, 0x09, 0x2D, 0x30, 0x13, 0x19, 0x1E, 0x2D, 0x09])
      #expect(rig.commands.map(\.1)[1...2] == [[1], [1]] && rig.commands.map(\.1).suffix(2) == [[0], [0]])
    }
  }

  /// A short limit ends the waits for the device, and leaves a person the time to answer.
  @Test func shortLimits() async throws {
    try await with([bond(device)]) { rig in
      rig.security.limit = .seconds(3)
      rig.reactions[0x19] = { _ in }
      var begin = EventLoop.shared.now
      await #expect(throws: PairingFailure.silent(.seconds(3))) { _ = try await rig.security.pair(PairingParameters(), user: rig.user) }
      #expect(begin.duration(to: EventLoop.shared.now) < .seconds(6))
      rig.reactions[0x19] = { $0.event(0x10) }
      rig.user.hesitation = .seconds(20)
      begin = EventLoop.shared.now
      await #expect(throws: PairingFailure.silent(.seconds(3))) { _ = try await rig.security.pair(Self.keyboard, user: rig.user) }
      #expect(rig.opcodes.contains(0x1E))
      #expect((20.0..<27).contains(begin.duration(to: EventLoop.shared.now).inSeconds))
      rig.socket.raised = nil
      begin = EventLoop.shared.now
      await #expect(throws: PairingFailure.silent(.seconds(3))) { try await rig.security.encrypt(with: bond(device)) }
      #expect(begin.duration(to: EventLoop.shared.now) < .seconds(6))
    }
  }

  /// Settings that fit are not touched, and Just Works is confirmed without a question.
  @Test func justWorks() async throws {
    try await with { rig in
      rig.settings = 0x0A11
      rig.reactions[0x19] = { $0.event(0x0F, 1, 0, 0, 0, 0) }
      rig.reactions[0x1C] = { rig in
        rig.complete(0x1C)
        rig.socket.security = notKept
        rig.key(2)
        rig.complete(0x19)
      }
      let result = try await rig.security.pair(PairingParameters(), user: rig.user)
      #expect(result.security == plain && result.bond == bond(device, plain))
      // The socket reports only level 2.
      #expect(rig.security.security == plain)
      #expect(rig.opcodes == [0x04, 0x30, 0x13, 0x19, 0x1C] && rig.user.compared.isEmpty)
    }
  }

  /// Numbers, a device that distributes its identity, and a passkey on our side, which is shown once.
  @Test func displays() async throws {
    try await with(peer: changing) { rig in
      rig.reactions[0x19] = { $0.event(0x0F, of: changing, 0, 0x1A, 0xC4, 3, 0) }
      rig.reactions[0x1C] = { rig in
        rig.complete(0x1C)
        rig.socket.security = secure
        rig.identity(9, of: other, at: changing.address)
        rig.key(3, of: other)
        rig.complete(0x19)
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(rig.user.compared == [SixDigits(246_810)])
      #expect(result.method == .numericComparison && result.bond?.identity == other && result.bond?.irk == 9)
    }
    try await with { rig in
      rig.reactions[0x19] = { rig in
        for entered: UInt8 in 0...2 { rig.event(0x17, 1, 0, 0, 0, entered) }
        rig.socket.security = secure
        rig.key(3)
        rig.complete(0x19)
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(result.method == .passkeyEntry(displayedBy: .central))
      #expect(rig.user.shown == [SixDigits(lastOf: 1)])
    }
  }

  struct Failing: CustomTestStringConvertible {
    let testDescription: String
    let error: any Error
    var parameters = KernelSecurityTests.keyboard
    var prepare: @LoopActor (KernelRig) -> Void = { _ in }
    var bonds: [Bond] = []
  }

  private static func failing(_ event: @escaping @LoopActor (KernelRig) -> Void, status: UInt8 = 5, answers: [UInt16] = [])
    -> @LoopActor (KernelRig) -> Void
  {
    { rig in
      rig.statuses[0x19] = status
      rig.reactions[0x19] = { rig in
        event(rig)
        if answers.isEmpty { rig.complete(0x19) }
      }
      for opcode in answers {
        rig.reactions[opcode] = { rig in
          rig.complete(opcode)
          rig.complete(0x19)
        }
      }
    }
  }

  private static func accepted(_ type: UInt8, size: UInt8 = 16) -> @LoopActor (KernelRig) -> Void {
    { rig in
      rig.reactions[0x19] = { rig in
        rig.socket.security = type & 1 == 1 ? secure : notKept
        rig.event(0x10)
        rig.key(type, size: size)
        rig.complete(0x19)
      }
    }
  }

  private static var fourth: PairingParameters {
    var parameters = keyboard
    parameters.level = .secureConnections
    return parameters
  }

  private static var chosen: PairingParameters {
    var parameters = PairingParameters(ioCapability: .keyboardDisplay, requestsMITM: true)
    parameters.passkey = SixDigits(1)
    return parameters
  }

  private static var authenticated: PairingParameters {
    var parameters = PairingParameters()
    parameters.level = .authenticated
    return parameters
  }

  static let failureCases = [
    Failing(
      testDescription: "wrong passkey", error: PairingFailure.wrongPasskey(.peer),
      prepare: failing({ $0.event(0x10) }, answers: [0x1E])),
    Failing(
      testDescription: "no passkey", error: PairingFailure.passkeyNotEntered(.us),
      prepare: { rig in
        rig.user.digits = nil
        failing({ $0.event(0x10) }, answers: [0x1F])(rig)
      }),
    Failing(
      testDescription: "number refused here", error: PairingFailure.numberRefused(.us),
      prepare: { rig in
        rig.user.agrees = false
        failing({ $0.event(0x0F, 0, 1, 0, 0, 0) }, answers: [0x1D])(rig)
      }),
    Failing(
      testDescription: "number refused there", error: PairingFailure.numberRefused(.peer),
      prepare: failing({ $0.event(0x0F, 0, 1, 0, 0, 0) }, answers: [0x1C])),
    Failing(testDescription: "refused", error: PairingFailure.refused(.unspecifiedReason), prepare: failing({ _ in })),
    Failing(testDescription: "silent", error: PairingFailure.timedOut, prepare: failing({ _ in }, status: 8)),
    Failing(
      testDescription: "disconnected", error: PairingFailure.disconnected(.remoteUserTerminated), prepare: failing({ _ in }, status: 0x0E)),
    Failing(
      testDescription: "rejected", error: KernelPairingProblem.refused("hci3", command: 0x19, status: 0x0B),
      prepare: failing({ _ in }, status: 0x0B)),
    Failing(
      testDescription: "no answer", error: PairingFailure.timedOut, prepare: { rig in rig.reactions[0x19] = { _ in } }),
    Failing(testDescription: "hciconfig up", error: KernelPairingProblem.noSecurityManager("hci3")),
    Failing(
      testDescription: "Just Works only", error: PairingFailure.notAuthenticated, parameters: fourth,
      prepare: failing({ $0.event(0x0F, 1, 0, 0, 0, 0) }, answers: [0x1D])),
    Failing(testDescription: "no keyboard", error: PairingFailure.notAuthenticated, parameters: authenticated),
    Failing(testDescription: "legacy", error: PairingFailure.legacyPairing, parameters: fourth, prepare: accepted(1)),
    Failing(testDescription: "short key", error: PairingFailure.keySize(agreed: 7, minimum: 16), prepare: accepted(3, size: 7)),
    Failing(testDescription: "debug key", error: PairingFailure.debugKey, prepare: accepted(4)),
    Failing(testDescription: "weaker", error: PairingFailure.weakerThanBond, prepare: accepted(2), bonds: [bond(device)]),
    Failing(
      testDescription: "own passkey", error: KernelPairingProblem.choosesPasskey("hci3"), parameters: chosen,
      prepare: failing({ $0.event(0x17, 1, 0, 0, 0, 0) }, status: 0x10, answers: [0x1A])),
  ]

  /// A failed pairing restores the settings and the keys.
  @Test(arguments: failureCases) func failures(_ failing: Failing) async throws {
    try await with(failing.bonds) { rig in
      rig.security.bond = failing.bonds.first
      failing.prepare(rig)
      let thrown = await #expect(throws: (any Error).self) { _ = try await rig.security.pair(failing.parameters, user: rig.user) }
      #expect(thrown.map { "\($0)" } == "\(failing.error)")
      guard !rig.commands.isEmpty else { return }
      #expect(rig.opcodes.suffix(4) == [0x2D, 0x09, 0x30, 0x13])
      #expect(rig.commands.last?.1[0] == UInt8(failing.bonds.count))
      // Keys that the kernel accepted, and we do not, are removed.
      let isAccepted = rig.socket.isAbandoned
      #expect(rig.opcodes.contains(0x1B) == isAccepted)
    }
  }

  /// The kernel forgets the keys of a bond that the caller refuses, and its link. The identity is that of another bonded device.
  @Test(arguments: [PairingFailure.identityTaken(other), StorageFull()] as [any Error]) func aRefusedBond(_ refusal: any Error) async throws
  {
    let own = bond(other)
    try await with([own], peer: changing) { rig in
      rig.reactions[0x19] = { rig in
        rig.socket.security = secure
        rig.identity(9, of: other, at: changing.address)
        rig.key(3, of: other)
        rig.complete(0x19, for: other)
      }
      // Until the link is down, its level does not count.
      rig.reactions[0x1B] = { rig in
        #expect(rig.socket.isAbandoned && rig.security.security == nil)
        rig.complete(0x1B)
      }
      var refused: [Bond?] = []
      let thrown = await #expect(throws: (any Error).self) {
        _ = try await rig.security.pair(Self.keyboard, user: rig.user) {
          refused.append($0.bond)
          throw refusal
        }
      }
      #expect(thrown.map { "\($0)" } == "\(refusal)" && refused.map { $0?.identity } == [other])
      #expect(rig.opcodes.suffix(5) == [0x1B, 0x2D, 0x09, 0x30, 0x13], "\(rig.opcodes)")
      #expect(rig.commands.first { $0.0 == 0x1B }?.1 == other.address.littleEndianBytes + [1, 1])
      #expect(rig.commands.last?.1 == ManagementCommand.loadLongTermKeys([own]).parameters)
      #expect(rig.security.bond == nil)
    }
  }

  private struct StorageFull: Error {}

  /// A cancellation that comes too late for the kernel.
  @Test func aCancellationAfterTheKeys() async throws {
    try await with { rig in
      rig.reactions[0x19] = { rig in
        rig.event(0x10)
        rig.socket.security = secure
        rig.key(3)
      }
      let task = EventLoop.shared.spawn { () -> (any Error)? in
        do { _ = try await rig.security.pair(Self.keyboard, user: rig.user) } catch { return error }
        return nil
      }
      while !rig.opcodes.contains(0x1E) { try await rig.pair.settle() }
      task.cancel()
      #expect(await task.value is CancellationError)
      #expect(rig.opcodes.contains(0x1B) && rig.socket.isAbandoned && rig.security.security == nil)
    }
  }

  /// A device that pairs at the same time has its own keys, also if its address never changes: the event then names no address.
  @Test func keysOfAnotherDevice() async throws {
    try await with { rig in
      // The peer's own request comes last: it must still be taken for the peer's.
      rig.reactions[0x19] = { rig in
        rig.identity(9, of: other)
        rig.key(2, of: other)
        rig.event(0x10)
      }
      rig.reactions[0x1E] = { rig in
        rig.complete(0x1E)
        rig.socket.security = secure
        rig.identity(8, of: other, at: changing.address)
        rig.key(4, of: changing)
        rig.identity(7, of: device)
        rig.key(3)
        rig.complete(0x19, for: device)
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(result.bond == bond(device, irk: 7))
    }
  }

  /// The answer of the kernel tells the identity of a device on an address that is neither its identity nor resolvable.
  @Test func anIdentityBehindAnotherAddress() async throws {
    let nonResolvable = PeerAddress(Address(rawValue: 0x2FFF_FFFF_FFFF), .random)
    try await with(peer: nonResolvable) { rig in
      rig.reactions[0x19] = { rig in
        rig.event(0x10, of: nonResolvable)
        rig.socket.security = secure
        rig.identity(9, of: device)
        rig.key(3)
        rig.complete(0x19, for: device)
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(result.bond == bond(device, irk: 9))
    }
  }

  /// A pairing on the same adapter waits until the first one has restored the settings, or fails without having changed them.
  @Test(.onLoop) @LoopActor func pairingsBesideEachOther() async throws {
    let folder = try TemporaryFolder.file([])
    let (first, second) = (KernelRig(folder: folder), KernelRig(folder: folder))
    try await first.serving {
      try await second.serving {
        Self.accepted(3)(second)
        first.reactions[0x19] = { _ in }
        let running = EventLoop.shared.spawn { _ = try? await first.security.pair(Self.keyboard, user: first.user) }
        while !first.opcodes.contains(0x19) { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
        await #expect(throws: KernelPairingProblem.otherPairing("hci3", folder)) {
          try await second.security.pair(Self.keyboard, user: second.user)
        }
        #expect(second.commands.isEmpty)
        let waiting = EventLoop.shared.spawn { try? await second.security.pair(Self.keyboard, user: second.user).security }
        try await EventLoop.shared.sleep(for: .seconds(1))
        #expect(second.commands.isEmpty)
        running.cancel()
        await running.value
        #expect(await waiting.value == secure)
        #expect(second.opcodes.suffix(2) == [0x2D, 0x09])
      }
    }
  }

  /// A device that claims another identity on an encrypted link leaves no key and no link: the kernel then tells no end of the pairing.
  @Test func anotherIdentityOnAnEncryptedLink() async throws {
    try await with([bond(device, plain)]) { rig in
      rig.security.bond = bond(device, plain)
      rig.socket.security = notKept
      rig.socket.raised = .success(secure)
      rig.socket.onRaise = { [unowned rig] in rig.event(0x10) }
      rig.reactions[0x1E] = { rig in
        rig.complete(0x1E)
        rig.identity(9, of: other)
        rig.key(3, of: other)
      }
      await #expect(throws: PairingFailure.self) { _ = try await rig.security.pair(Self.keyboard, user: rig.user) }
      #expect(rig.socket.isAbandoned && rig.opcodes.contains(0x1B) && rig.security.security == nil)
    }
  }

  /// On an encrypted link, the kernel pairs only when the socket demands more security.
  @Test func upgrade() async throws {
    try await with([bond(device, plain)]) { rig in
      rig.security.bond = bond(device, plain)
      rig.socket.security = notKept
      rig.socket.raised = .success(secure)
      rig.socket.onRaise = { [unowned rig] in rig.event(0x10) }
      rig.reactions[0x1E] = { rig in
        rig.complete(0x1E)
        rig.key(3)
      }
      let result = try await rig.security.pair(Self.keyboard, user: rig.user)
      #expect(result.bond == bond(device) && rig.socket.levels == [.authenticated])
    }
  }
}
