import Bluetooth
import CBluetooth
import Glibc
import SystemPackage

/// The adapters that the kernel's own stack manages, from Read Index List on the management channel, which anyone may ask.
/// One that is up and not in it belongs to a program through the HCI user channel: no ioctl tells that, and commands sent to such an adapter
/// over a raw socket would disturb its owner.
enum ManagementIndexes {
  private static let readIndexList: UInt16 = 0x0003
  private static let commandComplete: UInt16 = 0x0001

  /// Nil when the kernel does not answer.
  static func read() -> Set<Int>? {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      let none: UInt16 = 0xFFFF
      try SystemCall.bind(descriptor.rawValue, .hci(adapter: none, channel: HCI_CHANNEL_CONTROL))
      var request = ByteWriter(capacity: 6)
      for field in [readIndexList, none, 0] { request.uint16(field) }
      _ = try SystemCall.write(descriptor.rawValue, request.bytes[...])
      // The answer is there when the request has been taken; what comes before it are events for everyone.
      var buffer = [UInt8](repeating: 0, count: 512)
      for _ in 0..<8 {
        let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
        if let indexes = try? parse(Array(buffer[..<count])) { return indexes }
      }
      return nil
    } catch {
      return nil
    }
  }

  /// - Returns: nil for another event.
  static func parse(_ packet: [UInt8]) throws(MalformedPacket) -> Set<Int>? {
    var reader = ByteReader(packet)
    let event = try reader.uint16("management event")
    _ = try reader.uint16("management index")
    _ = try reader.uint16("management length")
    guard event == commandComplete, try reader.uint16("management command") == readIndexList else { return nil }
    guard try reader.uint8("management status") == 0 else { return nil }
    var indexes: Set<Int> = []
    for _ in 0..<(try reader.uint16("number of indexes")) { indexes.insert(Int(try reader.uint16("index"))) }
    return indexes
  }
}
