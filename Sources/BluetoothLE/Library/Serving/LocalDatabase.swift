// SPDX-License-Identifier: Apache-2.0
/// The attributes of a `LocalDevice`, and where its characteristics are.
struct LocalDatabase {
  private(set) var attributes: AttributeDatabase
  /// The characteristics by the handles of their values, without those that the library adds.
  private(set) var characteristics: [AttributeHandle: LocalDevice.Characteristic] = [:]
  private var handles: [LocalDevice.Characteristic: AttributeHandle] = [:]

  /// - Throws: BluetoothError with the reason `invalidArgument`.
  init(_ device: LocalDevice) throws {
    let own = try device.services.map { service in
      var description = AttributeDatabase.ServiceDescription(try Self.uuid(service.uuid))
      description.isPrimary = service.isPrimary
      description.characteristics = try service.characteristics.map { try Self.description(of: $0) }
      return description
    }
    let added = Self.generic(device).filter { one in !own.contains { $0.uuid == one.uuid } }
    do throws(AttributeDatabase.Invalid) { attributes = try AttributeDatabase(services: added + own) } catch {
      let place = added.count <= error.service ? device.services[error.service - added.count] : nil
      let name = error.characteristic.flatMap { place?.characteristics[$0].type.description } ?? place?.uuid ?? device.name
      throw BluetoothError(.invalidArgument, "Cannot serve \(name): \(error.reason)", nil)
    }
    attributes.updateHash()
    for (service, found) in zip(device.services, attributes.valueHandles.dropFirst(added.count)) {
      for (item, handle) in zip(service.characteristics, found) {
        guard handles.updateValue(handle, forKey: item) == nil else {
          throw BluetoothError(.invalidArgument, "Cannot serve \(item) twice. Create another characteristic of that type.", nil)
        }
        characteristics[handle] = item
      }
    }
  }

  /// The handle of a characteristic's value.
  /// - Throws: BluetoothError with the reason `notFound`.
  func handle(of item: LocalDevice.Characteristic) throws -> AttributeHandle {
    guard let handle = handles[item] else { throw BluetoothError(.notFound, "The device does not have this characteristic \(item).", nil) }
    return handle
  }

  /// Takes the present values of the characteristics that an earlier database has, too.
  /// - Returns: The handle in this database for each of them, and for Service Changed, by their earlier handles.
  mutating func take(_ values: AttributeDatabase, of earlier: LocalDatabase) -> [AttributeHandle: AttributeHandle] {
    var moved: [AttributeHandle: AttributeHandle] = [:]
    for (item, handle) in handles {
      guard let before = earlier.handles[item], let value = values[before]?.value else { continue }
      moved[before] = handle
      attributes.setValue(value, of: handle)
    }
    let serviceChanged = [values, attributes].map { $0.attributes.first { $0.type == .serviceChanged }?.handle }
    if let before = serviceChanged[0], let now = serviceChanged[1] { moved[before] = now }
    return moved
  }

  /// - Throws: BluetoothError with the reason `invalidArgument`.
  static func uuid(_ text: String) throws -> UUID {
    guard let uuid = UUID(text) ?? AssignedNumbers.uuid(named: text) else {
      throw BluetoothError(.invalidArgument, "\"\(text)\" is neither a UUID nor an assigned name.", nil)
    }
    return uuid
  }

  /// The services that each device has (Vol 3 Part C §12, Part G §7).
  private static func generic(_ device: LocalDevice) -> [AttributeDatabase.ServiceDescription] {
    var name = AttributeDatabase.CharacteristicDescription(UUID(0x2A00), .read)
    name.value = Array(device.name.utf8)
    var appearance = AttributeDatabase.CharacteristicDescription(UUID(0x2A01), .read)
    appearance.value = [UInt8(truncatingIfNeeded: device.appearance), UInt8(device.appearance >> 8)]
    let changes = [
      AttributeDatabase.CharacteristicDescription(.serviceChanged, .indicate),
      AttributeDatabase.CharacteristicDescription(.databaseHash, .read),
    ]
    return [.init(UUID(0x1800), [name, appearance]), .init(UUID(0x1801), changes)]
  }

  private static func description(of item: LocalDevice.Characteristic) throws -> AttributeDatabase.CharacteristicDescription {
    let properties = Properties(rawValue: item.properties.rawValue)
    var description = AttributeDatabase.CharacteristicDescription(try uuid(item.type.description), properties)
    let (read, write): (AttributeDatabase.Permissions, AttributeDatabase.Permissions) =
      switch item.security {
      case .unencrypted: ([], [])
      case .encrypted: (.readEncrypted, .writeEncrypted)
      case .authenticated: (.readAuthenticated, .writeAuthenticated)
      case .secureConnections:
        throw BluetoothError(.invalidArgument, "Cannot serve \(item): a characteristic demands at most the level authenticated.", nil)
      }
    description.permissions = AttributeDatabase.Permissions(properties).union([read, write])
    (description.value, description.maximumLength) = (item.value, item.maximumLength)
    description.descriptors = try item.descriptors.map {
      var descriptor = AttributeDatabase.DescriptorDescription(try uuid($0.type.description))
      descriptor.value = $0.value
      descriptor.permissions = [.read, read]
      return descriptor
    }
    if !properties.isDisjoint(with: [.notify, .indicate]) {
      var configuration = AttributeDatabase.DescriptorDescription(.clientCharacteristicConfiguration)
      configuration.permissions = [.read, .write, write]
      description.descriptors.insert(configuration, at: 0)
    }
    return description
  }
}
