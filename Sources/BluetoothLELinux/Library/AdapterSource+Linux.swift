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
