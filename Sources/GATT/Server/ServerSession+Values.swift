package import ATT

/// Reads, writes and prepared writes, with their permissions (Vol 3 Part F §3.4.4, §3.4.5, §3.4.6).
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

  /// Performs prepared writes, all or nothing: checks every part before the first value changes (§3.4.6.3).
  /// A part at offset 0 replaces the value, as a Write Request does. Otherwise, the parts modify the existing value.
  mutating func execute(_ writes: [PreparedWrite], _ database: inout AttributeDatabase) throws(Refusal) -> [Event] {
    let values = try outcome(of: writes, database)
    for (handle, value) in values { try check(value, for: try attribute(handle, database)) }
    var events: [Event] = []
    for (handle, value) in values { events.append(commit(value, to: try attribute(handle, database), .long, &database)) }
    return events
  }

  /// The values that result from the parts, in the order in which their attributes first occur.
  private func outcome(
    of writes: [PreparedWrite], _ database: AttributeDatabase
  ) throws(Refusal) -> [(handle: AttributeHandle, value: [UInt8])] {
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
    // A transaction over several attributes is a Reliable Write, which all of them must allow (Part G §4.9.5).
    if handles.count > 1, let handle = handles.first(where: { !database.allowsReliableWrite($0) }) {
      throw Refusal(code: .requestNotSupported, handle: handle)
    }
    return handles.map { ($0, values[$0] ?? []) }
  }

  // MARK: Foresight

  /// The effect of a permitted request or command on a value. Excludes client configurations, which the server handles itself.
  package enum Access: Sendable, Equatable {
    case read(AttributeHandle)
    case write(AttributeHandle, value: [UInt8], WriteKind)

    package var handle: AttributeHandle {
      switch self {
      case .read(let handle), .write(let handle, _, _): handle
      }
    }
  }

  /// Predicts the accesses of `answer`. Empty if it would refuse. A Read Blob Request above offset 0 continues a read, so it has none.
  package func accesses(of request: Request, mtu: Int, _ database: AttributeDatabase) -> [Access] {
    switch request {
    case .read(let handle), .readBlob(let handle, offset: 0): return [handle].compactMap { reading($0, database) }
    case .readMultiple(let handles), .readMultipleVariable(let handles):
      let accesses = handles.compactMap { reading($0, database) }
      return accesses.count == handles.count ? accesses : []
    case .readByType(let range, let type) where !AttributeDatabase.isDeclaration(type):
      guard case .readByType(let items)? = try? readByType(range, type, mtu, database) else { return [] }
      return items.compactMap { reading($0.handle, database) }
    case .write(let handle, let value): return [writing(value, to: handle, .write, database)].compactMap { $0 }
    case .executeWrite(flags: 1):
      guard let values = try? outcome(of: prepared, database) else { return [] }
      let accesses = values.compactMap { writing($0.value, to: $0.handle, .write, database, .long) }
      return accesses.count == values.count ? accesses : []
    default: return []
    }
  }

  package func access(of command: Command, _ database: AttributeDatabase) -> Access? {
    guard case .write(let handle, let value) = command else { return nil }
    return writing(value, to: handle, .writeWithoutResponse, database)
  }

  /// Discards the prepared writes of an Execute Write Request, even if it is refused.
  package mutating func dropPreparedWrites(of request: Request) { if case .executeWrite = request { prepared = [] } }

  private func reading(_ handle: AttributeHandle, _ database: AttributeDatabase) -> Access? {
    guard let attribute = database[handle], refusalToRead(attribute) == nil else { return nil }
    return .read(handle)
  }

  private func writing(
    _ value: [UInt8], to handle: AttributeHandle, _ how: AttributeDatabase.Permissions, _ database: AttributeDatabase,
    _ kind: WriteKind? = nil
  ) -> Access? {
    guard let attribute = try? writable(handle, how, database), (try? check(value, for: attribute)) != nil else { return nil }
    if case .configuration = attribute.role { return nil }
    return .write(handle, value: value, kind ?? (how == .write ? .request : .command))
  }
}
