// SPDX-License-Identifier: Apache-2.0
/// The state machine of a GATT server for one client, without I/O (Vol 3 Part F §3.4).
/// The session computes responses and changed values, and holds the client's CCCD values and prepared writes.
package struct ServerSession: Sendable {
  /// The security level of the link, which the owner of the link sets. Attribute permissions may require a higher level.
  package var security = Security.none

  var configurations: [AttributeHandle: UInt16] = [:]
  /// The values that this client gets in place of those of the database.
  var answers: [AttributeHandle: [UInt8]] = [:]
  /// The Client Supported Features that the client wrote (Vol 3 Part G §7.2). Nil means the value in the database.
  var clientFeatures: [UInt8]?
  var awareness = Awareness.aware
  var prepared: [PreparedWrite] = []

  /// The maximum number of prepared writes per client. The server refuses a further one with Prepare Queue Full (0x09).
  package static let maximumPreparedWrites = 128

  package enum Security: Sendable, Comparable { case none, encrypted, authenticated }

  package enum WriteKind: Sendable, Equatable {
    case request
    case command
    /// A long write, which sends the value in Prepare Write Requests and applies it with an Execute Write Request.
    case long
  }

  package enum Event: Sendable, Equatable {
    /// The client wrote a value. The database already has it.
    case wrote(AttributeHandle, value: [UInt8], WriteKind)
    /// The client wrote the CCCD of a characteristic value: bit 0 notifications, bit 1 indications.
    case configured(valueHandle: AttributeHandle, bits: UInt16)
  }

  struct PreparedWrite: Sendable {
    let handle: AttributeHandle
    let offset: Int
    let value: [UInt8]
  }

  /// The error code and attribute handle of an Error Response that refuses a request.
  struct Refusal: Error {
    let code: ErrorCode
    var handle: AttributeHandle = 0
  }

  package init() {}

  /// Returns the CCCD bits that the client wrote for a characteristic value: bit 0 notifications, bit 1 indications.
  package func configuration(ofValue handle: AttributeHandle) -> UInt16 { configurations[handle] ?? 0 }

  /// Executes a Write Command and returns its events. Ignores a refused command, and a signed write, which the server has no key to verify.
  package mutating func execute(_ command: ATTCommand, _ database: inout AttributeDatabase) -> [Event] {
    guard case .write(let handle, let value) = command else { return [] }
    return (try? write(value, to: handle, .writeWithoutResponse, &database)).map { [$0] } ?? []
  }

  /// Computes the response to a request. The response may exceed ATT_MTU, because the bearer cuts the PDU.
  /// - Parameter mtu: the ATT_MTU in effect, 23…517, which limits the number of items in list responses.
  /// - Returns: the response, and the events to process after sending the response.
  package mutating func answer(_ request: Request, mtu: Int, _ database: inout AttributeDatabase) -> (response: Response, events: [Event]) {
    var events: [Event] = []
    do throws(Refusal) {
      return (try answer(request, mtu, &events, &database), events)
    } catch {
      return (.error(request: request.opcode, handle: error.handle, code: error.code), [])
    }
  }

  private mutating func answer(
    _ request: Request, _ mtu: Int, _ events: inout [Event], _ database: inout AttributeDatabase
  ) throws(Refusal) -> Response {
    switch request {
    case .exchangeMTU: throw Refusal(code: .requestNotSupported)
    case .findInformation(let range): return try findInformation(range, mtu, database)
    case .findByTypeValue(let range, let type, let value): return try findByTypeValue(range, type, value, mtu, database)
    case .readByType(let range, let type): return try readByType(range, type, mtu, database)
    case .read(let handle): return .read(try read(handle, database))
    case .readBlob(let handle, let offset):
      let value = try read(handle, database)
      guard Int(offset) <= value.count else { throw Refusal(code: .invalidOffset, handle: handle) }
      return .readBlob(Array(value.dropFirst(Int(offset))))
    case .readMultiple(let handles):
      var values: [UInt8] = []
      for handle in handles { values += try read(handle, database) }
      return .readMultiple(values)
    case .readMultipleVariable(let handles):
      var values: [[UInt8]] = []
      for handle in handles { values.append(try read(handle, database)) }
      return .readMultipleVariable(values, truncated: nil)
    case .readByGroupType(let range, let type): return try readByGroupType(range, type, mtu, database)
    case .write(let handle, let value):
      events.append(try write(value, to: handle, .write, &database))
      return .write
    case .prepareWrite(let handle, let offset, let value):
      _ = try writable(handle, .write, database)
      guard prepared.count < Self.maximumPreparedWrites else { throw Refusal(code: .prepareQueueFull, handle: handle) }
      prepared.append(PreparedWrite(handle: handle, offset: Int(offset), value: value))
      return .prepareWrite(handle, offset: offset, value: value)
    case .executeWrite(let flags):
      guard flags <= 1 else { throw Refusal(code: .invalidPDU) }
      let writes = prepared
      prepared = []
      if flags == 1 { events += try execute(writes, &database) }
      return .executeWrite
    }
  }
}

/// Requests for attributes by range and type (Vol 3 Part F §3.4.3, §3.4.4.1, §3.4.4.9).
extension ServerSession {
  private func matches(_ range: HandleRange, _ database: AttributeDatabase) throws(Refusal) -> ArraySlice<AttributeDatabase.Attribute> {
    guard range.isValid else { throw Refusal(code: .invalidHandle, handle: range.start) }
    return database.attributes(in: range.start...range.end)
  }

  func findInformation(_ range: HandleRange, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    var items: [HandleType] = []
    for attribute in try matches(range, database) {
      let size = 2 + attribute.type.attBytes.count
      if let first = items.first, first.type.attBytes.count + 2 != size { break }
      guard 2 + (items.count + 1) * size <= mtu else { break }
      items.append(HandleType(attribute.handle, attribute.type))
    }
    guard !items.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .findInformation(items)
  }

  func findByTypeValue(
    _ range: HandleRange, _ type: UInt16, _ value: [UInt8], _ mtu: Int, _ database: AttributeDatabase
  ) throws(Refusal) -> Response {
    let type = UUID(UInt32(type))
    var ranges: [HandleRange] = []
    for attribute in try matches(range, database) where attribute.type == type {
      // A client must not be able to guess the value of an attribute that it may not read (§3.4.3.3).
      guard refusalToRead(attribute) == nil, self.value(of: attribute) == value else { continue }
      guard 1 + (ranges.count + 1) * 4 <= mtu else { break }
      ranges.append(HandleRange(attribute.handle, database.groupEnd(of: attribute)))
    }
    guard !ranges.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .findByTypeValue(ranges)
  }

  func readByType(_ range: HandleRange, _ type: UUID, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    var items: [HandleValue] = []
    for attribute in try matches(range, database) where attribute.type == type {
      if let code = refusalToRead(attribute) {
        guard items.isEmpty else { break }
        throw Refusal(code: code, handle: attribute.handle)
      }
      let value = self.value(of: attribute).prefix(min(mtu - 4, 253))
      if let first = items.first, first.value.count != value.count { break }
      guard 2 + (items.count + 1) * (2 + value.count) <= mtu else { break }
      items.append(HandleValue(attribute.handle, Array(value)))
    }
    guard !items.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .readByType(items)
  }

  func readByGroupType(_ range: HandleRange, _ type: UUID, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    let attributes = try matches(range, database)
    guard type == .primaryService || type == .secondaryService else {
      throw Refusal(code: .unsupportedGroupType, handle: range.start)
    }
    var groups: [HandleGroup] = []
    for attribute in attributes where attribute.type == type {
      if let code = refusalToRead(attribute) {
        guard groups.isEmpty else { break }
        throw Refusal(code: code, handle: attribute.handle)
      }
      let value = attribute.value.prefix(min(mtu - 6, 251))
      if let first = groups.first, first.value.count != value.count { break }
      guard 2 + (groups.count + 1) * (4 + value.count) <= mtu else { break }
      groups.append(HandleGroup(attribute.handle, database.groupEnd(of: attribute), Array(value)))
    }
    guard !groups.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .readByGroupType(groups)
  }
}

/// Reads, writes and prepared writes, with their permissions (Vol 3 Part F §3.4.4, §3.4.5, §3.4.6).
extension ServerSession {
  private func attribute(_ handle: AttributeHandle, _ database: AttributeDatabase) throws(Refusal) -> AttributeDatabase.Attribute {
    guard let attribute = database[handle] else { throw Refusal(code: .invalidHandle, handle: handle) }
    return attribute
  }

  func value(of attribute: AttributeDatabase.Attribute) -> [UInt8] {
    if let clientFeatures, attribute.holdsClientFeatures { return clientFeatures }
    guard case .configuration(let valueHandle, _) = attribute.role else { return answers[attribute.handle] ?? attribute.value }
    let bits = configurations[valueHandle] ?? 0
    return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
  }

  func read(_ handle: AttributeHandle, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
    let attribute = try attribute(handle, database)
    if let code = refusalToRead(attribute) { throw Refusal(code: code, handle: handle) }
    return value(of: attribute)
  }

  func refusalToRead(_ attribute: AttributeDatabase.Attribute) -> ErrorCode? {
    refusal(attribute, .read, .readNotPermitted, .readAuthenticated, .readEncrypted, attribute.readError)
  }

  func writable(
    _ handle: AttributeHandle, _ how: AttributeDatabase.Permissions, _ database: AttributeDatabase
  ) throws(Refusal) -> AttributeDatabase.Attribute {
    let attribute = try attribute(handle, database)
    if let code = refusal(attribute, how, .writeNotPermitted, .writeAuthenticated, .writeEncrypted, attribute.writeError) {
      throw Refusal(code: code, handle: handle)
    }
    return attribute
  }

  /// Returns the error that refuses a kind of access: `own` if it is not nil. Nil if the attribute permits the access on this link.
  private func refusal(
    _ attribute: AttributeDatabase.Attribute, _ access: AttributeDatabase.Permissions, _ missing: ErrorCode,
    _ authenticated: AttributeDatabase.Permissions, _ encrypted: AttributeDatabase.Permissions, _ own: ErrorCode?
  ) -> ErrorCode? {
    let permissions = attribute.permissions
    guard permissions.contains(access) else { return own ?? missing }
    if permissions.contains(authenticated), security < .authenticated { return own ?? .insufficientAuthentication }
    if permissions.contains(encrypted), security < .encrypted { return own ?? .insufficientEncryption }
    return permissions.isDisjoint(with: [authenticated, encrypted]) ? own : nil
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
    } else if attribute.holdsClientFeatures {
      // A client must not clear a bit.
      let isKept = self.value(of: attribute).enumerated().allSatisfy { $1 & ~($0 < value.count ? value[$0] : 0) == 0 }
      guard isKept else { throw Refusal(code: .valueNotAllowed, handle: attribute.handle) }
    }
  }

  private mutating func commit(
    _ value: [UInt8], to attribute: AttributeDatabase.Attribute, _ kind: WriteKind, _ database: inout AttributeDatabase
  ) -> Event {
    if case .configuration(let valueHandle, _) = attribute.role {
      configurations[valueHandle] = Self.bits(value)
      return .configured(valueHandle: valueHandle, bits: Self.bits(value))
    }
    if attribute.holdsClientFeatures { clientFeatures = value } else { database.setValue(value, of: attribute.handle) }
    return .wrote(attribute.handle, value: value, kind)
  }

  private static func bits(_ value: [UInt8]) -> UInt16 { value.reversed().reduce(0) { $0 << 8 | UInt16($1) } }

  /// Performs all prepared writes or none. Checks every part before it changes the first value (Vol 3 Part F §3.4.6.3).
  /// A first part at offset 0 replaces the value, as a Write Request does. Other parts modify the existing value.
  mutating func execute(_ writes: [PreparedWrite], _ database: inout AttributeDatabase) throws(Refusal) -> [Event] {
    let values = try outcome(of: writes, database)
    for (handle, value) in values { try check(value, for: try attribute(handle, database)) }
    var events: [Event] = []
    for (handle, value) in values { events.append(commit(value, to: try attribute(handle, database), .long, &database)) }
    return events
  }

  /// Computes the values that result from prepared writes, in the order in which the attributes first occur in `writes`.
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

  /// The purpose of a request or command.
  package enum Intent: Sendable {
    case read, write, command
    /// A Prepare Write Request, or any request that accesses no value.
    case other

    init(_ request: Request) {
      switch request {
      case .read, .readBlob, .readMultiple, .readMultipleVariable, .readByType: self = .read
      case .write, .executeWrite: self = .write
      default: self = .other
      }
    }
  }

  /// Returns the attributes whose values a request reads or writes, whether or not the server permits it. None for a discovery request.
  func targets(of request: Request, mtu: Int, _ database: AttributeDatabase) -> [AttributeHandle] {
    switch request {
    case .read(let handle), .readBlob(let handle, _), .write(let handle, _), .prepareWrite(let handle, _, _): return [handle]
    case .readMultiple(let handles), .readMultipleVariable(let handles): return handles
    case .readByType(let range, let type) where !AttributeDatabase.isDeclaration(type) && range.isValid:
      if case .readByType(let items)? = try? readByType(range, type, mtu, database) { return items.map(\.handle) }
      return database.attributes(in: range.start...range.end).first { $0.type == type }.map { [$0.handle] } ?? []
    case .executeWrite(flags: 1): return prepared.map(\.handle)
    default: return []
    }
  }

  /// A read or write of an attribute value that a permitted request or command causes. Excludes writes of a CCCD.
  package enum Access: Sendable, Equatable {
    case read(AttributeHandle)
    case write(AttributeHandle, value: [UInt8], WriteKind)

    package var handle: AttributeHandle {
      switch self {
      case .read(let handle), .write(let handle, _, _): handle
      }
    }
  }

  /// Predicts the values that `answer` will read or write: none for a refused request or a Read Blob Request above offset 0.
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

  package func access(of command: ATTCommand, _ database: AttributeDatabase) -> Access? {
    guard case .write(let handle, let value) = command else { return nil }
    return writing(value, to: handle, .writeWithoutResponse, database)
  }

  /// Discards all prepared writes if `request` is an Execute Write Request, even one that the server refuses.
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
