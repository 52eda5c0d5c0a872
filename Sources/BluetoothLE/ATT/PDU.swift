// SPDX-License-Identifier: Apache-2.0
/// An ATT PDU (Vol 3 Part F §3.4), grouped by direction and purpose.
package enum PDU: Equatable, Sendable {
  case request(Request)
  case response(Response)
  case command(ATTCommand)
  case unsolicited(Unsolicited)
  case confirmation
  /// A PDU with an unassigned opcode. `Opcode.isUnknownCommand` determines whether a server ignores or refuses the PDU.
  case unknown(ATTOpcode)

  /// Parses a whole PDU, starting with the opcode.
  /// - Throws: `MalformedPacket` for empty input, wrong lengths and trailing bytes.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    guard let first = bytes.first else { throw MalformedPacket("ATT PDU: no opcode", at: 0) }
    let opcode = ATTOpcode(rawValue: first)
    switch opcode {
    case .request: self = .request(try Request(parsing: bytes))
    case .response, .error: self = .response(try Response(parsing: bytes))
    case .command: self = .command(try ATTCommand(parsing: bytes))
    case .unsolicited: self = .unsolicited(try Unsolicited(parsing: bytes))
    case .confirmation:
      guard bytes.count == 1 else { throw MalformedPacket("\(opcode): \((bytes.count - 1).counted("trailing byte"))", at: 1) }
      self = .confirmation
    case .unknown: self = .unknown(opcode)
    }
  }

  /// The encoded PDU, starting with the opcode. Empty for `.unknown`, which stores no parameters.
  package var bytes: [UInt8] {
    switch self {
    case .request(let pdu): pdu.bytes
    case .response(let pdu): pdu.bytes
    case .command(let pdu): pdu.bytes
    case .unsolicited(let pdu): pdu.bytes
    case .confirmation: [ATTOpcode.confirmation.rawValue]
    case .unknown: []
    }
  }
}

/// A request from client to server. The server answers with the response of the same name or an Error Response.
package enum Request: Equatable, Sendable {
  /// An Exchange MTU Request (Vol 3 Part F §3.4.2.1) with the client's largest PDU in bytes. The receiver checks the minimum, 23.
  case exchangeMTU(clientRxMTU: UInt16)
  /// A Find Information Request (Vol 3 Part F §3.4.3.1) for the handles and types of all attributes in a range.
  case findInformation(HandleRange)
  /// A Find By Type Value Request (Vol 3 Part F §3.4.3.3) for attributes with this value and this 16-bit UUID as type.
  case findByTypeValue(HandleRange, type: UInt16, value: [UInt8])
  /// A Read By Type Request (Vol 3 Part F §3.4.4.1) for the values of all attributes of a type in a range.
  case readByType(HandleRange, type: UUID)
  /// A Read Request (Vol 3 Part F §3.4.4.3) for the value of one attribute.
  case read(AttributeHandle)
  /// A Read Blob Request (Vol 3 Part F §3.4.4.5) for the part of a value that starts at an offset in bytes.
  case readBlob(AttributeHandle, offset: UInt16)
  /// A Read Multiple Request (Vol 3 Part F §3.4.4.7) for the values of at least two attributes.
  case readMultiple([AttributeHandle])
  /// A Read By Group Type Request (Vol 3 Part F §3.4.4.9) for the grouping attributes of a type in a range, such as services.
  case readByGroupType(HandleRange, type: UUID)
  /// A Read Multiple Variable Request (Vol 3 Part F §3.4.4.11) for the values of at least two attributes, with their lengths.
  case readMultipleVariable([AttributeHandle])
  /// A Write Request (Vol 3 Part F §3.4.5.1), which the server confirms.
  case write(AttributeHandle, value: [UInt8])
  /// A Prepare Write Request (Vol 3 Part F §3.4.6.1), which queues the part of a value that starts at an offset in bytes.
  case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
  /// An Execute Write Request (Vol 3 Part F §3.4.6.3). Flags 0x00 cancel all prepared writes, 0x01 write them. Other flags are invalid.
  case executeWrite(flags: UInt8)
}

/// A response from server to client, which answers the outstanding request.
package enum Response: Equatable, Sendable {
  /// An Error Response (Vol 3 Part F §3.4.1.1). `handle` is the attribute that caused the error, 0x0000 for none.
  case error(request: ATTOpcode, handle: AttributeHandle, code: ErrorCode)
  /// An Exchange MTU Response (Vol 3 Part F §3.4.2.2) with the server's largest PDU in bytes. The receiver checks the minimum, 23.
  case exchangeMTU(serverRxMTU: UInt16)
  /// A Find Information Response (Vol 3 Part F §3.4.3.2) with at least one item. All types are 16-bit UUIDs, or all are 128-bit UUIDs.
  case findInformation([HandleType])
  /// A Find By Type Value Response (Vol 3 Part F §3.4.3.4) with the handle ranges of at least one attribute and its group.
  case findByTypeValue([HandleRange])
  /// A Read By Type Response (Vol 3 Part F §3.4.4.2) with at least one value. All values have the same length, at most 253 bytes.
  case readByType([HandleValue])
  /// A Read Response (Vol 3 Part F §3.4.4.4) with the first ATT_MTU − 1 bytes of the value.
  case read([UInt8])
  /// A Read Blob Response (Vol 3 Part F §3.4.4.6) with at most ATT_MTU − 1 bytes from the offset, or none if the value ends there.
  case readBlob([UInt8])
  /// A Read Multiple Response (Vol 3 Part F §3.4.4.8) with the values without boundaries, cut at ATT_MTU − 1 bytes.
  case readMultiple([UInt8])
  /// A Read By Group Type Response (Vol 3 Part F §3.4.4.10) with at least one value. All values have the same length, at most 251 bytes.
  case readByGroupType([HandleGroup])
  /// A Read Multiple Variable Response (Vol 3 Part F §3.4.4.12). `truncated` is the last value's full length in bytes, nil if uncut.
  case readMultipleVariable([[UInt8]], truncated: UInt16?)
  /// A Write Response (Vol 3 Part F §3.4.5.2), which confirms a Write Request.
  case write
  /// A Prepare Write Response (Vol 3 Part F §3.4.6.2), which repeats the parameters of the request.
  case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
  /// An Execute Write Response (Vol 3 Part F §3.4.6.4), which confirms that the server wrote or canceled the prepared writes.
  case executeWrite
}

/// A command from client to server, which has no response.
package enum ATTCommand: Equatable, Sendable {
  /// A Write Command (Vol 3 Part F §3.4.5.3), which writes a value without confirmation.
  case write(AttributeHandle, value: [UInt8])
  /// A Signed Write Command (Vol 3 Part F §3.4.5.4). `signature` has 12 bytes: the sign counter, then the MAC.
  case signedWrite(AttributeHandle, value: [UInt8], signature: [UInt8])
}

/// An unsolicited PDU from server to client.
package enum Unsolicited: Equatable, Sendable {
  /// A Handle Value Notification (Vol 3 Part F §3.4.7.1), which the client does not confirm.
  case notification(HandleValue)
  /// A Handle Value Indication (Vol 3 Part F §3.4.7.2), which the client must confirm.
  case indication(HandleValue)
  /// A Multiple Handle Value Notification (Vol 3 Part F §3.4.7.4). `isTruncated` is true if the parser dropped an incomplete last tuple.
  case multipleNotification([HandleValue], isTruncated: Bool)
}

extension Request {
  /// Parses a whole request, starting with the opcode.
  /// - Throws: `MalformedPacket` for wrong lengths, which a server answers with Invalid PDU (0x04), and for other PDUs.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = ATTOpcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .request(let method) = opcode else { throw MalformedPacket("\(opcode): not a request", at: 0) }
    switch method {
    case .exchangeMTU: self = .exchangeMTU(clientRxMTU: try reader.uint16("Client Rx MTU"))
    case .findInformation: self = .findInformation(try reader.range())
    case .findByTypeValue:
      self = .findByTypeValue(try reader.range(), type: try reader.uint16("Attribute Type"), value: reader.rest())
    case .readByType: self = .readByType(try reader.range(), type: try reader.type())
    case .read: self = .read(try reader.attributeHandle())
    case .readBlob: self = .readBlob(try reader.attributeHandle(), offset: try reader.uint16("Value Offset"))
    case .readMultiple: self = .readMultiple(try reader.handles())
    case .readByGroupType: self = .readByGroupType(try reader.range(), type: try reader.type())
    case .readMultipleVariable: self = .readMultipleVariable(try reader.handles())
    case .write: self = .write(try reader.attributeHandle(), value: reader.rest())
    case .prepareWrite:
      self = .prepareWrite(try reader.attributeHandle(), offset: try reader.uint16("Value Offset"), value: reader.rest())
    case .executeWrite: self = .executeWrite(flags: try reader.uint8("Flags"))
    }
    guard reader.isAtEnd else { throw MalformedPacket("\(opcode): \(reader.remaining.counted("trailing byte"))", at: reader.offset) }
  }

  package var opcode: ATTOpcode { .request(method) }

  package var method: RequestOpcode {
    switch self {
    case .exchangeMTU: .exchangeMTU
    case .findInformation: .findInformation
    case .findByTypeValue: .findByTypeValue
    case .readByType: .readByType
    case .read: .read
    case .readBlob: .readBlob
    case .readMultiple: .readMultiple
    case .readByGroupType: .readByGroupType
    case .readMultipleVariable: .readMultipleVariable
    case .write: .write
    case .prepareWrite: .prepareWrite
    case .executeWrite: .executeWrite
    }
  }

  /// The handle in the request, or the first handle of its range or list. 0x0000 if the request has none.
  package var handle: AttributeHandle {
    switch self {
    case .exchangeMTU, .executeWrite: 0
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      range.start
    case .read(let handle), .readBlob(let handle, _), .write(let handle, _), .prepareWrite(let handle, _, _): handle
    case .readMultiple(let handles), .readMultipleVariable(let handles): handles.first ?? 0
    }
  }

  /// The encoded request, starting with the opcode.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .exchangeMTU(let mtu): writer.uint16(mtu)
    case .findInformation(let range): writer.range(range)
    case .findByTypeValue(let range, let type, let value):
      writer.range(range)
      writer.uint16(type)
      writer.append(value)
    case .readByType(let range, let type), .readByGroupType(let range, let type):
      writer.range(range)
      writer.append(type.attBytes)
    case .read(let handle): writer.handle(handle)
    case .readBlob(let handle, let offset):
      writer.handle(handle)
      writer.uint16(offset)
    case .readMultiple(let handles), .readMultipleVariable(let handles): for handle in handles { writer.handle(handle) }
    case .write(let handle, let value): writer.handle(handle, value)
    case .prepareWrite(let handle, let offset, let value):
      writer.handle(handle)
      writer.uint16(offset)
      writer.append(value)
    case .executeWrite(let flags): writer.uint8(flags)
    }
    return writer.bytes
  }
}

extension Response {
  /// Parses a whole response, starting with the opcode. Does not validate handles, whose valid range depends on the request.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = ATTOpcode(rawValue: try reader.uint8("ATT opcode"))
    switch opcode {
    case .response(let method): self = try Self.parse(method, opcode, &reader)
    case .error:
      self = .error(
        request: ATTOpcode(rawValue: try reader.uint8("Request Opcode In Error")), handle: try reader.attributeHandle(),
        code: ErrorCode(rawValue: try reader.uint8("Error Code")))
    case .request, .command, .unsolicited, .confirmation, .unknown: throw MalformedPacket("\(opcode): not a response", at: 0)
    }
    guard reader.isAtEnd else { throw MalformedPacket("\(opcode): \(reader.remaining.counted("trailing byte"))", at: reader.offset) }
  }

  private static func parse(_ method: RequestOpcode, _ opcode: ATTOpcode, _ reader: inout ByteReader) throws(MalformedPacket) -> Response {
    switch method {
    case .exchangeMTU: return .exchangeMTU(serverRxMTU: try reader.uint16("Server Rx MTU"))
    case .findInformation: return .findInformation(try reader.information())
    case .findByTypeValue:
      var ranges: [HandleRange] = []
      repeat { ranges.append(try reader.range()) } while !reader.isAtEnd
      return .findByTypeValue(ranges)
    case .readByType:
      let length = try reader.itemLength(opcode, atLeast: 2)
      var items: [HandleValue] = []
      repeat {
        items.append(HandleValue(try reader.attributeHandle(), try reader.bytes(length - 2, "Attribute Value")))
      } while !reader.isAtEnd
      return .readByType(items)
    case .read: return .read(reader.rest())
    case .readBlob: return .readBlob(reader.rest())
    case .readMultiple: return .readMultiple(reader.rest())
    case .readByGroupType:
      let length = try reader.itemLength(opcode, atLeast: 4)
      var groups: [HandleGroup] = []
      repeat {
        let range = try reader.range()
        groups.append(HandleGroup(range.start, range.end, try reader.bytes(length - 4, "Attribute Value")))
      } while !reader.isAtEnd
      return .readByGroupType(groups)
    case .readMultipleVariable:
      var values: [[UInt8]] = []
      var truncated: UInt16?
      while !reader.isAtEnd {
        // The response is cut at ATT_MTU, possibly inside a length field, whose value then is unknown.
        guard reader.remaining >= 2 else {
          _ = reader.rest()
          break
        }
        let length = try reader.uint16("Value Length")
        if Int(length) > reader.remaining { truncated = length }
        values.append(try reader.bytes(min(Int(length), reader.remaining), "Attribute Value"))
      }
      return .readMultipleVariable(values, truncated: truncated)
    case .write: return .write
    case .prepareWrite:
      return .prepareWrite(try reader.attributeHandle(), offset: try reader.uint16("Value Offset"), value: reader.rest())
    case .executeWrite: return .executeWrite
    }
  }

  package var opcode: ATTOpcode {
    switch self {
    case .error: .error
    case .exchangeMTU: .response(.exchangeMTU)
    case .findInformation: .response(.findInformation)
    case .findByTypeValue: .response(.findByTypeValue)
    case .readByType: .response(.readByType)
    case .read: .response(.read)
    case .readBlob: .response(.readBlob)
    case .readMultiple: .response(.readMultiple)
    case .readByGroupType: .response(.readByGroupType)
    case .readMultipleVariable: .response(.readMultipleVariable)
    case .write: .response(.write)
    case .prepareWrite: .response(.prepareWrite)
    case .executeWrite: .response(.executeWrite)
    }
  }

  /// The encoded response, starting with the opcode. A list of equal-length items ends before the first item of another length.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .error(let request, let handle, let code):
      writer.uint8(request.rawValue)
      writer.handle(handle)
      writer.uint8(code.rawValue)
    case .exchangeMTU(let mtu): writer.uint16(mtu)
    case .findInformation(let items):
      let isShort = items.first?.type.short != nil
      writer.uint8(isShort ? 1 : 2)
      for item in items.prefix(while: { ($0.type.short != nil) == isShort }) { writer.handle(item.handle, item.type.attBytes) }
    case .findByTypeValue(let ranges): for range in ranges { writer.range(range) }
    case .readByType(let items):
      let count = items.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 2))
      for item in items.prefix(while: { $0.value.count == count }) { writer.handle(item.handle, item.value) }
    case .readByGroupType(let groups):
      let count = groups.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 4))
      for group in groups.prefix(while: { $0.value.count == count }) {
        writer.handle(group.handle)
        writer.handle(group.endHandle, group.value)
      }
    case .read(let value), .readBlob(let value), .readMultiple(let value): writer.append(value)
    case .readMultipleVariable(let values, let truncated):
      for (index, value) in values.enumerated() {
        let whole = index == values.count - 1 ? truncated : nil
        writer.uint16(whole ?? UInt16(clamping: value.count))
        writer.append(value)
      }
    case .prepareWrite(let handle, let offset, let value):
      writer.handle(handle)
      writer.uint16(offset)
      writer.append(value)
    case .write, .executeWrite: break
    }
    return writer.bytes
  }
}

extension ATTCommand {
  /// Parses a whole command, starting with the opcode.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = ATTOpcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .command(let method) = opcode else { throw MalformedPacket("\(opcode): not a command", at: 0) }
    switch method {
    case .write: self = .write(try reader.attributeHandle(), value: reader.rest())
    case .signedWrite:
      let handle = try reader.attributeHandle()
      let value = try reader.bytes(reader.remaining - 12, "Authentication Signature")
      self = .signedWrite(handle, value: value, signature: reader.rest())
    }
  }

  package var opcode: ATTOpcode {
    switch self {
    case .write: .command(.write)
    case .signedWrite: .command(.signedWrite)
    }
  }

  /// The encoded command, starting with the opcode.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .write(let handle, let value): writer.handle(handle, value)
    case .signedWrite(let handle, let value, let signature):
      writer.handle(handle, value)
      writer.append(signature)
    }
    return writer.bytes
  }
}

extension Unsolicited {
  /// Parses a whole notification or indication, starting with the opcode.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = ATTOpcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .unsolicited(let method) = opcode else { throw MalformedPacket("\(opcode): not a notification or indication", at: 0) }
    switch method {
    case .notification: self = .notification(HandleValue(try reader.attributeHandle(), reader.rest()))
    case .indication: self = .indication(HandleValue(try reader.attributeHandle(), reader.rest()))
    case .multipleNotification:
      var items: [HandleValue] = []
      var isTruncated = false
      while !reader.isAtEnd, !isTruncated {
        guard reader.remaining >= 4 else {
          isTruncated = true
          break
        }
        let handle = try reader.attributeHandle()
        let length = Int(try reader.uint16("Value Length"))
        if length > reader.remaining { isTruncated = true } else { items.append(HandleValue(handle, try reader.bytes(length, "Value"))) }
      }
      guard !items.isEmpty || isTruncated else { throw MalformedPacket("\(opcode): no tuple", at: 1) }
      self = .multipleNotification(items, isTruncated: isTruncated)
    }
  }

  package var opcode: ATTOpcode {
    switch self {
    case .notification: .unsolicited(.notification)
    case .indication: .unsolicited(.indication)
    case .multipleNotification: .unsolicited(.multipleNotification)
    }
  }

  /// The encoded PDU, starting with the opcode. Omits the truncated tuple that the parser dropped.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .notification(let item), .indication(let item): writer.handle(item.handle, item.value)
    case .multipleNotification(let items, _):
      for item in items {
        writer.handle(item.handle)
        writer.uint16(UInt16(clamping: item.value.count))
        writer.append(item.value)
      }
    }
    return writer.bytes
  }
}

extension ByteReader {
  fileprivate mutating func attributeHandle() throws(MalformedPacket) -> AttributeHandle {
    AttributeHandle(rawValue: try uint16("Attribute Handle"))
  }

  fileprivate mutating func range() throws(MalformedPacket) -> HandleRange {
    HandleRange(AttributeHandle(rawValue: try uint16("Starting Handle")), AttributeHandle(rawValue: try uint16("Ending Handle")))
  }

  /// Reads all remaining bytes as a UUID of 2 or 16 bytes, least significant byte first.
  fileprivate mutating func type() throws(MalformedPacket) -> UUID {
    let position = offset
    let count = remaining
    guard count == 2 || count == 16, let uuid = UUID(littleEndian: rest()) else {
      throw MalformedPacket("Attribute Type: needs 2 or 16 bytes, has \(count)", at: position)
    }
    return uuid
  }

  /// Reads all remaining bytes as handles, at least two.
  fileprivate mutating func handles() throws(MalformedPacket) -> [AttributeHandle] {
    var handles: [AttributeHandle] = []
    repeat { handles.append(try attributeHandle()) } while !isAtEnd || handles.count < 2
    return handles
  }

  /// Reads the item length, in bytes, of a list. Throws an error if the remaining bytes contain no item or a partial item.
  fileprivate mutating func itemLength(_ opcode: ATTOpcode, atLeast minimum: Int) throws(MalformedPacket) -> Int {
    let position = offset
    let length = Int(try uint8("Length"))
    guard length >= minimum else {
      throw MalformedPacket("\(opcode): item length \(length) is below the minimum, \(minimum)", at: position)
    }
    guard remaining > 0, remaining % length == 0 else {
      throw MalformedPacket("\(opcode): the list has \(remaining) bytes, not a multiple of \(length)", at: position)
    }
    return length
  }

  fileprivate mutating func information() throws(MalformedPacket) -> [HandleType] {
    let position = offset
    let format = try uint8("Format")
    guard format == 1 || format == 2 else {
      throw MalformedPacket("Find Information Response: unknown format 0x\(Hex.encode([format]))", at: position)
    }
    let size = format == 1 ? 2 : 16
    guard remaining > 0, remaining % (size + 2) == 0 else {
      throw MalformedPacket("Find Information Response: the list has \(remaining) bytes, not a multiple of \(size + 2)", at: position)
    }
    var items: [HandleType] = []
    repeat {
      let handle = try attributeHandle()
      guard let type = UUID(littleEndian: try slice(size, "UUID")) else {
        throw MalformedPacket("UUID: invalid length \(size)", at: offset)
      }
      items.append(HandleType(handle, type))
    } while !isAtEnd
    return items
  }
}

extension ByteWriter {
  fileprivate mutating func handle(_ handle: AttributeHandle) { uint16(handle.rawValue) }

  /// Writes a handle and the value after it.
  fileprivate mutating func handle(_ handle: AttributeHandle, _ value: [UInt8]) {
    uint16(handle.rawValue)
    append(value)
  }

  fileprivate mutating func range(_ range: HandleRange) {
    handle(range.start)
    handle(range.end)
  }
}
