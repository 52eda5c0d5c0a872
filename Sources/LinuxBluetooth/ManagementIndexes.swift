import Bluetooth

/// Lists the adapters of the kernel's own stack with Read Index List on the management channel, which any user may request.
/// An adapter that is up but not listed belongs to a program through the HCI user channel. No ioctl reports that, and commands
/// over a raw socket would disturb its owner.
enum ManagementIndexes {
  private static let readIndexList: UInt16 = 0x0003

  /// Returns the numbers N of the adapters `hciN`. Nil if the kernel does not answer.
  static func read() -> Set<Int>? { ManagementChannel.ask(readIndexList).flatMap { $0.status == 0 ? try? parse($0.parameters) : nil } }

  static func parse(_ parameters: [UInt8]) throws(MalformedPacket) -> Set<Int> {
    var reader = ByteReader(parameters)
    var indexes: Set<Int> = []
    for _ in 0..<(try reader.uint16("number of indexes")) { indexes.insert(Int(try reader.uint16("index"))) }
    return indexes
  }
}
