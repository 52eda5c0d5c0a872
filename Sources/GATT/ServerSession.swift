import ATT
import Bluetooth

/// The server's side of one bearer, without I/O: a PDU of the client goes in, the answer and what it changed come out
/// (Vol 3 Part F §3.4). Holds what belongs to one client: ATT_MTU, client configurations, prepared writes.
package struct ServerSession: Sendable {
  /// What we can receive and offer as Server Rx MTU, 23…517.
  package let rxMTU: Int
  /// ATT_MTU, the same in both directions.
  package private(set) var mtu = 23
  /// How well the link is protected; raised by whoever owns the link.
  package var security = Security.none

  private var isMTUExchanged = false
  private var configurations: [UInt16: UInt16] = [:]
  private var prepared: [PreparedWrite] = []
  /// An indication was sent and is not yet confirmed.
  package private(set) var awaitsConfirmation = false

  /// Prepared writes that one client may have open; one more gets Prepare Queue Full (0x09).
  package static let maximumPreparedWrites = 128

  package enum Security: Sendable, Comparable { case none, encrypted, authenticated }

  package enum WriteKind: Sendable, Equatable {
    case request
    case command
    /// Prepared and executed.
    case long
  }

  package enum Event: Sendable, Equatable {
    /// The database holds the value already.
    case wrote(UInt16, value: [UInt8], WriteKind)
    /// A client configuration changed; bit 0 notifications, bit 1 indications.
    case configured(valueHandle: UInt16, bits: UInt16)
    case mtuExchanged(Int)
    case confirmed
  }

  package struct Outcome: Sendable, Equatable {
    /// At most one PDU, never longer than ATT_MTU; to be sent before the events are acted on.
    package var answer: [UInt8]?
    package var events: [Event] = []
  }

  private struct PreparedWrite: Sendable {
    let handle: UInt16
    let offset: Int
    let value: [UInt8]
  }

  /// Becomes an Error Response.
  private struct Refusal: Error {
    let code: ErrorCode
    var handle: UInt16 = 0
  }

  /// - Parameter rxMTU: clamped to 23…517.
  package init(rxMTU: Int) { self.rxMTU = min(max(rxMTU, 23), 517) }

  // MARK: Receiving

  /// Takes one PDU as it came from the bearer, whatever its octets and length.
  package mutating func receive(_ pdu: [UInt8], _ database: inout AttributeDatabase) -> Outcome {
    var outcome = Outcome()
    guard let first = pdu.first else { return outcome }
    let opcode = Opcode(rawValue: first)
    switch opcode.kind {
    case .response: break
    // We are nobody's client; still, a peer that indicates must not be left waiting (§3.3.2).
    case .unsolicited: if opcode == .handleValueIndication { outcome.answer = PDU.confirmation.bytes }
    case .confirmation:
      guard awaitsConfirmation else { break }
      awaitsConfirmation = false
      outcome.events = [.confirmed]
    case .command:
      // Signed writes are ignored: there is no key to check them with. Refusals stay unsaid: commands have no answer.
      guard pdu.count <= mtu, case .write(let handle, let value)? = try? Command(parsing: pdu) else { break }
      if let event = try? write(value, to: handle, .writeWithoutResponse, &database) { outcome.events = [event] }
    case .request:
      do throws(Refusal) {
        outcome.answer = try answer(pdu, opcode, &outcome.events, &database)
      } catch {
        outcome.answer = Response.error(request: opcode, handle: error.handle, code: error.code).bytes
      }
    }
    return outcome
  }

  private mutating func answer(
    _ pdu: [UInt8], _ opcode: Opcode, _ events: inout [Event], _ database: inout AttributeDatabase
  ) throws(Refusal) -> [UInt8] {
    guard opcode.isKnown else { throw Refusal(code: .requestNotSupported) }
    guard pdu.count <= mtu, let request = try? Request(parsing: pdu) else { throw Refusal(code: .invalidPDU) }
    switch request {
    case .exchangeMTU(let clientRxMTU):
      // Once per connection, and never below the default (§3.4.2.2); a second request is answered and changes nothing.
      if !isMTUExchanged, clientRxMTU >= 23 {
        mtu = min(Int(clientRxMTU), rxMTU)
        isMTUExchanged = true
        events.append(.mtuExchanged(mtu))
      }
      return Response.exchangeMTU(serverRxMTU: UInt16(clamping: rxMTU)).bytes
    case .findInformation(let range): return try findInformation(range, database)
    case .findByTypeValue(let range, let type, let value): return try findByTypeValue(range, type, value, database)
    case .readByType(let range, let type): return try readByType(range, type, database)
    case .read(let handle): return Response.read(Array(try read(handle, database).prefix(mtu - 1))).bytes
    case .readBlob(let handle, let offset):
      let value = try read(handle, database)
      guard Int(offset) <= value.count else { throw Refusal(code: .invalidOffset, handle: handle) }
      return Response.readBlob(Array(value.dropFirst(Int(offset)).prefix(mtu - 1))).bytes
    case .readMultiple(let handles):
      var values: [UInt8] = []
      for handle in handles { values += try read(handle, database) }
      return Response.readMultiple(Array(values.prefix(mtu - 1))).bytes
    case .readMultipleVariable(let handles):
      var tuples = ByteWriter()
      for handle in handles {
        let value = try read(handle, database)
        tuples.uint16(UInt16(clamping: value.count))
        tuples.append(value)
      }
      // Cut at ATT_MTU wherever that falls, as the client is told to expect (§3.4.4.12).
      return [Opcode.readMultipleVariableResponse.rawValue] + tuples.bytes.prefix(mtu - 1)
    case .readByGroupType(let range, let type): return try readByGroupType(range, type, database)
    case .write(let handle, let value):
      events.append(try write(value, to: handle, .write, &database))
      return Response.write.bytes
    case .prepareWrite(let handle, let offset, let value):
      _ = try writable(handle, .write, database)
      guard prepared.count < Self.maximumPreparedWrites else { throw Refusal(code: .prepareQueueFull, handle: handle) }
      prepared.append(PreparedWrite(handle: handle, offset: Int(offset), value: value))
      return Response.prepareWrite(handle, offset: offset, value: value).bytes
    case .executeWrite(let flags):
      guard flags <= 1 else { throw Refusal(code: .invalidPDU) }
      let writes = prepared
      prepared = []
      if flags == 1 { events += try execute(writes, &database) }
      return Response.executeWrite.bytes
    }
  }

  // MARK: Finding

  private func matches(_ range: HandleRange, _ database: AttributeDatabase) throws(Refusal) -> ArraySlice<AttributeDatabase.Attribute> {
    guard range.isValid else { throw Refusal(code: .invalidHandle, handle: range.start) }
    return database.attributes(in: range.start...range.end)
  }

  private func findInformation(_ range: HandleRange, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
    var items: [HandleType] = []
    for attribute in try matches(range, database) {
      let size = 2 + attribute.type.attBytes.count
      if let first = items.first, first.type.attBytes.count + 2 != size { break }
      guard 2 + (items.count + 1) * size <= mtu else { break }
      items.append(HandleType(attribute.handle, attribute.type))
    }
    guard !items.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return Response.findInformation(items).bytes
  }

  private func findByTypeValue(
    _ range: HandleRange, _ type: UInt16, _ value: [UInt8], _ database: AttributeDatabase
  ) throws(Refusal) -> [UInt8] {
    let type = UUID(UInt32(type))
    var ranges: [HandleRange] = []
    for attribute in try matches(range, database) where attribute.type == type {
      // An attribute that may not be read must not be guessed either (§3.4.3.3).
      guard refusalToRead(attribute) == nil, self.value(of: attribute) == value else { continue }
      guard 1 + (ranges.count + 1) * 4 <= mtu else { break }
      ranges.append(HandleRange(attribute.handle, database.groupEnd(of: attribute)))
    }
    guard !ranges.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return Response.findByTypeValue(ranges).bytes
  }

  private func readByType(_ range: HandleRange, _ type: UUID, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
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
    return Response.readByType(items).bytes
  }

  private func readByGroupType(_ range: HandleRange, _ type: UUID, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
    let attributes = try matches(range, database)
    guard type == AttributeDatabase.AttributeType.primaryService || type == AttributeDatabase.AttributeType.secondaryService else {
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
    return Response.readByGroupType(groups).bytes
  }

  // MARK: Values

  private func attribute(_ handle: UInt16, _ database: AttributeDatabase) throws(Refusal) -> AttributeDatabase.Attribute {
    guard let attribute = database[handle] else { throw Refusal(code: .invalidHandle, handle: handle) }
    return attribute
  }

  private func value(of attribute: AttributeDatabase.Attribute) -> [UInt8] {
    guard case .configuration(let valueHandle, _) = attribute.role else { return attribute.value }
    let bits = configurations[valueHandle] ?? 0
    return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
  }

  private func read(_ handle: UInt16, _ database: AttributeDatabase) throws(Refusal) -> [UInt8] {
    let attribute = try attribute(handle, database)
    if let code = refusalToRead(attribute) { throw Refusal(code: code, handle: handle) }
    return value(of: attribute)
  }

  private func refusalToRead(_ attribute: AttributeDatabase.Attribute) -> ErrorCode? {
    let permissions = attribute.permissions
    guard permissions.contains(.read) else { return .readNotPermitted }
    if permissions.contains(.readAuthenticated), security < .authenticated { return .insufficientAuthentication }
    if permissions.contains(.readEncrypted), security < .encrypted { return .insufficientEncryption }
    return nil
  }

  private func writable(
    _ handle: UInt16, _ how: AttributeDatabase.Permissions, _ database: AttributeDatabase
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

  private mutating func write(
    _ value: [UInt8], to handle: UInt16, _ how: AttributeDatabase.Permissions, _ database: inout AttributeDatabase
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
  private mutating func execute(_ writes: [PreparedWrite], _ database: inout AttributeDatabase) throws(Refusal) -> [Event] {
    var handles: [UInt16] = []
    var values: [UInt16: [UInt8]] = [:]
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

  // MARK: Sending

  /// What this client asked for: bit 0 notifications, bit 1 indications.
  package func configuration(ofValue handle: UInt16) -> UInt16 { configurations[handle] ?? 0 }

  /// A Handle Value Notification, its value cut at ATT_MTU − 3; nil when this client did not ask for it.
  package func notification(of handle: UInt16, _ value: [UInt8]) -> [UInt8]? {
    guard configuration(ofValue: handle) & 1 != 0 else { return nil }
    return Unsolicited.notification(HandleValue(handle, Array(value.prefix(mtu - 3)))).bytes
  }

  /// A Handle Value Indication, its value cut at ATT_MTU − 3; nil when this client did not ask for it, or has not confirmed the last one.
  package mutating func indication(of handle: UInt16, _ value: [UInt8]) -> [UInt8]? {
    guard configuration(ofValue: handle) & 2 != 0, !awaitsConfirmation else { return nil }
    awaitsConfirmation = true
    return Unsolicited.indication(HandleValue(handle, Array(value.prefix(mtu - 3)))).bytes
  }
}
