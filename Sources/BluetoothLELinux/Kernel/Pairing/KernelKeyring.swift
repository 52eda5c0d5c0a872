import CBluetoothLEBlueZ

/// The keys that the kernel has for an adapter. blectl replaces all of them by its own, and only while no bluetoothd runs.
@LoopActor
package final class KernelKeyring {
  let adapter: AdapterInfo
  /// The function that returns our bonds on this adapter.
  var bonds: @LoopActor () throws -> [Bond] = { [] }
  /// The bonds whose keys this process has given to the kernel.
  private var loaded: [Bond] = []
  /// The folder of the adapter, which a pairing locks.
  lazy var folder = "/sys/class/bluetooth/\(adapter.name)"
  private var socket: ManagementSocket?
  /// The function that returns whether bluetoothd runs. Tests replace it.
  var hasDaemon: () -> Bool = { BluetoothDaemon.isRunning }
  var openDaemon: @LoopActor () async throws -> BluetoothDaemon = { try await BluetoothDaemon() }
  var open: @LoopActor (AdapterInfo) throws(AdapterProblem) -> ManagementSocket = { adapter throws(AdapterProblem) in
    try ManagementSocket(adapter)
  }

  /// The maximum number of bonds: the length of a command is a number of 16 bits, and a bond has up to two keys of 36 bytes.
  private static let limit = 900

  init(_ adapter: AdapterInfo) { self.adapter = adapter }

  /// Returns the management channel. Opens it at the first call.
  /// - Throws: KernelPairingProblem.bluetoothdRuns, AdapterProblem.
  func management(for peer: PeerAddress) throws -> ManagementSocket {
    if hasDaemon() { throw KernelPairingProblem.bluetoothdRuns(peer) }
    if let socket, !socket.isOver { return socket }
    let new = try open(adapter)
    socket = new
    return new
  }

  /// Replaces the kernel's keys by those of our newest 900 bonds.
  /// - Parameters:
  ///   - peer: The device of the current command.
  ///   - excluded: The identity of a device whose keys the kernel shall forget.
  func load(for peer: PeerAddress, without excluded: PeerAddress? = nil) async throws {
    let management = try management(for: peer)
    // The kernel refuses a whole list of keys that contains another address.
    let all = try bonds().filter { $0.identity != excluded && $0.identity.isIdentity }.suffix(Self.limit)
    // Only after this command, even with an empty list, does the kernel ask devices for their identity.
    try await management.send(.loadIdentityKeys(Array(all)))
    try await management.send(.loadLongTermKeys(Array(all)))
    loaded = Array(all)
  }

  /// Makes sure that the kernel has the keys of a bond. Without them, it would start a new pairing.
  func provide(_ bond: Bond, for peer: PeerAddress) async throws {
    if !loaded.contains(bond) || hasDaemon() { try await load(for: peer) }
    guard loaded.contains(bond) else { throw PairingFailure.noBond }
  }

  /// Returns the address under which the kernel finds a device: its identity, if there is a bond. Loads the keys before the link exists:
  /// the kernel itself answers the Security Request of a device, and would pair again without the key.
  func destination(of peer: PeerAddress) async throws -> PeerAddress {
    guard let bond = try bonds().first(where: { $0.isOf(peer) }) else { return peer }
    try await load(for: bond.identity)
    return bond.identity
  }

  func close() { socket?.close() }

  /// Removes the keys of a device from the kernel's adapter with an identity address.
  /// - Returns: False if the process lacks CAP_NET_ADMIN. True also if the kernel has neither the adapter nor the keys.
  package static func forget(_ peer: PeerAddress, of identity: PeerAddress) -> Bool {
    guard let adapter = try? AdapterList.adapters().first(where: { $0.address == identity.address }),
      !BluetoothDaemon.isRunning
    else { return true }
    let command = ManagementCommand.unpair(peer, disconnects: false)
    let answer = ManagementChannel.ask(command.opcode, adapter: UInt16(clamping: adapter.index), command.parameters)
    return answer?.status != ManagementStatus.permissionDenied
  }
}
