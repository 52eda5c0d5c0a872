import TestSupport

@testable import BluetoothLELinux

private let device = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
private let other = PeerAddress(Address(rawValue: 0x0011_2233_4455), .public)

@LoopActor final class FakeSocket: SecuredSocket {
  var security: LinkSecurity?
  /// The result of raising the security. Nil leaves the socket blocked.
  var raised: Result<LinkSecurity, any Error>?
  private(set) var levels: [SecurityLevel] = []
  var onRaise: () -> Void = {}
  private(set) var isAbandoned = false

  func raiseSecurity(to level: SecurityLevel, until deadline: LoopClock.Instant) async throws -> Bool {
    levels.append(level)
    onRaise()
    guard let raised else {
      try await EventLoop.shared.sleep(until: deadline)
      return false
    }
    security = try raised.get()
    return true
  }

  func abandon() { (isAbandoned, security) = (true, nil) }
}

@LoopActor final class FakeUser: PairingUser {
  var digits: SixDigits? = SixDigits(246_810)
  var agrees = true
  /// The time that this user takes to enter the passkey.
  var hesitation = Duration.zero
  private(set) var shown: [SixDigits] = []
  private(set) var compared: [SixDigits] = []

  func passkey() async -> SixDigits? {
    try? await EventLoop.shared.sleep(for: hesitation)
    return digits
  }
  func show(_ passkey: SixDigits) { shown.append(passkey) }
  func isSame(_ number: SixDigits) async -> Bool {
    compared.append(number)
    return agrees
  }
}

/// The kernel's end of the management channel: answers every command with success, except those of `statuses`.
@LoopActor final class KernelRig {
  let pair = SocketPair()
  let socket = FakeSocket()
  let user = FakeUser()
  let keyring: KernelKeyring
  let security: KernelSecurity
  var reason: ControllerErrorCode?
  /// The opcodes and parameters of all commands.
  private(set) var commands: [(UInt16, [UInt8])] = []
  var statuses: [UInt16: UInt8] = [:]
  /// The current settings of the adapter: powered, LE.
  var settings: UInt32 = 0x0201
  /// What the kernel does after a command, in place of an answer.
  var reactions: [UInt16: (KernelRig) -> Void] = [:]
  private var watch: Watch?

  /// - Parameter folder: The folder that stands for the adapter in /sys.
  init(_ bonds: [Bond] = [], peer: PeerAddress = device, folder: String = "/nonexistent") {
    let adapter = AdapterInfo(index: 3, address: other.address, isUp: true, bus: "virtual", le: true)
    keyring = KernelKeyring(adapter)
    keyring.bonds = { bonds }
    keyring.hasDaemon = { false }
    keyring.folder = folder
    security = KernelSecurity(keyring, socket, peer) { nil }
    let end = pair
    keyring.open = { adapter throws(AdapterProblem) in ManagementSocket(end.takeOther(), adapter) }
  }

  /// Answers commands for as long as `body` runs.
  func serving<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) async throws -> T {
    let task = EventLoop.shared.spawn { [self] in
      while !Task.isCancelled {
        while let packet = pair.read(), packet.count >= 6 { answer(packet) }
        try? await EventLoop.shared.sleep(for: .milliseconds(1))
      }
    }
    defer { task.cancel() }
    return try await body()
  }

  private func answer(_ packet: [UInt8]) {
    let opcode = packet.uint16(at: 0)
    commands.append((opcode, Array(packet.dropFirst(6))))
    if let reaction = reactions[opcode] { return reaction(self) }
    complete(opcode)
  }

  /// - Parameter peer: The device in the answer of Pair Device.
  func complete(_ opcode: UInt16, for peer: PeerAddress? = nil) {
    var writer = ByteWriter()
    writer.uint16(opcode)
    writer.uint8(statuses[opcode] ?? 0)
    if let peer { writer.append(peer.address.littleEndianBytes + [peer.type == .public ? 1 : 2]) }
    if opcode == 0x0004 {
      writer.append([UInt8](repeating: 0, count: 13))
      writer.uint32(settings)
    }
    event(1, writer.bytes)
  }

  /// Sends an event of the adapter.
  func event(_ code: UInt16, _ parameters: [UInt8]) {
    try? pair.write(Bytes.u16le(code) + [3, 0] + Bytes.u16le(UInt16(parameters.count)) + parameters)
  }

  func event(_ code: UInt16, of peer: PeerAddress = device, _ parameters: UInt8...) {
    event(code, peer.address.littleEndianBytes + [peer.type == .public ? 1 : 2] + parameters)
  }

  /// Sends a New Long Term Key event.
  func key(_ type: UInt8, of peer: PeerAddress = device, size: UInt8 = 16, hint: UInt8 = 1, initiator: UInt8 = 0) {
    let head = [hint] + peer.address.littleEndianBytes + [peer.type == .public ? 1 : 2, type, initiator, size]
    event(0x0A, head + [UInt8](repeating: 0, count: 10) + [7] + [UInt8](repeating: 0, count: 15))
  }

  /// Sends a New Identity Resolving Key event. - Parameter address: The resolvable private address of the device, 0 without one.
  func identity(_ irk: UInt8, of peer: PeerAddress, at address: Address = Address(rawValue: 0)) {
    let head = [1] + address.littleEndianBytes + peer.address.littleEndianBytes + [peer.type == .public ? 1 : 2]
    event(0x18, head + [irk] + [UInt8](repeating: 0, count: 15))
  }

  var opcodes: [UInt16] { commands.map(\.0) }
}

extension Bytes {
  fileprivate static func u16le(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
}
