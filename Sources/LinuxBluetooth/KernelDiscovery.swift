import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// The kernel's device discovery, which bluetoothd and other programs start over the management channel.
enum KernelDiscovery {
  private static let stopDiscovery: UInt16 = 0x0024
  private static let rejected: UInt8 = 0x0B
  private static let invalidParameters: UInt8 = 0x0D

  /// Returns whether a discovery is active. Nil without CAP_NET_ADMIN, because the kernel then does not answer.
  static func isActive(adapter: Int) -> Bool? {
    // No command asks for it. Stop Discovery with no type stops nothing, and its error tells: Rejected if no discovery is active,
    // otherwise Invalid Parameters because the type differs.
    ManagementChannel.ask(stopDiscovery, adapter: UInt16(clamping: adapter), [0]).flatMap { isActive($0.status) }
  }

  static func isActive(_ status: UInt8) -> Bool? {
    switch status {
    case rejected: false
    case invalidParameters: true
    default: nil
    }
  }

  /// Makes the kernel check whether it needs a background scan for devices to connect to. Starts and cancels a connection attempt to an
  /// impossible static address (its random part is never all zeros), which makes the kernel check twice.
  static func remindOfBackgroundScan(_ adapter: AdapterInfo) {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_SEQPACKET.rawValue), BTPROTO_L2CAP)
      try SystemCall.bind(descriptor.rawValue, .att(adapter.address, .public))
      try SystemCall.connect(descriptor.rawValue, .att(Address(rawValue: 0xC000_0000_0000), .random))
    } catch {
      // EINPROGRESS: closing the descriptor cancels the attempt. There is nothing to do about other errors.
    }
  }
}
