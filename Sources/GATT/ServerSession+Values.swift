import ATT
import Bluetooth

/// Values and their permissions: reads, writes, prepared writes (Vol 3 Part F §3.4.4, §3.4.5, §3.4.6).
extension ServerSession {
  private func attribute(_ handle: AttributeHandle, _ database: AttributeDatabase) throws(Refusal) -> AttributeDatabase.Attribute {
    guard let attribute = database[handle] else { throw Refusal(code: .invalidHandle, handle: handle) }
    return attribute
  }

  func value(of attribute: AttributeDatabase.Attribute) -> [UInt8] {
    guard case .configuration(let valueHandle, _) = attribute.role else { return attribute.value }
    let bits = configurations[valueHandle] ?? 0
    return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
  }

  func read(_ handle: AttributeHandle, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
    let attribute = try attribute(handle, database)
    if let code = refusalToRead(attribute) { throw Refusal(code: code, handle: handle) }
    return value(of: attribute)
  }

  func refusalToRead(_ attribute: AttributeDatabase.Attribute) -> ErrorCode? {
    let permissions = attribute.permissions
    guard permissions.contains(.read) else { return .readNotPermitted }
    if permissions.contains(.readAuthenticated), security < .authenticated { return .insufficientAuthentication }
    if permissions.contains(.readEncrypted), security < .encrypted { return .insufficientEncryption }
    return nil
  }

  func writable(
    _ handle: AttributeHandle, _ how: AttributeDatabase.Permissions, _ database: AttributeDatabase
  ) throws(Refusal) -> AttributeDatabase.Attribute {
    let attribute = try attribute(handle, database)
    let permissions = attribute.permissions
    guard permissions.contains(how) else { throw Refusal(code: .writeNotPermitted, handle: handle) }
    if permissions.contains(.writeAuthenticated), security < .authenticated {
      throw Refusal(code: .insufficientAuthentication, handle: handle)
    }
    if permissions.contains(.writeEncrypted), security < .encrypted { throw Refusal(code: .insufficientEncryption, handle: handle) }
    return attribute
  }

  mutating func write(
    _ value: [UInt8], to handle: AttributeHandle, _ how: AttributeDatabase.Permissions, _ database: inout AttributeDatabase
  ) throws(Refusal) -> Event {
    let attribute = try writable(handle, how, database)
    try check(value, for: attribute)
    return commit(value, to: attribute, how == .write ? .request : .command, &database)
  }

  private func check(_ value: [UInt8], for attribute: AttributeDatabase.Attribute) throws(Refusal) {
    if case .configuration(_, let allowed) = attribute.role {
      guard value.count == 2 else { throw Refusal(code: .invalidAttributeValueLength, handle: attribute.handle) }
      guard Self.bits(value) & ~allowed == 0 else { throw Refusal(code: .valueNotAllowed, handle: attribute.handle) }
    } else if value.count > attribute.maximumLength {
      throw Refusal(code: .invalidAttributeValueLength, handle: attribute.handle)
    }
  }

  private mutating func commit(
    _ value: [UInt8], to attribute: AttributeDatabase.Attribute, _ kind: WriteKind, _ database: inout AttributeDatabase
  ) -> Event {
    if case .configuration(let valueHandle, _) = attribute.role {
      configurations[valueHandle] = Self.bits(value)
      return .configured(valueHandle: valueHandle, bits: Self.bits(value))
    }
    database.setValue(value, of: attribute.handle)
    return .wrote(attribute.handle, value: value, kind)
  }

  private static func bits(_ value: [UInt8]) -> UInt16 { value.reversed().reduce(0) { $0 << 8 | UInt16($1) } }

  /// All or nothing: every part is checked before the first value changes (§3.4.6.3). A part at offset 0 starts the value anew, as a
  /// Write Request does; without one, the parts change the value that is there.
  mutating func execute(_ writes: [PreparedWrite], _ database: inout AttributeDatabase) throws(Refusal) -> [Event] {
    var handles: [AttributeHandle] = []
    var values: [AttributeHandle: [UInt8]] = [:]
    for write in writes {
      let attribute = try attribute(write.handle, database)
      if values[write.handle] == nil { handles.append(write.handle) }
      var value = write.offset == 0 && values[write.handle] == nil ? [] : values[write.handle] ?? self.value(of: attribute)
      guard write.offset <= value.count else { throw Refusal(code: .invalidOffset, handle: write.handle) }
      let end = write.offset + write.value.count
      guard end <= attribute.maximumLength else { throw Refusal(code: .invalidAttributeValueLength, handle: write.handle) }
      value.replaceSubrange(write.offset..<min(end, value.count), with: write.value)
      values[write.handle] = value
    }
    // One transaction over several attributes is a Reliable Write, which each of them has to allow (Part G §4.9.5).
    if handles.count > 1, let handle = handles.first(where: { !database.allowsReliableWrite($0) }) {
      throw Refusal(code: .requestNotSupported, handle: handle)
    }
    for handle in handles { try check(values[handle] ?? [], for: try attribute(handle, database)) }
    var events: [Event] = []
    for handle in handles { events.append(commit(values[handle] ?? [], to: try attribute(handle, database), .long, &database)) }
    return events
  }
}
