import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// The ATT fixed channel of an LE link, over a SEQPACKET socket with one PDU per packet. Opening the socket needs no capability.
@LoopActor
final class L2CAPSocket: Channel, SecuredSocket {
  private let socket: PacketSocket
  /// The number of bytes that TIOCOUTQ reports for an empty send queue. 0 on old kernels, the free room on current kernels.
  private var idleOutput: Int32?

  /// The callback for every PDU that the socket sends or receives.
  var tap: (@LoopActor ([UInt8], Direction) -> Void)?
  /// The function that returns the reason why the link is down. Its argument is nil if the channel closed without an error.
  var explain: @LoopActor (Errno?) -> any Error

  /// Wraps a connected socket, or one end of a socket pair in tests.
  init(_ descriptor: consuming OwnedDescriptor, explain: @escaping @LoopActor (Errno?) -> any Error) {
    // The kernel delivers SDUs of up to 672 bytes here; a longer one would appear as `.cut`.
    socket = PacketSocket(descriptor, largest: 2048)
    self.explain = explain
    idleOutput = outputQueue
  }

  /// Connects to a peer. The kernel cancels the attempt when the socket closes.
  /// - Throws: CancellationError, or ConnectFailure, with ETIMEDOUT at `deadline`.
  static func connect(_ adapter: AdapterInfo, _ peer: PeerAddress, until deadline: LoopClock.Instant) async throws -> L2CAPSocket {
    let descriptor = try starting { () throws(Errno) in try prepared(adapter, limit: deadline) }
    let number = descriptor.rawValue
    do throws(Errno) { try SystemCall.connect(number, .att(peer.address, peer.type)) } catch {
      guard error == .nowInProgress else { throw ConnectFailure(errno: error, stage: .starting) }
    }
    // The socket becomes writable only when the link is up and the peer's features are known.
    guard try await EventLoop.shared.wait(for: number, .writable, until: deadline) != nil else {
      throw ConnectFailure(errno: .timedOut, stage: .completing)
    }
    if let error = SystemCall.pendingError(number) { throw ConnectFailure(errno: error, stage: .completing) }
    return L2CAPSocket(descriptor) { SocketEnd(peer, .errno($0)) }
  }

  private static func starting<T: ~Copyable>(_ body: () throws(Errno) -> T) throws(ConnectFailure) -> T {
    do throws(Errno) { return try body() } catch { throw ConnectFailure(errno: error, stage: .starting) }
  }

  private static func prepared(_ adapter: AdapterInfo, limit: LoopClock.Instant) throws(Errno) -> OwnedDescriptor {
    let descriptor = try SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)
    let number = descriptor.rawValue
    setBuffers(number)
    // The kernel's own limit is 40 s, and later kernels pass this one to the controller. Our limit on the loop ends first.
    let seconds = EventLoop.shared.now.duration(to: limit).components.seconds
    try? SystemCall.setOption(number, SOL_SOCKET, SO_SNDTIMEO, timeval(tv_sec: Int(clamping: max(1, seconds &+ 2)), tv_usec: 0))
    // Binding to CID 4 makes this a fixed channel. A controller without a public address uses one that the kernel does not report,
    // so the kernel chooses it.
    try SystemCall.bind(number, .att(adapter.address, .public))
    return descriptor
  }

  /// Sets the lengths of the kernel's buffers for a link.
  static func setBuffers(_ number: Int32) {
    // Notifications and commands are lost when the buffer is full. The default of 208 KiB holds 0.23 s of a fast link.
    SystemCall.raiseReceiveBuffer(number, to: 4 << 20)
    try? SystemCall.setOption(number, SOL_SOCKET, SO_RXQ_OVFL, Int32(1))
    // 64 KiB after the kernel's doubling, about 50 fragments of 251 bytes: progress, canceling and requests lag less than 40 kB.
    // Still room for four PDUs of 517 bytes cut for a controller with 27-byte buffers; below that, sending can starve.
    try? SystemCall.setOption(number, SOL_SOCKET, SO_SNDBUF, Int32(32_768))
  }

  // MARK: ATT.Channel

  /// The callback for events. The socket starts to read when a caller sets it.
  var handler: (@LoopActor (ChannelEvent) -> Void)? {
    didSet {
      guard let handler else {
        socket.handler = nil
        return
      }
      socket.handler = { [weak self] event in
        guard let self else { return }
        switch event {
        case .packet(let pdu), .cut(let pdu, _):
          tap?(pdu, .controllerToHost)
          handler(.received(pdu))
        case .dropped(let count): handler(.dropped(count))
        case .ended(let error): handler(.closed(explain(error)))
        }
      }
    }
  }

  func send(_ pdu: [UInt8]) {
    guard !socket.isOver else { return }
    do throws(Errno) {
      try socket.send(pdu)
      tap?(pdu, .hostToController)
    } catch {
      socket.fail(error)
    }
  }

  var isWritable: Bool { !isOver && !socket.hasBacklog }

  /// The kernel's limit for the fixed channel. It refuses longer PDUs with EMSGSIZE.
  var largestPDU: Int { 672 }

  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool {
    do { return try await socket.waitForRoom(until: deadline) } catch let error as Errno { throw ended(error) }
  }

  private func ended(_ error: Errno) -> any Error { explain(error == .socketNotConnected ? nil : error) }

  func close() { socket.close() }

  // MARK: The link below

  var isOver: Bool { socket.isOver }

  /// The connection handle of the link (L2CAP_CONNINFO). Nil if the socket is not connected.
  var connectionHandle: ConnectionHandle? {
    (try? SystemCall.option(socket.rawDescriptor, SOL_L2CAP, L2CAP_CONNINFO, l2cap_conninfo())).map { ConnectionHandle($0.hci_handle) }
  }

  /// The PHY on which this device sends (BT_PHY). Nil if the kernel lists several PHYs, which are then only the allowed ones.
  var phy: PHY? {
    guard let bits = try? SystemCall.option(socket.rawDescriptor, SOL_BLUETOOTH, BT_PHY, UInt32(0)) else { return nil }
    return Self.phy(bits)
  }

  nonisolated static func phy(_ bits: UInt32) -> PHY? {
    let table: [(Int32, PHY)] = [(BT_PHY_LE_1M_TX, .le1M), (BT_PHY_LE_2M_TX, .le2M), (BT_PHY_LE_CODED_TX, .coded)]
    let found = table.filter { bits & UInt32(bitPattern: $0.0) != 0 }
    return found.count == 1 ? found[0].1 : nil
  }

  // MARK: SecuredSocket

  var security: LinkSecurity? {
    guard !isOver, let value = try? SystemCall.option(socket.rawDescriptor, SOL_BLUETOOTH, BT_SECURITY, bt_security()),
      let level = SecurityLevel(rawValue: Int(value.level)), level > .unencrypted
    else { return nil }
    // Level 2 does not tell how the key was made.
    return LinkSecurity(keySize: value.key_size, isAuthenticated: level >= .authenticated, isSecureConnections: level == .secureConnections)
  }

  func raiseSecurity(to level: SecurityLevel, until deadline: LoopClock.Instant) async throws -> Bool {
    guard !isOver else { throw explain(nil) }
    do throws(Errno) {
      try SystemCall.setOption(
        socket.rawDescriptor, SOL_BLUETOOTH, BT_SECURITY, bt_security(level: UInt8(clamping: level.rawValue), key_size: 0))
    } catch {
      if error == .invalidArgument { throw error }
      // Any other error means that the link is down.
      throw ended(error)
    }
    // Until the link is encrypted, send() fails.
    socket.hold()
    return try await waitUntilWritable(until: deadline)
  }

  func abandon() {
    socket.fail(.permissionDenied)
    socket.pump()
  }

  /// Whether the controller has taken all sent data, or the socket has ended.
  var isDrained: Bool { isOver || !socket.hasBacklog && outputQueue == idleOutput }

  private var outputQueue: Int32? {
    var bytes: Int32 = 0
    return unsafe shim_output_queue(socket.rawDescriptor, &bytes) < 0 ? nil : bytes
  }
}
