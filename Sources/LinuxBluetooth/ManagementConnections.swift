import Bluetooth

/// Lists the LE links of an adapter, from any program, with Get Connections on the management channel (CAP_NET_ADMIN).
enum ManagementConnections {
  private static let getConnections: UInt16 = 0x0015
  private static let lePublic: UInt8 = 1
  private static let leRandom: UInt8 = 2

  /// Returns the connected peers. Nil if the kernel does not answer.
  static func read(adapter: Int) -> Set<PeerAddress>? {
    ManagementChannel.ask(getConnections, adapter: UInt16(clamping: adapter)).flatMap { $0.status == 0 ? try? parse($0.parameters) : nil }
  }

  static func parse(_ parameters: [UInt8]) throws(MalformedPacket) -> Set<PeerAddress> {
    var reader = ByteReader(parameters)
    var peers: Set<PeerAddress> = []
    for _ in 0..<(try reader.uint16("number of connections")) {
      let address = try reader.address("address of a connection")
      switch try reader.uint8("address type of a connection") {
      case lePublic: peers.insert(PeerAddress(address, .public))
      case leRandom: peers.insert(PeerAddress(address, .random))
      default: break  // BR/EDR
      }
    }
    return peers
  }
}
