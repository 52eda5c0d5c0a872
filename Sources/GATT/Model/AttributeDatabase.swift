package import ATT
package import Bluetooth

/// The attributes of a server, in the order of their handles (Vol 3 Part F §3.2, Part G §3): values and permissions.
/// `ServerSession` keeps the state of each client (client configurations, prepared writes).
package struct AttributeDatabase: Sendable, Equatable {
  /// The attributes in ascending order of handles. Handles are unique and never 0x0000, which both initializers check.
  package private(set) var attributes: [Attribute] = []

  /// The maximum length of a value: 512 bytes (Vol 3 Part F §3.2.9).
  package static let maximumValueLength = 512

  package struct Attribute: Sendable, Equatable {
    package let handle: AttributeHandle
    package let type: UUID
    package var permissions: Permissions
    /// The value, at most `maximumLength` bytes.
    package var value: [UInt8]
    /// The maximum length in bytes, at most 512. Longer writes get Invalid Attribute Value Length (0x0D).
    package var maximumLength: Int
    package let role: Role

    package init(
      handle: AttributeHandle, type: UUID, permissions: Permissions, value: [UInt8],
      maximumLength: Int = AttributeDatabase.maximumValueLength,
      role: Role = .plain
    ) {
      self.handle = handle
      self.type = type
      self.permissions = permissions
      self.value = value
      self.maximumLength = maximumLength
      self.role = role
    }
  }

  /// The function of an attribute beyond its type.
  package enum Role: Sendable, Equatable {
    /// A service declaration, with the last handle of the service.
    case service(endHandle: AttributeHandle)
    /// A characteristic value, with its properties and the handle of its client configuration descriptor, if any.
    case value(Properties, configuration: AttributeHandle?)
    /// A Client Characteristic Configuration, whose value each client has separately (Part G §3.3.3.3). `allowed`: the settable bits.
    case configuration(ofValue: AttributeHandle, allowed: UInt16)
    /// An attribute without a special function.
    case plain
  }

  /// The access permissions of an attribute (Vol 3 Part F §3.2.5). The two write permissions are separate, because servers refuse
  /// a Write Request with Write Not Permitted if the attribute only accepts Write Commands.
  package struct Permissions: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Self(rawValue: 0x01)
    /// Permission for Write Request and Prepare Write Request.
    package static let write = Self(rawValue: 0x02)
    /// Permission for Write Command.
    package static let writeWithoutResponse = Self(rawValue: 0x04)
    package static let readEncrypted = Self(rawValue: 0x08)
    package static let writeEncrypted = Self(rawValue: 0x10)
    package static let readAuthenticated = Self(rawValue: 0x20)
    package static let writeAuthenticated = Self(rawValue: 0x40)

    /// The permission names in the peripheral file.
    package static let names: [(name: String, permission: Self)] = [
      ("read", .read), ("write", .write), ("write_without_response", .writeWithoutResponse), ("read_encrypted", [.read, .readEncrypted]),
      ("write_encrypted", [.write, .writeEncrypted]), ("read_authenticated", [.read, .readAuthenticated]),
      ("write_authenticated", [.write, .writeAuthenticated]),
    ]
  }

  /// Attribute types that the server treats specially (Part G §3).
  package enum AttributeType {
    package static let primaryService = UUID(0x2800)
    package static let secondaryService = UUID(0x2801)
    package static let include = UUID(0x2802)
    package static let characteristic = UUID(0x2803)
    package static let extendedProperties = UUID(0x2900)
    package static let clientConfiguration = UUID(0x2902)
  }

  /// The reason why a database is invalid, and the faulty entry.
  package struct Invalid: Error, Equatable, Sendable {
    /// The index of the service, counted from 0, or of the attribute if the caller built the database from attributes.
    package var service: Int
    package var characteristic: Int?
    package var descriptor: Int?
    package var reason: String
  }

  /// Creates a database from attributes.
  /// - Throws: `Invalid` for handles that do not ascend, group ends that overlap the next group, values that are too long.
  package init(attributes: [Attribute]) throws(Invalid) {
    var last: AttributeHandle = 0
    var groupEnd: AttributeHandle = 0
    for (index, attribute) in attributes.enumerated() {
      func invalid(_ reason: String) -> Invalid { Invalid(service: index, reason: reason) }
      guard attribute.handle > last else { throw invalid(Self.order(attribute.handle, after: last)) }
      guard attribute.maximumLength <= Self.maximumValueLength else {
        throw invalid("Invalid maximum length: \(attribute.maximumLength) bytes (maximum \(Self.maximumValueLength)).")
      }
      guard attribute.value.count <= attribute.maximumLength else {
        throw invalid(Self.length(attribute.value.count, limit: attribute.maximumLength))
      }
      if case .service(let endHandle) = attribute.role {
        guard attribute.handle > groupEnd else {
          throw invalid("The service overlaps the previous one, which ends at \(groupEnd).")
        }
        guard endHandle >= attribute.handle else { throw invalid("The service ends before it starts.") }
        groupEnd = endHandle
      }
      last = attribute.handle
    }
    self.attributes = attributes
  }

  static func order(_ handle: AttributeHandle, after last: AttributeHandle) -> String {
    handle.isValid ? "Handle \(handle) is taken or out of order: the last one is \(last)." : "Handle \(handle) is reserved."
  }

  static func length(_ count: Int, limit: Int) -> String { "The value is too long: \(count) bytes (maximum \(limit))." }

  // MARK: Access

  package subscript(handle: AttributeHandle) -> Attribute? {
    guard let index = index(of: handle) else { return nil }
    return attributes[index]
  }

  /// Returns the attributes whose handles are in the range, in order.
  package func attributes(in range: ClosedRange<AttributeHandle>) -> ArraySlice<Attribute> {
    let start = lowerBound(range.lowerBound)
    var end = start
    while end < attributes.count, attributes[end].handle <= range.upperBound { end += 1 }
    return attributes[start..<end]
  }

  /// Replaces a value, cut to the attribute's maximum length. Ignores unknown handles.
  package mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    guard let index = index(of: handle) else { return }
    attributes[index].value = Array(value.prefix(attributes[index].maximumLength))
  }

  /// Returns the last handle of a service or characteristic group (Part G §2.5.4), or else the attribute's own handle.
  package func groupEnd(of attribute: Attribute) -> AttributeHandle {
    switch attribute.role {
    case .service(let endHandle): endHandle
    default:
      attribute.type == AttributeType.characteristic
        ? characteristic(from: attribute.handle).last?.handle ?? attribute.handle : attribute.handle
    }
  }

  /// Returns whether the attribute belongs to a characteristic whose Extended Properties (0x2900) allow Reliable Write (Part G §3.3.3.1).
  package func allowsReliableWrite(_ handle: AttributeHandle) -> Bool {
    var index = lowerBound(handle)
    guard index < attributes.count, attributes[index].handle == handle else { return false }
    while attributes[index].type != AttributeType.characteristic {
      guard index > 0, !Self.isDeclaration(attributes[index].type) else { return false }
      index -= 1
    }
    return characteristic(from: attributes[index].handle).contains {
      $0.type == AttributeType.extendedProperties && ($0.value.first ?? 0) & 1 != 0
    }
  }

  /// Returns the declaration, value and descriptors of a characteristic.
  private func characteristic(from declaration: AttributeHandle) -> ArraySlice<Attribute> {
    let start = lowerBound(declaration)
    var end = start
    repeat { end += 1 } while end < attributes.count && !Self.isDeclaration(attributes[end].type)
    return attributes[start..<min(end, attributes.count)]
  }

  static func isDeclaration(_ type: UUID) -> Bool {
    guard let short = type.short else { return false }
    return (0x2800...0x2803).contains(short)
  }

  private func index(of handle: AttributeHandle) -> Int? {
    let index = lowerBound(handle)
    return index < attributes.count && attributes[index].handle == handle ? index : nil
  }

  /// Finds the index, counted from 0, of the first attribute with this handle or a higher one.
  private func lowerBound(_ handle: AttributeHandle) -> Int {
    var low = 0
    var high = attributes.count
    while low < high {
      let middle = (low + high) / 2
      if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension AttributeDatabase {
  /// A service to build. A nil handle means the next free one.
  package struct ServiceDescription: Sendable {
    package var uuid: UUID
    package var isPrimary = true
    package var handle: AttributeHandle?
    /// Indices into the list of services, counted from 0, in the order of their include declarations.
    package var includes: [Int] = []
    package var characteristics: [CharacteristicDescription] = []

    package init(_ uuid: UUID) { self.uuid = uuid }
  }

  package struct CharacteristicDescription: Sendable {
    package var uuid: UUID
    package var properties: Properties
    /// The handle of the declaration. The value has the next one.
    package var handle: AttributeHandle?
    package var value: [UInt8] = []
    /// The access permissions. Nil derives them from the properties.
    package var permissions: Permissions?
    package var maximumLength = AttributeDatabase.maximumValueLength
    /// The descriptors. If the properties need a CCCD and none is listed, the layout adds one in front (see `leavesOutConfiguration`).
    package var descriptors: [DescriptorDescription] = []
    package var leavesOutConfiguration = false

    package init(_ uuid: UUID, _ properties: Properties) {
      self.uuid = uuid
      self.properties = properties
    }
  }

  package struct DescriptorDescription: Sendable {
    package var uuid: UUID
    package var handle: AttributeHandle?
    package var value: [UInt8] = []
    /// The access permissions. Nil means `.read`, and also `.write` for a Client Characteristic Configuration.
    package var permissions: Permissions?
    package var maximumLength = AttributeDatabase.maximumValueLength

    package init(_ uuid: UUID) { self.uuid = uuid }
  }

  /// Lays out services, characteristics and descriptors (Vol 3 Part G §3) and assigns handles.
  /// - Throws: for duplicate or descending handles, more than 65,535 attributes, or values that are too long. Also for a CCCD without
  ///   the notify or indicate property, and for extended properties without their descriptor or the reverse.
  package init(services: [ServiceDescription]) throws(Invalid) {
    var layout = Layout()
    for (index, service) in services.enumerated() {
      layout.entry = Invalid(service: index, reason: "")
      try layout.add(service)
    }
    try self.init(attributes: try layout.attributes(services))
  }

  /// The handles of all characteristic values, per service, in order.
  package var valueHandles: [[AttributeHandle]] {
    var services: [[AttributeHandle]] = []
    for attribute in attributes {
      if case .service = attribute.role { services.append([]) }
      if case .value = attribute.role, !services.isEmpty { services[services.count - 1].append(attribute.handle) }
    }
    return services
  }
}

/// Assigns handles in a first pass. A second pass fills in handles of other attributes (service ends, includes, configurations).
private struct Layout {
  private typealias Kind = AttributeDatabase.AttributeType
  private enum Draft {
    case service(uuid: UUID, isPrimary: Bool)
    case include(service: Int)
    case finished(AttributeDatabase.Attribute)
  }

  private var drafts: [(handle: AttributeHandle, draft: Draft)] = []
  private var starts: [AttributeHandle] = []
  private var ends: [AttributeHandle] = []
  private var last: AttributeHandle = 0
  /// The current entry, for errors.
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
    drafts.append((handle, .service(uuid: service.uuid, isPrimary: service.isPrimary)))
    for include in service.includes { drafts.append((try next(nil), .include(service: include))) }
    for (index, characteristic) in service.characteristics.enumerated() {
      entry.characteristic = index
      try add(characteristic)
    }
    ends.append(last)
  }

  private mutating func add(_ characteristic: AttributeDatabase.CharacteristicDescription) throws(AttributeDatabase.Invalid) {
    entry.descriptor = nil
    let properties = characteristic.properties
    let declaration = try next(characteristic.handle)
    let handle = try next(nil)
    let bits = (properties.contains(.notify) ? 1 : 0) as UInt16 | (properties.contains(.indicate) ? 2 : 0)
    try check(characteristic.value, characteristic.maximumLength)
    finish(
      declaration, Kind.characteristic, .read,
      [properties.rawValue, UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)] + characteristic.uuid.attBytes)

    var descriptors = characteristic.descriptors
    let isExtended = descriptors.contains { $0.uuid == Kind.extendedProperties }
    guard isExtended == properties.contains(.extendedProperties) else {
      throw invalid(
        isExtended
          ? "The descriptor 2900 (Extended Properties) needs the extended_properties property."
          : "The extended_properties property needs its descriptor, 2900.")
    }
    let listed = descriptors.firstIndex { $0.uuid == Kind.clientConfiguration }
    let isAdded = listed == nil && bits != 0 && !characteristic.leavesOutConfiguration
    if isAdded { descriptors.insert(AttributeDatabase.DescriptorDescription(Kind.clientConfiguration), at: 0) }

    // The value precedes its descriptors, but contains the handle of one of them.
    let position = drafts.count
    var configuration: AttributeHandle?
    for (index, descriptor) in descriptors.enumerated() {
      entry.descriptor = isAdded ? max(0, index - 1) : index
      if index == 0, isAdded { entry.descriptor = nil }
      let own = try next(descriptor.handle)
      guard descriptor.uuid == Kind.clientConfiguration else {
        try check(descriptor.value, descriptor.maximumLength)
        finish(own, descriptor.uuid, descriptor.permissions ?? .read, descriptor.value, descriptor.maximumLength)
        continue
      }
      guard bits != 0 else {
        throw invalid("The descriptor 2902 (Client Characteristic Configuration) needs the notify or indicate property.")
      }
      guard configuration == nil else {
        throw invalid("A characteristic can have only one descriptor 2902 (Client Characteristic Configuration).")
      }
      configuration = own
      finish(own, descriptor.uuid, descriptor.permissions ?? [.read, .write], [0, 0], 2, .configuration(ofValue: handle, allowed: bits))
    }
    entry.descriptor = nil
    let value = AttributeDatabase.Attribute(
      handle: handle, type: characteristic.uuid, permissions: characteristic.permissions ?? AttributeDatabase.Permissions(properties),
      value: characteristic.value, maximumLength: characteristic.maximumLength, role: .value(properties, configuration: configuration))
    drafts.insert((handle, .finished(value)), at: position)
  }

  private mutating func finish(
    _ handle: AttributeHandle, _ type: UUID, _ permissions: AttributeDatabase.Permissions, _ value: [UInt8],
    _ limit: Int = AttributeDatabase.maximumValueLength, _ role: AttributeDatabase.Role = .plain
  ) {
    let attribute = AttributeDatabase.Attribute(
      handle: handle, type: type, permissions: permissions, value: value, maximumLength: limit, role: role)
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
            handle: handle, type: isPrimary ? Kind.primaryService : Kind.secondaryService, permissions: .read, value: uuid.attBytes,
            role: .service(endHandle: ends[service])))
      case .include(let target):
        guard services.indices.contains(target), target != service else {
          throw AttributeDatabase.Invalid(service: service, reason: "The service includes an unknown service, or itself.")
        }
        // Only 16-bit UUIDs are part of the declaration (Part G §3.2).
        var writer = ByteWriter()
        writer.uint16(starts[target].rawValue)
        writer.uint16(ends[target].rawValue)
        if let short = services[target].uuid.short { writer.uint16(short) }
        result.append(
          AttributeDatabase.Attribute(handle: handle, type: Kind.include, permissions: .read, value: writer.bytes))
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
