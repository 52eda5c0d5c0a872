import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// Sends requests with an immediate answer to the kernel over the Bluetooth management channel (HCI_CHANNEL_CONTROL).
enum ManagementChannel {
  /// The contents of a Command Complete or Command Status event of the management channel.
  struct Answer: Equatable {
    /// The status code of the management channel. 0 is success.
    let status: UInt8
    let parameters: [UInt8]
  }

  /// The index in requests that concern no adapter.
  static let noIndex: UInt16 = 0xFFFF

  /// Opens the channel. Without CAP_NET_ADMIN, the kernel later refuses most requests.
  static func open() throws(Errno) -> OwnedDescriptor {
    let descriptor = try SystemCall.hciSocket()
    let number = descriptor.rawValue
    // The kernel checks CAP_NET_ADMIN only at bind: the socket may send any request later.
    try Capabilities.raised(.netAdmin) { () throws(Errno) in
      try SystemCall.bind(number, .hci(adapter: noIndex, channel: HCI_CHANNEL_CONTROL))
    }
    return descriptor
  }

  static func request(_ command: UInt16, adapter: UInt16, _ parameters: [UInt8]) -> [UInt8] {
    var request = ByteWriter(capacity: 6 + parameters.count)
    for field in [command, adapter, UInt16(clamping: parameters.count)] { request.uint16(field) }
    request.append(parameters)
    return request.bytes
  }

  /// Sends a request. Returns nil if the kernel does not answer.
  static func ask(_ command: UInt16, adapter: UInt16 = noIndex, _ parameters: [UInt8] = []) -> Answer? {
    do throws(Errno) {
      let descriptor = try open()
      _ = try SystemCall.write(descriptor.rawValue, request(command, adapter: adapter, parameters)[...])
      var buffer = [UInt8](repeating: 0, count: 4096)
      // The answer is available once the request was taken. Events before it go to all sockets.
      for _ in 0..<64 {
        let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
        if case .answer(command, let answer)? = try? ManagementEvent.parse(Array(buffer[..<count]))?.event { return answer }
      }
      return nil
    } catch {
      return nil
    }
  }
}

extension ManagementChannel {
  /// Lists the LE peers that any program has connected over an adapter (Get Connections). Nil without CAP_NET_ADMIN or without an answer.
  static func connections(of adapter: Int) -> Set<PeerAddress>? {
    ask(0x0015, adapter: UInt16(clamping: adapter)).flatMap { $0.status == 0 ? try? parseConnections($0.parameters) : nil }
  }

  static func parseConnections(_ parameters: [UInt8]) throws(MalformedPacket) -> Set<PeerAddress> {
    var reader = ByteReader(parameters)
    var peers: Set<PeerAddress> = []
    for _ in 0..<(try reader.uint16("number of connections")) { if let peer = try reader.managedPeer() { peers.insert(peer) } }
    return peers
  }

  /// Lists the numbers N of the adapters `hciN` of the kernel's own stack (Read Index List), which needs no capability.
  /// An adapter that is up but not in the list belongs to a program through the HCI user channel.
  /// - Returns: Nil if the kernel does not answer.
  static func indexes() -> Set<Int>? { ask(0x0003).flatMap { $0.status == 0 ? try? parseIndexes($0.parameters) : nil } }

  static func parseIndexes(_ parameters: [UInt8]) throws(MalformedPacket) -> Set<Int> {
    var reader = ByteReader(parameters)
    var indexes: Set<Int> = []
    for _ in 0..<(try reader.uint16("number of indexes")) { indexes.insert(Int(try reader.uint16("index"))) }
    return indexes
  }
}
