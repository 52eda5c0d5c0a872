import TestSupport

@testable import BluetoothLELinux

private let central = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
private let stranger = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F6), .random)
private let privateAddress = PeerAddress(Address(rawValue: 0x4011_2233_4455), .random)
private let own = PeerAddress(Address(rawValue: 0x0011_2233_4455), .public)

/// A served device that pairs, and what happened to it.
@LoopActor private final class Door: PairedDevice {
  var parameters = PairingParameters()
  var refusal: PairingFailedReason?
  var keepsBonds = true
  let user = FakeUser()
  var bonds: [Bond] = []
  private(set) var results: [(PeerAddress, PairingResult)] = []
  private(set) var refusals: [PairingFailedReason] = []

  var acceptance: Pairing.Acceptance { refusal.map { .refuse($0) } ?? .accept(parameters) }
  var pairingUser: any PairingUser { user }
  func bond(with central: PeerAddress) -> Bond? { bonds.first { $0.identity == central } }
  func paired(_ peer: PeerAddress, _ result: PairingResult) { results.append((peer, result)) }
  func refused(_ peer: PeerAddress, _ reason: PairingFailedReason) { refusals.append(reason) }
}

/// The kernel asks while a central pairs with a served device.
@Suite(.timeLimit(.minutes(15))) struct CentralPairingsTests {
  /// Runs `body` for a device to which `central` and `privateAddress` are connected.
  private func with(
    _ body: @escaping @LoopActor (KernelRig, Door, CentralPairings) async throws -> Void
  ) async throws {
    try await onLoop {
      let (rig, door) = (KernelRig(), Door())
      try await rig.serving {
        let management = try rig.keyring.open(rig.keyring.adapter)
        // The keys go to the kernel over a channel of their own.
        rig.keyring.open = { _ throws(AdapterProblem) in management }
        let pairings = CentralPairings(management, rig.keyring, door) { $0 == stranger ? nil : rig.socket }
        management.observer = { pairings.receive($0) }
        try await body(rig, door, pairings)
      }
    }
  }

  /// Waits until the kernel has got as many commands as these, and returns the last ones.
  @LoopActor private func commands(_ rig: KernelRig, _ count: Int) async throws -> [UInt16] {
    while rig.commands.count < count { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    return Array(rig.opcodes.suffix(count))
  }

  /// The adapter pairs while the device is served, and is as before at the end. A device that refuses changes nothing.
  @Test func settings() async throws {
    try await with { rig, door, pairings in
      door.parameters.ioCapability = .displayYesNo
      try await pairings.start(as: own)
      #expect(rig.opcodes == [0x0004, 0x0009, 0x002D, 0x0018, 0x0030, 0x0013])
      #expect(rig.commands[1].1 == [1] && rig.commands[2].1 == [1] && rig.commands[3].1 == [1])
      await pairings.end()
      #expect(rig.opcodes.dropFirst(6) == [0x0018, 0x002D, 0x0009])
      #expect(rig.commands.suffix(3).map(\.1) == [[3], [0], [0]])
    }
    try await with { rig, door, pairings in
      door.refusal = .pairingNotSupported
      try await pairings.start(as: own)
      await pairings.end()
      #expect(rig.commands.isEmpty)
    }
  }

  /// The answers to the kernel's questions, and the result with the keys.
  @Test func answers() async throws {
    try await with { rig, door, _ in
      rig.socket.security = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
      // A device of another program.
      rig.event(0x0F, of: stranger, 1, 0, 0, 0, 0)
      rig.event(0x0F, of: central, 1, 0, 0, 0, 0)
      rig.event(0x0F, of: central, 0, 0x40, 0xE2, 0x01, 0)
      rig.event(0x10, of: central)
      #expect(try await commands(rig, 3) == [0x001C, 0x001C, 0x001E])
      #expect(door.user.compared == [SixDigits(123_456)] && rig.commands[2].1.suffix(4) == [0x1A, 0xC4, 0x03, 0])
      door.parameters.passkey = SixDigits(1)
      rig.event(0x17, of: central, 0x40, 0xE2, 0x01, 0, 0)
      rig.event(0x17, of: central, 0x40, 0xE2, 0x01, 0, 1)
      rig.key(3, of: central)
      while door.results.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
      #expect(door.user.shown == [SixDigits(123_456)])
      let (peer, result) = door.results[0]
      #expect(peer == central && result.bond?.identity == central && result.security.isAuthenticated)
      #expect(result.method == .passkeyEntry(displayedBy: .central))
    }
  }

  /// From its identity on, the kernel calls the central by that. The device knows it by the address of the link.
  @Test func anIdentity() async throws {
    try await with { rig, door, _ in
      door.keepsBonds = false
      rig.socket.security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
      for _ in 0..<2 {
        rig.event(0x0F, of: door.results.isEmpty ? privateAddress : central, 1, 0, 0, 0, 0)
        let count = door.results.count
        _ = try await commands(rig, count + 1)
        rig.identity(9, of: central, at: count == 0 ? privateAddress.address : Address(rawValue: 0))
        rig.key(2, of: central)
        while door.results.count == count { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
      }
      #expect(door.results.map(\.0) == [privateAddress, privateAddress] && door.results[0].1.bond?.identity == central)
      // Of this device, the kernel keeps no key.
      rig.event(0x0C, of: central, 3)
      #expect(try await commands(rig, 3).last == 0x001B)
    }
  }

  @Test func refusals() async throws {
    try await with { rig, door, _ in
      door.refusal = .repeatedAttempts
      rig.event(0x0F, of: central, 1, 0, 0, 0, 0)
      rig.event(0x10, of: central)
      rig.event(0x17, of: central, 0x40, 0xE2, 0x01, 0, 0)
      let sent = try await commands(rig, 3)
      #expect(sent == [0x001D, 0x001F, 0x0014])
      #expect(door.refusals == [.repeatedAttempts, .repeatedAttempts, .repeatedAttempts])
    }
    // The kernel takes a weaker key than that of the bond.
    try await with { rig, door, _ in
      rig.socket.security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
      let strong = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
      door.bonds = [
        Bond(identity: central, irk: nil, keys: [LongTermKey(key: 1, ediv: 0, rand: 0, role: nil, security: strong)], method: .justWorks)
      ]
      rig.event(0x0F, of: central, 1, 0, 0, 0, 0)
      _ = try await commands(rig, 1)
      rig.key(2, of: central)
      #expect(try await commands(rig, 2).last == 0x001B && rig.socket.isAbandoned && door.results.isEmpty)
    }
  }
}
