// SPDX-License-Identifier: Apache-2.0
extension AttributeDatabase {
  /// A service to add to a database. A nil `handle` means the next free handle.
  package struct ServiceDescription: Sendable {
    package var uuid: UUID
    package var isPrimary = true
    /// Whether the declaration has all 16 bytes of the UUID, even if it has a 16-bit form.
    package var hasLongUUID = false
    package var handle: AttributeHandle?
    /// The last handle of the service. Nil means the handle of its last attribute.
    package var endHandle: AttributeHandle?
    /// The include declarations, in the order of their handles.
    package var includes: [IncludeDescription] = []
    package var characteristics: [CharacteristicDescription]

    package init(_ uuid: UUID, _ characteristics: [CharacteristicDescription] = []) {
      (self.uuid, self.characteristics) = (uuid, characteristics)
    }
  }

  package struct IncludeDescription: Sendable {
    /// The included service, as a zero-based index into the list of services.
    package var service: Int
    /// The handle of the include declaration. Nil means the next free handle.
    package var handle: AttributeHandle?

    package init(_ service: Int, handle: AttributeHandle? = nil) { (self.service, self.handle) = (service, handle) }
  }

  package struct CharacteristicDescription: Sendable {
    package var uuid: UUID
    package var properties: Properties
    /// Whether the declaration has all 16 bytes of the UUID, even if it has a 16-bit form. Find Information tells the short form.
    package var hasLongUUID = false
    /// The handle of the declaration. Nil means the next free handle.
    package var handle: AttributeHandle?
    /// The handle of the value. Nil means the handle after the declaration.
    package var valueHandle: AttributeHandle?
    package var value: [UInt8] = []
    /// The access permissions. Nil derives them from the properties.
    package var permissions: Permissions?
    package var maximumLength = AttributeDatabase.maximumValueLength
    /// The descriptors. The layout inserts a missing CCCD if the properties need one, unless `leavesOutConfiguration` is true.
    package var descriptors: [DescriptorDescription] = []
    package var leavesOutConfiguration = false
    package var errors = AccessErrors()

    package init(_ uuid: UUID, _ properties: Properties) { (self.uuid, self.properties) = (uuid, properties) }
  }

  package struct DescriptorDescription: Sendable {
    package var uuid: UUID
    package var handle: AttributeHandle?
    package var value: [UInt8] = []
    /// The access permissions. Nil means `.read`, and also `.write` for a Client Characteristic Configuration.
    package var permissions: Permissions?
    package var maximumLength = AttributeDatabase.maximumValueLength
    package var errors = AccessErrors()

    package init(_ uuid: UUID) { self.uuid = uuid }
  }

  /// The errors that refuse reads and writes of one attribute, see `Attribute.readError`.
  package struct AccessErrors: Sendable {
    package var read: ErrorCode?
    package var write: ErrorCode?

    package init(read: ErrorCode? = nil, write: ErrorCode? = nil) { (self.read, self.write) = (read, write) }
  }

  /// Lays out services, characteristics and descriptors (Vol 3 Part G §3) and assigns handles.
  /// - Throws: `Invalid` for duplicate or descending handles, more than 65,535 attributes, values that are too long, a CCCD without the
  ///   notify or indicate property, or only one of a characteristic's extended properties flag and extended properties descriptor.
  package init(services: [ServiceDescription]) throws(Invalid) {
    var layout = Layout()
    for (index, service) in services.enumerated() {
      layout.entry = Invalid(service: index, reason: "")
      try layout.add(service)
    }
    try self.init(attributes: try layout.attributes(services))
  }

  /// The handles of the characteristic values of each service, in ascending order.
  package var valueHandles: [[AttributeHandle]] {
    var services: [[AttributeHandle]] = []
    for attribute in attributes {
      if case .service = attribute.role { services.append([]) }
      if case .value = attribute.role, !services.isEmpty { services[services.count - 1].append(attribute.handle) }
    }
    return services
  }
}

/// A builder that assigns handles in a first pass. Its second pass fills in the values that contain handles of other attributes.
private struct Layout {
  private enum Draft {
    case service(uuid: [UInt8], isPrimary: Bool)
    case include(service: Int)
    case finished(AttributeDatabase.Attribute)
  }

  private var drafts: [(handle: AttributeHandle, draft: Draft)] = []
  private var starts: [AttributeHandle] = []
  private var ends: [AttributeHandle] = []
  private var last: AttributeHandle = 0
  /// The indices of the service, characteristic and descriptor that the next error names.
  var entry = AttributeDatabase.Invalid(service: 0, reason: "")

  func invalid(_ reason: String) -> AttributeDatabase.Invalid {
    var error = entry
    error.reason = reason
    return error
  }

  private mutating func next(_ wanted: AttributeHandle?) throws(AttributeDatabase.Invalid) -> AttributeHandle {
    if let wanted {
      guard wanted > last else { throw invalid(AttributeDatabase.order(wanted, after: last)) }
      last = wanted
    } else {
      guard last < 0xFFFF else { throw invalid("No free handle: the last attribute has 0xffff.") }
      last = last.next
    }
    return last
  }

  private func check(_ value: [UInt8], _ limit: Int) throws(AttributeDatabase.Invalid) {
    guard (0...AttributeDatabase.maximumValueLength).contains(limit) else {
      throw invalid("Invalid maximum length: \(limit) bytes (0–\(AttributeDatabase.maximumValueLength)).")
    }
    guard value.count <= limit else { throw invalid(AttributeDatabase.length(value.count, limit: limit)) }
  }

  mutating func add(_ service: AttributeDatabase.ServiceDescription) throws(AttributeDatabase.Invalid) {
    let handle = try next(service.handle)
    starts.append(handle)
    drafts.append((handle, .service(uuid: Self.bytes(service.uuid, service.hasLongUUID), isPrimary: service.isPrimary)))
    for include in service.includes { drafts.append((try next(include.handle), .include(service: include.service))) }
    for (index, characteristic) in service.characteristics.enumerated() {
      entry.characteristic = index
      try add(characteristic)
    }
    if let end = service.endHandle {
      entry.characteristic = nil
      guard end >= last else { throw invalid("The service ends at \(end), but its last attribute has the handle \(last).") }
      last = end
    }
    ends.append(last)
  }

  private static func bytes(_ uuid: UUID, _ isLong: Bool) -> [UInt8] { isLong ? uuid.littleEndianBytes : uuid.attBytes }

  private mutating func add(_ characteristic: AttributeDatabase.CharacteristicDescription) throws(AttributeDatabase.Invalid) {
    entry.descriptor = nil
    let properties = characteristic.properties
    let declaration = try next(characteristic.handle)
    let handle = try next(characteristic.valueHandle)
    let bits = (properties.contains(.notify) ? 1 : 0) as UInt16 | (properties.contains(.indicate) ? 2 : 0)
    try check(characteristic.value, characteristic.maximumLength)
    finish(
      declaration, .characteristic, .read,
      [properties.rawValue, UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)]
        + Self.bytes(characteristic.uuid, characteristic.hasLongUUID))

    var descriptors = characteristic.descriptors
    let isExtended = descriptors.contains { $0.uuid == .characteristicExtendedProperties }
    guard isExtended == properties.contains(.extendedProperties) else {
      throw invalid(
        isExtended
          ? "The descriptor 2900 (Extended Properties) needs the extended_properties property."
          : "The extended_properties property needs its descriptor, 2900.")
    }
    let listed = descriptors.firstIndex { $0.uuid == .clientCharacteristicConfiguration }
    let isAdded = listed == nil && bits != 0 && !characteristic.leavesOutConfiguration
    if isAdded { descriptors.insert(AttributeDatabase.DescriptorDescription(.clientCharacteristicConfiguration), at: 0) }

    // The value precedes its descriptors, but contains the handle of one of them.
    let position = drafts.count
    var configuration: AttributeHandle?
    for (index, descriptor) in descriptors.enumerated() {
      entry.descriptor = isAdded ? max(0, index - 1) : index
      if index == 0, isAdded { entry.descriptor = nil }
      let own = try next(descriptor.handle)
      guard descriptor.uuid == .clientCharacteristicConfiguration else {
        try check(descriptor.value, descriptor.maximumLength)
        finish(own, descriptor.uuid, descriptor.permissions ?? .read, descriptor.value, descriptor.maximumLength, errors: descriptor.errors)
        continue
      }
      guard bits != 0 else {
        throw invalid("The descriptor 2902 (Client Characteristic Configuration) needs the notify or indicate property.")
      }
      guard configuration == nil else {
        throw invalid("A characteristic can have only one descriptor 2902 (Client Characteristic Configuration).")
      }
      configuration = own
      finish(
        own, descriptor.uuid, descriptor.permissions ?? [.read, .write], [0, 0], 2, .configuration(ofValue: handle, allowed: bits),
        errors: descriptor.errors)
    }
    entry.descriptor = nil
    var value = AttributeDatabase.Attribute(
      handle: handle, type: characteristic.uuid, permissions: characteristic.permissions ?? AttributeDatabase.Permissions(properties),
      value: characteristic.value, maximumLength: characteristic.maximumLength, role: .value(properties, configuration: configuration))
    (value.readError, value.writeError) = (characteristic.errors.read, characteristic.errors.write)
    drafts.insert((handle, .finished(value)), at: position)
  }

  private mutating func finish(
    _ handle: AttributeHandle, _ type: UUID, _ permissions: AttributeDatabase.Permissions, _ value: [UInt8],
    _ limit: Int = AttributeDatabase.maximumValueLength, _ role: AttributeDatabase.Role = .plain,
    errors: AttributeDatabase.AccessErrors = AttributeDatabase.AccessErrors()
  ) {
    var attribute = AttributeDatabase.Attribute(
      handle: handle, type: type, permissions: permissions, value: value, maximumLength: limit, role: role)
    (attribute.readError, attribute.writeError) = (errors.read, errors.write)
    drafts.append((handle, .finished(attribute)))
  }

  func attributes(_ services: [AttributeDatabase.ServiceDescription]) throws(AttributeDatabase.Invalid) -> [AttributeDatabase.Attribute] {
    var result: [AttributeDatabase.Attribute] = []
    var service = -1
    for (handle, draft) in drafts {
      switch draft {
      case .finished(let attribute): result.append(attribute)
      case .service(let uuid, let isPrimary):
        service += 1
        result.append(
          AttributeDatabase.Attribute(
            handle: handle, type: isPrimary ? .primaryService : .secondaryService, permissions: .read, value: uuid,
            role: .service(endHandle: ends[service])))
      case .include(let target):
        guard services.indices.contains(target), target != service else {
          throw AttributeDatabase.Invalid(service: service, reason: "The service includes an unknown service, or itself.")
        }
        // Only 16-bit UUIDs are part of the declaration (Part G §3.2).
        var writer = ByteWriter()
        writer.uint16(starts[target].rawValue)
        writer.uint16(ends[target].rawValue)
        if let short = services[target].uuid.short, !services[target].hasLongUUID { writer.uint16(short) }
        result.append(
          AttributeDatabase.Attribute(handle: handle, type: .include, permissions: .read, value: writer.bytes))
      }
    }
    return result
  }
}

extension AttributeDatabase.Permissions {
  /// Derives the permissions from the properties (Vol 3 Part G §3.3.1.1).
  package init(_ properties: Properties) {
    self = []
    if properties.contains(.read) { insert(.read) }
    if properties.contains(.write) { insert(.write) }
    if properties.contains(.writeWithoutResponse) { insert(.writeWithoutResponse) }
  }
}
