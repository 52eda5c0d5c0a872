import Bluetooth
import CBluetooth
import Glibc
import SystemPackage

/// The kernel's device discovery, which bluetoothd and others start over the management channel.
enum KernelDiscovery {
  private static let stopDiscovery: UInt16 = 0x0024
  private static let commandComplete: UInt16 = 0x0001
  private static let commandStatus: UInt16 = 0x0002
  private static let rejected: UInt8 = 0x0B
  private static let invalidParameters: UInt8 = 0x0D

  /// Nil when the kernel does not say: that takes CAP_NET_ADMIN.
  static func isActive(adapter: Int) -> Bool? {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      try SystemCall.bind(descriptor.rawValue, .hci(adapter: 0xFFFF, channel: HCI_CHANNEL_CONTROL))
      // No question for it exists. Stopping a discovery of no type at all stops nothing, and what is wrong with it is judged in this
      // order: no discovery is active (Rejected); it has another type (Invalid Parameters).
      var request = ByteWriter(capacity: 7)
      for field in [stopDiscovery, UInt16(clamping: adapter), 1] { request.uint16(field) }
      request.uint8(0)
      _ = try SystemCall.write(descriptor.rawValue, request.bytes[...])
      var buffer = [UInt8](repeating: 0, count: 512)
      // The answer is there when the request has been taken; what comes before it are events for everyone.
      for _ in 0..<64 {
        let count = try SystemCall.read(descriptor.rawValue, into: &buffer)
        if let status = try? status(Array(buffer[..<count])) { return isActive(status) }
      }
      return nil
    } catch {
      return nil
    }
  }

  static func isActive(_ status: UInt8) -> Bool? {
    switch status {
    case rejected: false
    case invalidParameters: true
    default: nil
    }
  }

  /// The status in the answer to Stop Discovery; nil for another event.
  static func status(_ packet: [UInt8]) throws(MalformedPacket) -> UInt8? {
    var reader = ByteReader(packet)
    let event = try reader.uint16("management event")
    _ = try reader.uint16("management index")
    _ = try reader.uint16("management length")
    guard event == commandComplete || event == commandStatus, try reader.uint16("management command") == stopDiscovery else { return nil }
    return try reader.uint8("management status")
  }

  /// Makes the kernel look whether it wants to scan for devices that it is to connect to: an attempt to connect to nobody (the random part
  /// of a static address is never all zeros), which is given up at once, makes it look twice.
  static func remindOfBackgroundScan(_ adapter: AdapterInfo) {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_SEQPACKET.rawValue), BTPROTO_L2CAP)
      try SystemCall.bind(descriptor.rawValue, .att(adapter.address, .public))
      try SystemCall.connect(descriptor.rawValue, .att(Address(rawValue: 0xC000_0000_0000), .random))
    } catch {
      // In progress, and over with the end of the descriptor; or it could not be, and then there is nothing to be done.
    }
  }
}
