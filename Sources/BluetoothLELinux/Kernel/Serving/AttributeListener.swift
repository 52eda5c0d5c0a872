import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// A listener on the kernel's fixed ATT channel of an adapter. Of several listeners on an adapter, the newest gets all links.
@LoopActor
final class AttributeListener {
  private let descriptor: OwnedDescriptor
  private let accepted: @LoopActor (consuming OwnedDescriptor, PeerAddress) -> Void
  private var watch: Watch?

  /// The maximum number of links that the listener accepts per turn of the event loop.
  private static let linksPerTurn = 16

  /// Listens on the adapter's address.
  /// - Parameter accepted: Receives the socket of each link, and its central.
  /// - Throws: Errno.
  init(_ adapter: AdapterInfo, accepted: @escaping @LoopActor (consuming OwnedDescriptor, PeerAddress) -> Void) throws(Errno) {
    self.accepted = accepted
    descriptor = try SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)
    // An adapter without a public address uses a static one, which the kernel does not report.
    try SystemCall.bind(descriptor.rawValue, .att(adapter.address, adapter.address == nil ? .random : .public))
    try SystemCall.listen(descriptor.rawValue)
    watch = EventLoop.shared.watch(descriptor.rawValue, .readable) { [weak self] _ in self?.accept() }
  }

  isolated deinit { watch?.cancel() }

  /// Accepts the links that wait in the kernel.
  func accept() {
    for _ in 0..<Self.linksPerTurn {
      do throws(Errno) {
        let link = try SystemCall.accept(descriptor.rawValue)
        // A link that has ended already has no peer.
        guard let peer = (try? SystemCall.peerAddress(link.rawValue))?.attPeer else { continue }
        L2CAPSocket.setBuffers(link.rawValue)
        accepted(link, peer)
      } catch { return }
    }
  }
}

extension SocketAddress {
  /// The peer of a `struct sockaddr_l2`: the address from byte 4, and its type in byte 12. Nil for another structure.
  fileprivate var attPeer: PeerAddress? {
    guard family == AF_BLUETOOTH, bytes.count >= 13 else { return nil }
    var reader = ByteReader(Array(bytes[4...]))
    guard let address = try? reader.address("peer of a socket") else { return nil }
    return PeerAddress(address, Int32(bytes[12]) == BDADDR_LE_PUBLIC ? .public : .random)
  }
}
