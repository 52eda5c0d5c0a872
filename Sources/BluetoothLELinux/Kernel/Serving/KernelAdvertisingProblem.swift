package import SystemPackage

/// The reason why the kernel cannot serve as the peripheral that the caller described.
package enum KernelAdvertisingProblem: Error, Sendable, Equatable {
  /// bluetoothd runs. Both programs could listen, and either could get a link.
  case bluetoothdRuns(adapter: String)
  /// Another process of blectl serves on the adapter. It locks the file.
  case servesAlready(adapter: String, _ file: String)
  /// The process lacks CAP_NET_ADMIN.
  case notPermitted(adapter: String)
  /// The data has `count` bytes, but the kernel sends only `limit` as they are. It puts Flags in front of data without Flags.
  case dataTooLong(adapter: String, count: Int, limit: Int, lacksFlags: Bool)
  /// The adapter's setting makes every advertisement connectable.
  case alwaysConnectable(adapter: String)
  /// Other programs have all advertising instances of the adapter.
  case noFreeInstance(adapter: String, instances: Int)
  /// The kernel refused the management command with a status of the management channel.
  case refused(adapter: String, command: UInt16, status: UInt8)
  /// The kernel does not listen on the ATT channel.
  case cannotListen(adapter: String, Errno)
}
