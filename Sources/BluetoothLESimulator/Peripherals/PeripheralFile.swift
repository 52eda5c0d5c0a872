// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText

/// A parser for files that describe virtual peripherals in the format of blectl-peripheral(5).
package enum PeripheralFile {
  /// The maximum length of a file in bytes.
  package static let maximumLength = 4 << 20
  package static let maximumPeripherals = 64
  private static let maximumVariables = 256
  private static let maximumTimers = 64

  /// Reads one peripheral (an object) or several (a list of objects) from JSON with comments.
  /// - Parameter name: The name of the file for errors.
  package static func parse(_ bytes: [UInt8], name: String) throws(FileEntryError) -> [PeripheralDescription] {
    let root = try FileEntry(parsing: bytes, name: name, limit: maximumLength)
    let entries = root.isList ? try root.list() : [root]
    guard !entries.isEmpty else { throw root.error("The list has no peripherals.") }
    guard entries.count <= maximumPeripherals else {
      throw root.error("Too many peripherals: \(entries.count) (maximum \(maximumPeripherals)).")
    }
    var peripherals: [PeripheralDescription] = []
    for entry in entries { try add(entry, to: &peripherals) }
    return peripherals
  }

  private static func add(_ entry: FileEntry, to peripherals: inout [PeripheralDescription]) throws(FileEntryError) {
    for (entry, device) in try SimulatedDevice.entries(entry) {
      guard peripherals.count < maximumPeripherals else { throw entry.error("Too many peripherals (maximum \(maximumPeripherals)).") }
      let peripheral = try peripheral(entry, device)
      guard !peripherals.contains(where: { $0.address == peripheral.address }) else {
        throw entry.error("An earlier peripheral has the same address, \(peripheral.address).")
      }
      peripherals.append(peripheral)
    }
  }

  private static let keys = [
    "name", "address", "comment", "appearance", "complete", "connectable", "interval_ms", "rssi", "advertisement", "scan_response", "mtu",
    "data_length", "phys",
    "packets_per_event", "starts_after_ms", "failing_connections", "link", "firmware", "security", "variables", "timers", "on_connect",
    "on_disconnect", "update", "faults", "services",
  ]
  private static let simulatorKeys = ["rssi", "data_length", "phys", "packets_per_event", "failing_connections", "link", "firmware"]

  /// Reads one peripheral. If `device` is not nil, the peripheral answers the commands of that device file.
  private static func peripheral(_ entry: FileEntry, _ device: DeviceDescription?) throws(FileEntryError) -> PeripheralDescription {
    let fields = try entry.object(device == nil ? keys : keys + ["answers"])
    guard let nameEntry = fields["name"] else { throw entry.error("Missing key \"name\".") }
    guard let addressEntry = fields["address"] else { throw entry.error("Missing key \"address\".") }
    let name = try nameEntry.string()
    try fields["comment"]?.comment()
    guard name.utf8.count <= 248 else { throw nameEntry.error("The name is too long: \(name.utf8.count) bytes (maximum 248).") }
    let appearance = UInt16(clamping: try fields["appearance"]?.integer(0...0xFFFF) ?? 0)

    var services = PeripheralServices(
      name: name, appearance: appearance, isComplete: try fields["complete"]?.bool() ?? false)
    for service in try fields["services"]?.list() ?? [] { try services.add(service) }
    let update = try fields["update"].map { value throws(FileEntryError) in try UpdateReader.read(value) }
    if let service = update?.service { services.add(service) }
    let database = try services.database(entry)
    // A file may repeat the value of its own 2a01.
    let own = database.attributes.first { $0.type == UUID(0x2A01) }?.value
    if let value = fields["appearance"], !services.addsAccess, own != [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)] {
      throw value.error(
        "No effect: the file describes service 1800, is complete, or leaves no handles for it. Set the value of its 2a01 instead.")
    }
    var peripheral = PeripheralDescription(name: name, address: try address(addressEntry), database: database)
    var names = PeripheralNames()
    if let value = fields["variables"] { (names.variables, peripheral.variables) = try variables(value) }
    names.characteristics = services.table(database)
    names.device = device
    names.hasFirmware = fields["firmware"] != nil
    let timers = try fields["timers"]?.namedMembers(limit: maximumTimers) ?? []
    for (index, timer) in timers.enumerated() { names.timers[timer.key] = index }
    let actions = ActionReader(expressions: ExpressionReader(names: names))
    for timer in timers { peripheral.timers.append(try actions.timer(timer.entry)) }
    if let value = fields["on_connect"] { peripheral.onConnect = try actions.list(value) }
    if let value = fields["on_disconnect"] { peripheral.onDisconnect = try actions.list(value) }
    peripheral.behaviours = try services.behaviours(database, actions)
    if let value = fields["answers"] { try SimulatedDevice.add(value, names, to: &peripheral.behaviours) }

    if let value = fields["connectable"] { peripheral.advertising.isConnectable = try value.bool() }
    if let value = fields["interval_ms"] { peripheral.advertising.interval = try value.milliseconds(20...10_240) }
    if let value = fields["rssi"] { peripheral.advertising.rssi = Int8(clamping: try value.integer(-127...20)) }
    let advertisements = AdvertisementReader(expressions: actions.expressions)
    if let value = fields["advertisement"] {
      (peripheral.advertising.data, peripheral.advertisement) = try advertisements.data(value)
    }
    if let value = fields["scan_response"] {
      (peripheral.advertising.scanResponse, peripheral.scanResponse) = try advertisements.data(value)
    }
    if let value = fields["security"] { peripheral.security = try SecurityReader.read(value) }
    if let value = fields["faults"] { peripheral.faults = try faults(value, database) }
    if let value = fields["mtu"] { peripheral.mtu = try value.integer(23...517) }
    if let value = fields["data_length"] { peripheral.linkLimits.dataLength = try value.integer(27...251) }
    if let value = fields["phys"] { peripheral.linkLimits.phys = try phys(value) }
    if let value = fields["starts_after_ms"] { peripheral.advertising.startsAfter = try value.milliseconds(0...86_400_000) }
    if let value = fields["failing_connections"] { peripheral.linkLimits.failingConnections = try value.integer(0...255) }
    if let value = fields["packets_per_event"] { peripheral.linkLimits.packetsPerEvent = try value.integer(1...255) }
    if let value = fields["firmware"] { peripheral.linkLimits.firmware = try LinkReader.firmware(value) }
    if let value = fields["link"] { try LinkReader.read(value, into: &peripheral.linkLimits) }
    peripheral.update = update
    peripheral.simulatorKeys = simulatorKeys.filter { fields[$0] != nil }
    // Such a bootloader has the next address.
    if (update as? BootloaderSettings)?.buttonless == .noBonds { peripheral.simulatorKeys.append("update.dfu.buttonless") }
    return peripheral
  }

  /// Reads lines that begin with `fault`.
  private static func faults(_ entry: FileEntry, _ database: AttributeDatabase) throws(FileEntryError) -> [PeripheralLine.Fault] {
    var (faults, plan): ([PeripheralLine.Fault], FaultPlan) = ([], FaultPlan())
    for item in try entry.bounded() {
      let text = try item.string()
      let line: PeripheralLine?
      do { line = try PeripheralLineParser.parse(text) } catch let error as PeripheralLineError { throw item.error("\(error)") } catch {
        throw item.error("Close the quotation mark, and use one line.")
      }
      guard case .fault(let fault)? = line, fault != .off else { throw item.error("Use a line such as \"fault ffe1 error 0x0e\".") }
      do { try plan.add(fault, database) } catch let error as PeripheralLineError { throw item.error("\(error)") } catch {
        throw item.error("Not exactly one attribute matches in \(DisplayText.quote(text)).")
      }
      faults.append(fault)
    }
    return faults
  }

  /// Reads the names and the initial values of a peripheral's variables.
  private static func variables(
    _ entry: FileEntry
  ) throws(FileEntryError) -> ([String: PeripheralNames.Variable], [PeripheralState.Value]) {
    var names: [String: PeripheralNames.Variable] = [:]
    var values: [PeripheralState.Value] = []
    for (name, value) in try entry.namedMembers(limit: maximumVariables) {
      names[name] = .init(index: values.count, isNumber: value.isNumber)
      values.append(
        value.isNumber
          ? .number(Int64(try value.integer(Int.min...Int.max))) : .bytes(try value.bytes(limit: AttributeDatabase.maximumValueLength)))
    }
    return (names, values)
  }

  private static func address(_ entry: FileEntry) throws(FileEntryError) -> PeerAddress {
    let text = try entry.string()
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let address = Address(parts[0]), let type = AddressType(rawValue: String(parts[1])) else {
      throw entry.error(
        "Invalid address \(DisplayText.quote(text)). Include its type: D1:00:00:00:00:01/random or A4:C1:38:00:11:22/public.")
    }
    return PeerAddress(address, type)
  }

  private static func phys(_ entry: FileEntry) throws(FileEntryError) -> Set<PHY> {
    var phys: Set<PHY> = []
    for item in try entry.list() {
      guard let phy = PHY(name: try item.string()) else { throw item.error("Unknown PHY. Use 1m, 2m or coded.") }
      phys.insert(phy)
    }
    guard phys.contains(.le1M) else { throw entry.error("Add 1m, which every device supports.") }
    return phys
  }
}
