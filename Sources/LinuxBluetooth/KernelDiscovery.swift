import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// The kernel's device discovery, which bluetoothd and others start over the management channel.
enum KernelDiscovery {
  private static let stopDiscovery: UInt16 = 0x0024
  private static let rejected: UInt8 = 0x0B
  private static let invalidParameters: UInt8 = 0x0D

  /// Returns whether a discovery is active. Nil without CAP_NET_ADMIN, where the kernel does not answer.
  static func isActive(adapter: Int) -> Bool? {
    // No question for it exists. Stopping a discovery of no type at all stops nothing, and what is wrong with it is judged in this
    // order: no discovery is active (Rejected); it has another type (Invalid Parameters).
    ManagementChannel.ask(stopDiscovery, adapter: UInt16(clamping: adapter), [0]).flatMap { isActive($0.status) }
  }

  static func isActive(_ status: UInt8) -> Bool? {
    switch status {
    case rejected: false
    case invalidParameters: true
    default: nil
    }
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
