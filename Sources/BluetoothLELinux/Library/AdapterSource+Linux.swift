public import BluetoothLE

extension AdapterSource {
  /// The first adapter of this machine that is up, through the kernel's Bluetooth stack. The program needs CAP_NET_RAW.
  ///
  /// `Adapter.open` throws `BluetoothError.Reason.adapter` with advice if there is none, or if the program has no permission.
  public static let `default` = AdapterSource("the first adapter") { _ in try await KernelCentral.open(adapter: nil) }

  /// Returns an adapter of this machine, through the kernel's Bluetooth stack. The program needs CAP_NET_RAW.
  /// - Parameter index: The number N of `hciN`, from 0.
  public static func hci(_ index: Int) -> AdapterSource {
    AdapterSource("hci\(index)") { _ in try await KernelCentral.open(adapter: index) }
  }

  /// Returns an adapter of this machine with the library's own host, through the kernel's HCI user channel.
  ///
  /// The adapter must be down, and no other program may use it at the same time. The program needs CAP_NET_RAW and CAP_NET_ADMIN.
  /// - Parameter index: The number N of `hciN`, from 0.
  public static func userChannel(_ index: Int) -> AdapterSource {
    AdapterSource("user:\(index)") { _ in try await HostCentral.started(UserChannel.open(index), name: "user:\(index)") }
  }
}

extension AdapterProblem: DescribedError {
  package var kind: BluetoothError.Reason { .adapter }

  package var sentence: String {
    switch self {
    case .kernelWithoutBluetooth: "This kernel has no Bluetooth (AF_BLUETOOTH): it may be that of a container or of WSL."
    case .none(let block):
      block == nil ? "This machine has no Bluetooth adapter." : "No Bluetooth adapter found: an rfkill switch blocks it."
    case .unknown(let name, let others):
      "No adapter \(name)." + (others.isEmpty ? "" : " Found: \(others.joined(separator: ", ")).")
    case .down(let name): "\(name) is down. Run: bluetoothctl power on"
    case .blocked(let name, _): "An rfkill switch blocks \(name). Run: rfkill unblock bluetooth"
    case .withoutLE(let name): "\(name) has no Bluetooth LE."
    case .leDisabled(let name): "Bluetooth LE is off on \(name). Run: sudo btmgmt -i \(name) le on"
    case .notPermitted(let name, _): "\(name) needs CAP_NET_RAW, and its user channel also CAP_NET_ADMIN: see setcap(8)."
    case .taken(let name): "Another program owns the HCI user channel of \(name)."
    case .inUse(let name): "The kernel's Bluetooth stack uses \(name). Run: sudo hciconfig \(name) down"
    case .unplugged(let name): "\(name) was unplugged or reset."
    case .silent(let name, let opcode, let limit): "\(name) did not answer \(opcode) within \(limit.inSeconds) s."
    case .other(let name, _, let errno): "\(name) failed: \(errno)."
    }
  }
}
