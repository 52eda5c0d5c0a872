// SPDX-License-Identifier: Apache-2.0
/// The attributes of a GATT server with their values and permissions, in ascending order of handles (Vol 3 Part F §3.2, Part G §3).
/// `ServerSession` keeps the CCCD values and prepared writes of each client.
package struct AttributeDatabase: Sendable, Equatable {
  /// The attributes in ascending order of handles. Each handle is unique and not 0x0000.
  package private(set) var attributes: [Attribute] = []

  /// The maximum length of a value: 512 bytes (Vol 3 Part F §3.2.9).
  package static let maximumValueLength = 512

  package struct Attribute: Sendable, Equatable {
    package let handle: AttributeHandle
    package let type: UUID
    package var permissions: Permissions
    /// The value, at most `maximumLength` bytes.
    package var value: [UInt8]
    /// The maximum length of the value in bytes, at most 512. The server refuses longer writes with Invalid Attribute Value Length (0x0D).
    package var maximumLength: Int
    package let role: Role
    /// The error that replaces the usual ones for refused reads. If the permissions allow every read, it refuses all. Nil for the usual ones.
    package var readError: ErrorCode?
    package var writeError: ErrorCode?

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

  /// The meaning of an attribute for the server: a service, a characteristic value, a CCCD, or none of these.
  package enum Role: Sendable, Equatable {
    /// A service declaration, with the last handle of the service.
    case service(endHandle: AttributeHandle)
    /// A characteristic value, with its properties and the handle of its client configuration descriptor, if any.
    case value(Properties, configuration: AttributeHandle?)
    /// A CCCD, whose value each client has separately (Vol 3 Part G §3.3.3.3). `allowed` contains the bits that a client may set.
    case configuration(ofValue: AttributeHandle, allowed: UInt16)
    /// An attribute that is neither a service declaration nor a characteristic value nor a CCCD.
    case plain
  }

  /// The access permissions of an attribute (Vol 3 Part F §3.2.5). An attribute that accepts only Write Commands lacks `write`,
  /// so the server refuses a Write Request with Write Not Permitted.
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

    /// The names of the permissions in a peripheral file, as in blectl-peripheral(5).
    package static let names: [(name: String, permission: Self)] = [
      ("read", .read), ("write", .write), ("write_without_response", .writeWithoutResponse), ("read_encrypted", [.read, .readEncrypted]),
      ("write_encrypted", [.write, .writeEncrypted]), ("read_authenticated", [.read, .readAuthenticated]),
      ("write_authenticated", [.write, .writeAuthenticated]),
    ]
  }

  /// The error of an invalid database: the reason, and the position of the faulty entry.
  package struct Invalid: Error, Equatable, Sendable {
    /// The index of the faulty service, counted from 0. For a database built from attributes, the index of the faulty attribute.
    package var service: Int
    package var characteristic: Int?
    package var descriptor: Int?
    package var reason: String

    package init(service: Int, reason: String) { (self.service, self.reason) = (service, reason) }
  }

  /// Creates a database after validating the attributes.
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

  package static func order(_ handle: AttributeHandle, after last: AttributeHandle) -> String {
    handle.isValid ? "Handle \(handle) is taken or out of order: the last one is \(last)." : "Handle \(handle) is reserved."
  }

  package static func length(_ count: Int, limit: Int) -> String { "The value is too long: \(count) bytes (maximum \(limit))." }

  // MARK: Access

  package subscript(handle: AttributeHandle) -> Attribute? {
    guard let index = index(of: handle) else { return nil }
    return attributes[index]
  }

  /// Returns the attributes whose handles are in the range, in ascending order of handles.
  package func attributes(in range: ClosedRange<AttributeHandle>) -> ArraySlice<Attribute> {
    let start = lowerBound(range.lowerBound)
    var end = start
    while end < attributes.count, attributes[end].handle <= range.upperBound { end += 1 }
    return attributes[start..<end]
  }

  /// Replaces the value of an attribute, and cuts the value to the attribute's maximum length. Ignores an unknown handle.
  package mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) {
    guard let index = index(of: handle) else { return }
    attributes[index].value = Array(value.prefix(attributes[index].maximumLength))
  }

  /// Returns the last handle of a service or characteristic group (Vol 3 Part G §2.5.4), or else the attribute's own handle.
  package func groupEnd(of attribute: Attribute) -> AttributeHandle {
    switch attribute.role {
    case .service(let endHandle): endHandle
    default:
      attribute.type == .characteristic
        ? characteristic(from: attribute.handle).last?.handle ?? attribute.handle : attribute.handle
    }
  }

  /// Returns whether an attribute's characteristic has Extended Properties (0x2900) that allow Reliable Write (Vol 3 Part G §3.3.3.1).
  package func allowsReliableWrite(_ handle: AttributeHandle) -> Bool {
    var index = lowerBound(handle)
    guard index < attributes.count, attributes[index].handle == handle else { return false }
    while attributes[index].type != .characteristic {
      guard index > 0, !Self.isDeclaration(attributes[index].type) else { return false }
      index -= 1
    }
    return characteristic(from: attributes[index].handle).contains {
      $0.type == .characteristicExtendedProperties && ($0.value.first ?? 0) & 1 != 0
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

  /// Finds the index, counted from 0, of the first attribute whose handle is at least `handle`.
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
