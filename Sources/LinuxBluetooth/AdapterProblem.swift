import Bluetooth
import Glibc
import LinuxIO
import SystemPackage

/// Why an adapter cannot be used, and what to do about it.
enum AdapterProblem: Equatable {
  /// socket(AF_BLUETOOTH) fails: the kernel is built without Bluetooth, or this is a container or WSL.
  case kernelWithoutBluetooth
  case none(platformBlock: Bool)
  case unknown(String, others: [String])
  case down(String)
  case blocked(String, hard: Bool)
  case withoutLE(String)
  /// - Parameter purpose: "scanning", "changing the connection".
  case notPermitted(String, purpose: String, executable: String)
  /// Someone has the HCI user channel.
  case taken(String)
  /// The user channel is wanted and the kernel's stack uses the adapter.
  case inUse(String)
  case unplugged(String)
  case unreachable
  case other(String, doing: String, Errno)

  var error: BluetoothError {
    switch self {
    case .kernelWithoutBluetooth:
      make(
        "this kernel has no Bluetooth (AF_BLUETOOTH is not supported: a container, WSL, or a kernel without it); "
          + "use the simulated air with -i sim, or a controller behind tcp:, unix: or serial:", .addressFamilyNotSupported)
    case .none(let platformBlock):
      make(
        platformBlock
          ? "no Bluetooth adapter is there, and rfkill blocks Bluetooth: try `rfkill unblock bluetooth`"
          : "no Bluetooth adapter is there: plug one in (`lsusb` and `dmesg` show whether the kernel sees it), or use -i sim",
        .operationNotSupportedByDevice)
    case .unknown(let name, let others):
      make(
        "there is no adapter \(name)"
          + (others.isEmpty ? "; `blectl adapters` lists those that there are" : "; there is \(others.joined(separator: ", "))"),
        .operationNotSupportedByDevice)
    case .down(let name):
      make("\(name) is down: switch it on with `sudo hciconfig \(name) up` or `bluetoothctl power on`", .networkDown)
    case .blocked(let name, let hard):
      make(
        hard
          ? "\(name) is blocked by a hardware switch or the firmware: look for a switch or key on the machine (`rfkill list` shows it)"
          : "\(name) is blocked: switch it on with `rfkill unblock bluetooth`", .blockedByRFKill)
    case .withoutLE(let name): make("\(name) cannot do Bluetooth LE; choose another adapter with -i", .notSupportedOnSocket)
    case .notPermitted(let name, let purpose, let executable):
      make(
        "\(purpose) on \(name) needs the capability CAP_NET_RAW (CAP_NET_ADMIN too for user:N); give it to the program once: "
          + "sudo setcap cap_net_raw,cap_net_admin+eip \(Self.quoted(executable))", .notPermitted)
    case .taken(let name):
      make("another program owns \(name) through its HCI user channel; end that program first (`sudo btmon` shows it)", .tooManyUsers)
    case .inUse(let name):
      make(
        "\(name) is in use by the kernel's Bluetooth stack, so its user channel is closed: take it down first with "
          + "`sudo hciconfig \(name) down` (and stop bluetoothd if it brings it up again)", .resourceBusy)
    case .unplugged(let name): make("\(name) is gone: it was unplugged or reset", .operationNotSupportedByDevice)
    case .unreachable:
      make("no adapter that is up can reach the peer (EHOSTUNREACH); see `blectl adapters`", .noRouteToHost)
    case .other(let name, let doing, let error): make("\(doing) on \(name) failed: \(error.words)", error)
    }
  }

  private func make(_ message: String, _ error: Errno) -> BluetoothError {
    BluetoothError(.adapter, message, code: Int(error.rawValue), name: error.snakeName)
  }

  /// What a raw HCI socket's errno means.
  /// - Parameter purpose: as in `notPermitted`.
  static func of(_ error: Errno, adapter name: String, purpose: String) -> Self {
    switch error {
    case .addressFamilyNotSupported, .protocolNotSupported: .kernelWithoutBluetooth
    case .notPermitted, .permissionDenied: .notPermitted(name, purpose: purpose, executable: executable)
    case .networkDown: .down(name)
    case .operationNotSupportedByDevice: .unknown(name, others: [])
    case .blockedByRFKill: .blocked(name, hard: false)
    case .tooManyUsers: .taken(name)
    case .brokenPipe, .badDescriptorState: .unplugged(name)
    default: .other(name, doing: purpose, error)
    }
  }

  /// Of this process, with links resolved: what setcap must be given.
  static var executable: String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
      guard let base = bytes.baseAddress else { return -1 }
      return unsafe readlink("/proc/self/exe", base.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : "blectl"
  }

  /// As a shell takes it.
  static func quoted(_ path: String) -> String {
    let plain = path.utf8.allSatisfy { ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || (0x2B...0x39).contains($0) || $0 == 0x5F || $0 >= 0x80 }
    return plain ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
