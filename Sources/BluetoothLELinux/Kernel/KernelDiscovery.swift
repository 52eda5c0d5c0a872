import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// The kernel's device discovery, which bluetoothd and other programs start over the management channel. Tests replace the functions.
struct KernelDiscovery {
  /// Whether a discovery is active. Nil without CAP_NET_ADMIN, because the kernel then does not answer.
  var isActive: (AdapterInfo) -> Bool? = { Self.isActive(adapter: $0.index) }
  /// Ends the discovery. Returns whether no discovery is active now: false without CAP_NET_ADMIN.
  var end: (AdapterInfo) -> Bool = { Self.end(adapter: $0.index) }
  /// Makes the kernel check whether it needs a background scan for devices to connect to.
  var remindOfBackgroundScan: (AdapterInfo) -> Void = { Self.remindOfBackgroundScan($0) }

  private static let stopDiscovery: UInt16 = 0x0024
  private static let rejected: UInt8 = 0x0B
  private static let invalidParameters: UInt8 = 0x0D

  private static func isActive(adapter: Int) -> Bool? {
    // No command asks for it, but the status of Stop Discovery without a type tells. Rejected: no discovery is active. Invalid Parameters:
    // a program started one, with a type. Success: an earlier scan left one, which this command ended.
    ManagementChannel.ask(stopDiscovery, adapter: UInt16(clamping: adapter), [0]).flatMap { isActive($0.status) }
  }

  /// Ends any discovery. Since 6.10.4, Linux also sees a discovery in an active scan over a raw HCI socket, even after the end of that scan
  /// (DISCOVERY_FINDING in le_set_scan_enable_complete). Until that discovery ends, the kernel does not scan for devices to connect to.
  private static func end(adapter: Int) -> Bool {
    // The kernel compares the type with that of the last discovery of a program: none, LE, LE and BR/EDR, BR/EDR.
    for type: UInt8 in [0, 6, 7, 1] {
      guard let status = ManagementChannel.ask(stopDiscovery, adapter: UInt16(clamping: adapter), [type])?.status else { return false }
      if status != invalidParameters { return status == 0 || status == rejected }
    }
    return false
  }

  static func isActive(_ status: UInt8) -> Bool? {
    switch status {
    case 0, rejected: false
    case invalidParameters: true
    default: nil
    }
  }

  /// Starts and cancels a connection attempt to an impossible static address, whose random part is all zeros.
  private static func remindOfBackgroundScan(_ adapter: AdapterInfo) {
    do throws(Errno) {
      let descriptor = try SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)
      try SystemCall.bind(descriptor.rawValue, .att(adapter.address, .public))
      try SystemCall.connect(descriptor.rawValue, .att(Address(rawValue: 0xC000_0000_0000), .random))
    } catch {
      // EINPROGRESS: closing the descriptor cancels the attempt. There is nothing to do about other errors.
    }
  }
}
