// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

extension FileEntry {
  /// Checks a comment, which has no effect on the peripheral.
  func comment() throws(FileEntryError) { _ = try string() }
}

/// A reader of one peripheral's services. It reads the attributes first, and then the entries that refer to their handles.
struct PeripheralServices {
  typealias Database = AttributeDatabase

  private var services: [Database.ServiceDescription] = []
  private var entries: [FileEntry] = []
  /// The characteristics by service, in the order of the file.
  private var characteristics: [[(entry: FileEntry, fields: [String: FileEntry])]] = []
  private var descriptors: [[[FileEntry]]] = []
  private var includes: [[FileEntry]] = []
  private let name: String
  private let appearance: UInt16
  /// Whether the file lists all services, so that the reader adds none.
  private let isComplete: Bool
  /// The number of services that the reader adds before the services of the file.
  private var added = 0
  /// Whether the reader adds the Generic Access service, 1800.
  private(set) var addsAccess = false

  init(name: String, appearance: UInt16, isComplete: Bool) {
    (self.name, self.appearance, self.isComplete) = (name, appearance, isComplete)
  }

  // MARK: First pass

  mutating func add(_ entry: FileEntry) throws(FileEntryError) {
    let fields = try entry.object(["uuid", "primary", "handle", "end_handle", "includes", "characteristics", "comment"])
    try fields["comment"]?.comment()
    guard let uuid = fields["uuid"] else { throw entry.error("Missing key \"uuid\".") }
    var service = Database.ServiceDescription(try uuid.uuid())
    service.hasLongUUID = try Self.isLong(uuid)
    if let value = fields["primary"] { service.isPrimary = try value.bool() }
    service.handle = try fields["handle"]?.handle()
    service.endHandle = try fields["end_handle"]?.handle()
    var own: [(entry: FileEntry, fields: [String: FileEntry])] = []
    var ownDescriptors: [[FileEntry]] = []
    for item in try fields["characteristics"]?.list() ?? [] {
      let fields = try item.object(Self.characteristicKeys)
      let list = try fields["descriptors"]?.list() ?? []
      service.characteristics.append(try characteristic(item, fields, list))
      own.append((item, fields))
      ownDescriptors.append(list)
    }
    entries.append(entry)
    characteristics.append(own)
    descriptors.append(ownDescriptors)
    includes.append(try fields["includes"]?.list() ?? [])
    services.append(service)
  }

  /// Adds a service that the file does not describe, after all services of the file.
  mutating func add(_ service: Database.ServiceDescription) { services.append(service) }

  private static let characteristicKeys =
    [
      "uuid", "properties", "handle", "value_handle", "value", "permissions", "read_error", "write_error", "max_length", "descriptors",
      "comment",
    ] + BehaviourReader.keys

  private func characteristic(
    _ entry: FileEntry, _ fields: [String: FileEntry], _ descriptors: [FileEntry]
  ) throws(FileEntryError) -> Database.CharacteristicDescription {
    guard let uuid = fields["uuid"] else { throw entry.error("Missing key \"uuid\".") }
    guard let list = fields["properties"] else { throw entry.error("Missing key \"properties\".") }
    var properties: Properties = []
    for item in try list.list() {
      guard let property = Properties(name: try item.string()) else {
        throw item.error(
          "Unknown property \(DisplayText.quote(try item.string())). Use \(Properties(rawValue: 0xFF).names.joined(separator: ", ")).")
      }
      properties.formUnion(property)
    }
    var characteristic = Database.CharacteristicDescription(try uuid.uuid(), properties)
    characteristic.hasLongUUID = try Self.isLong(uuid)
    characteristic.handle = try fields["handle"]?.handle()
    characteristic.valueHandle = try fields["value_handle"]?.handle()
    characteristic.permissions = try fields["permissions"].map(permissions)
    characteristic.errors = try errors(fields)
    (characteristic.value, characteristic.maximumLength) = try value(fields)
    characteristic.leavesOutConfiguration = try fields["unasked"]?.bool() ?? false
    for item in descriptors { characteristic.descriptors.append(try descriptor(item)) }
    return characteristic
  }

  /// Whether a UUID stands in the file in full.
  private static func isLong(_ uuid: FileEntry) throws(FileEntryError) -> Bool { try uuid.string().utf8.count >= 32 }

  private func descriptor(_ entry: FileEntry) throws(FileEntryError) -> Database.DescriptorDescription {
    let fields = try entry.object(["uuid", "handle", "value", "permissions", "read_error", "write_error", "max_length", "comment"])
    guard let uuid = fields["uuid"] else { throw entry.error("Missing key \"uuid\".") }
    var descriptor = Database.DescriptorDescription(try uuid.uuid())
    descriptor.handle = try fields["handle"]?.handle()
    descriptor.permissions = try fields["permissions"].map(permissions)
    descriptor.errors = try errors(fields)
    if descriptor.uuid == .clientCharacteristicConfiguration, let value = fields["value"] ?? fields["max_length"] {
      throw value.error("Not allowed for 2902: each client has its own 2-byte value, initially 0000.")
    }
    (descriptor.value, descriptor.maximumLength) = try value(fields)
    return descriptor
  }

  private func value(_ fields: [String: FileEntry]) throws(FileEntryError) -> ([UInt8], Int) {
    let limit = try fields["max_length"]?.integer(0...Database.maximumValueLength) ?? Database.maximumValueLength
    return (try fields["value"]?.bytes(limit: limit) ?? [], limit)
  }

  /// Reads the errors that refuse access to an attribute, and checks its comment.
  private func errors(_ fields: [String: FileEntry]) throws(FileEntryError) -> Database.AccessErrors {
    func code(_ entry: FileEntry) throws(FileEntryError) -> ErrorCode { ErrorCode(rawValue: UInt8(clamping: try entry.integer(1...255))) }
    try fields["comment"]?.comment()
    return Database.AccessErrors(read: try fields["read_error"].map(code), write: try fields["write_error"].map(code))
  }

  private func permissions(_ entry: FileEntry) throws(FileEntryError) -> Database.Permissions {
    var permissions: Database.Permissions = []
    for item in try entry.list() {
      let text = try item.string()
      guard let found = Database.Permissions.names.first(where: { $0.name == text }) else {
        throw item.error(
          "Unknown permission \(DisplayText.quote(text)). Use \(Database.Permissions.names.map(\.name).joined(separator: ", ")).")
      }
      permissions.formUnion(found.permission)
    }
    return permissions
  }

  // MARK: Layout

  /// Adds the services 1800 and 1801 (Vol 3 Part C §12, Part G §7) unless the file describes them, and assigns handles.
  /// Omits a service if the first handle in the file leaves no room for the service. Real devices can lack these services too.
  mutating func database(_ peripheral: FileEntry) throws(FileEntryError) -> Database {
    var front: [Database.ServiceDescription] = []
    /// The number of free handles before the first service.
    var room = isComplete ? 0 : services.first?.handle.map { Int($0.rawValue) - 1 } ?? .max
    addsAccess = room >= 5 && !services.contains { $0.uuid == UUID(0x1800) }
    if addsAccess {
      room -= 5
      var access = Database.ServiceDescription(UUID(0x1800))
      var name = Database.CharacteristicDescription(UUID(0x2A00), .read)
      name.value = Array(self.name.utf8)
      var appearance = Database.CharacteristicDescription(UUID(0x2A01), .read)
      appearance.value = [UInt8(truncatingIfNeeded: self.appearance), UInt8(self.appearance >> 8)]
      access.characteristics = [name, appearance]
      front.append(access)
    }
    if room >= 4, !services.contains(where: { $0.uuid == UUID(0x1801) }) {
      var attribute = Database.ServiceDescription(UUID(0x1801))
      attribute.characteristics = [Database.CharacteristicDescription(UUID(0x2A05), .indicate)]
      front.append(attribute)
    }
    added = front.count
    for (index, list) in includes.enumerated() {
      for item in list { services[index].includes.append(try include(item, in: index)) }
    }
    do { return try Database(services: front + services) } catch { throw self.error(error, peripheral) }
  }

  /// Reads an include declaration: a UUID, or the handle of the included service and perhaps that of the declaration.
  private func include(_ item: FileEntry, in index: Int) throws(FileEntryError) -> Database.IncludeDescription {
    guard item.isObject else {
      let uuid = try item.uuid()
      guard let target = services.firstIndex(where: { $0.uuid == uuid }), target != index else {
        throw item.error("The peripheral has no other service \(uuid).")
      }
      return Database.IncludeDescription(added + target)
    }
    let fields = try item.object(["service", "handle"])
    guard let service = fields["service"] else { throw item.error("Missing key \"service\".") }
    let handle = try service.handle()
    guard let target = services.firstIndex(where: { $0.handle == handle }), target != index else {
      throw service.error("No other service of the peripheral has the \"handle\" \(handle).")
    }
    return Database.IncludeDescription(added + target, handle: try fields["handle"]?.handle())
  }

  private func error(_ invalid: Database.Invalid, _ peripheral: FileEntry) -> FileEntryError {
    let service = invalid.service - added
    var invalid = invalid
    // The file does not show services that were added.
    if service == 0, added > 0, invalid.reason.hasPrefix("Handle ") {
      let names = (addsAccess ? ["1800"] : []) + (addsAccess && added == 1 ? [] : ["1801"])
      invalid.reason +=
        " The simulator added service \(names.joined(separator: " and service ")) at the start: the file does not describe \(added == 1 ? "it" : "them")."
    }
    guard entries.indices.contains(service) else { return peripheral.error(invalid.reason) }
    guard let number = invalid.characteristic, characteristics[service].indices.contains(number) else {
      return entries[service].error(invalid.reason)
    }
    guard let descriptor = invalid.descriptor, descriptors[service][number].indices.contains(descriptor) else {
      return characteristics[service][number].entry.error(invalid.reason)
    }
    return descriptors[service][number][descriptor].error(invalid.reason)
  }

  // MARK: Second pass

  func table(_ database: Database) -> CharacteristicTable {
    var table = CharacteristicTable()
    for (service, list) in zip(services, zip(handles(database), characteristics)) {
      for (handle, item) in zip(list.0, list.1) {
        table.add(handle, service: service.uuid, database, isSink: item.fields["sink"] != nil)
      }
    }
    return table
  }

  func behaviours(
    _ database: Database, _ actions: ActionReader
  ) throws(FileEntryError) -> [AttributeHandle: PeripheralDescription.Behaviour] {
    var result: [AttributeHandle: PeripheralDescription.Behaviour] = [:]
    for (handles, list) in zip(handles(database), characteristics) {
      for (handle, item) in zip(handles, list) {
        if let behaviour = try BehaviourReader(actions: actions, own: handle).read(item.entry, item.fields) { result[handle] = behaviour }
      }
    }
    for (handles, list) in zip(handles(database), characteristics) {
      for (handle, item) in zip(handles, list) where result.values.contains(where: { $0.sink?.report == handle }) {
        if let value = item.fields["value"] { throw value.error("No effect: the characteristic holds the count of a sink.") }
      }
    }
    return result
  }

  /// Returns the characteristic value handles of each service in the file.
  private func handles(_ database: Database) -> [[AttributeHandle]] { Array(database.valueHandles.dropFirst(added)) }
}
