/// The reason why bluetoothd cannot pair, or cannot tell its bonds.
package enum BluetoothDaemonProblem: Error, Sendable, Equatable {
  /// libdbus-1 is missing, or the program is static and cannot open it.
  case noLibrary
  /// The message bus or bluetoothd does not answer, or bluetoothd does not know the device.
  case silent
  /// bluetoothd, the message bus or polkit answered the method with an error.
  case refused(String, name: String, text: String)
  /// bluetoothd has a bond with the device, and does not pair again.
  case isPaired(PeerAddress)

  /// Whether the user may not call the method.
  package var isForbidden: Bool {
    if case .refused(_, let name, _) = self { name.hasSuffix(".AccessDenied") || name.hasSuffix(".NotAuthorized") } else { false }
  }
}

/// A connection to bluetoothd, which keeps the keys of all programs that pair through it.
@LoopActor
package final class BluetoothDaemon {
  /// A device that bluetoothd knows.
  package struct Device: Equatable, Sendable {
    /// The path of the device's object.
    let path: String
    /// The identity address, or the address of the link before a pairing.
    package let peer: PeerAddress
    package let name: String?
    package let isPaired: Bool
    /// The path of the adapter's object, such as `/org/bluez/hci0`.
    let adapterPath: String
    /// The identity address of the adapter.
    package let adapter: PeerAddress
  }

  package nonisolated static var isRunning: Bool { RunningProgram.all().contains(where: isDaemon) }

  /// Whether a process is bluetoothd, which runs as root.
  package nonisolated static func isDaemon(_ program: RunningProgram) -> Bool { program.isService("bluetoothd", user: program.user) }

  let bus: any MessageBus

  /// Connects to bluetoothd, without starting it.
  /// - Throws: BluetoothDaemonProblem, CancellationError.
  package convenience init() async throws { try await self.init(SystemBus()) }

  init(_ bus: any MessageBus) async throws {
    self.bus = bus
    do {
      try await call("org.freedesktop.DBus.Hello")
      bus.partner = try await call("org.freedesktop.DBus.GetNameOwner", [.text("org.bluez")]).first?.text ?? ""
    } catch {
      bus.close()
      // The name has no owner.
      if case BluetoothDaemonProblem.refused = error { throw BluetoothDaemonProblem.silent }
      throw error
    }
  }

  package func close() { bus.close() }

  /// Calls a method of the bus, or of the object of bluetoothd with a path.
  /// - Throws: BluetoothDaemonProblem, CancellationError.
  @discardableResult
  func call(
    _ method: String, at path: String = "/org/freedesktop/DBus", _ arguments: [BusValue] = [], limit: Duration = .seconds(10)
  ) async throws -> [BusValue] {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    guard let values = try await withDeadline(deadline, { try await self.bus.call(method, at: path, arguments) }) else {
      throw BluetoothDaemonProblem.silent
    }
    return values
  }

  /// Lists the devices of all adapters, sorted by path.
  package func devices() async throws -> [Device] {
    let tree = try await call("org.freedesktop.DBus.ObjectManager.GetManagedObjects", at: "/").first ?? .list([])
    return tree.entries.compactMap { path, interfaces -> Device? in
      guard let device = interfaces["org.bluez.Device1"], let peer = Self.address(device), let adapterPath = device["Adapter"]?.text,
        let adapter = tree[adapterPath]?["org.bluez.Adapter1"].flatMap(Self.address)
      else { return nil }
      return Device(
        path: path, peer: peer, name: device["Name"]?.text, isPaired: device["Paired"] == .number(1), adapterPath: adapterPath,
        adapter: adapter)
    }.sorted { $0.path < $1.path }
  }

  private static func address(_ object: BusValue) -> PeerAddress? {
    guard let address = Address(object["Address"]?.text ?? "") else { return nil }
    return PeerAddress(address, AddressType(rawValue: object["AddressType"]?.text ?? "") ?? .public)
  }

  /// Returns the device with an address on an adapter, such as `hci0`.
  func device(_ peer: PeerAddress, on adapter: String) async throws -> Device? {
    try await devices().first { $0.peer == peer && $0.adapterPath == "/org/bluez/\(adapter)" }
  }

  /// Removes a device and its keys, and ends its connection.
  package func forget(_ device: Device) async throws {
    try await call("org.bluez.Adapter1.RemoveDevice", at: device.adapterPath, [.path(device.path)])
  }
}
