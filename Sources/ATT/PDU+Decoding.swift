package import Bluetooth
import Text

extension Request {
  /// A whole request, opcode first.
  /// - Throws: for wrong lengths, which a server answers with Invalid PDU (0x04), and for what is not a request.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = Opcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .request(let method) = opcode else { throw MalformedPacket("\(opcode): not a request", at: 0) }
    switch method {
    case .exchangeMTU: self = .exchangeMTU(clientRxMTU: try reader.uint16("Client Rx MTU"))
    case .findInformation: self = .findInformation(try reader.range())
    case .findByTypeValue:
      self = .findByTypeValue(try reader.range(), type: try reader.uint16("Attribute Type"), value: reader.rest())
    case .readByType: self = .readByType(try reader.range(), type: try reader.type())
    case .read: self = .read(try reader.handle())
    case .readBlob: self = .readBlob(try reader.handle(), offset: try reader.uint16("Value Offset"))
    case .readMultiple: self = .readMultiple(try reader.handles())
    case .readByGroupType: self = .readByGroupType(try reader.range(), type: try reader.type())
    case .readMultipleVariable: self = .readMultipleVariable(try reader.handles())
    case .write: self = .write(try reader.handle(), value: reader.rest())
    case .prepareWrite:
      self = .prepareWrite(try reader.handle(), offset: try reader.uint16("Value Offset"), value: reader.rest())
    case .executeWrite: self = .executeWrite(flags: try reader.uint8("Flags"))
    }
    guard reader.isAtEnd else { throw MalformedPacket("\(opcode): \(reader.remaining) trailing byte(s)", at: reader.offset) }
  }
}

extension Response {
  /// A whole response, opcode first. Handles are not judged here: whether a list advances depends on what was asked.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = Opcode(rawValue: try reader.uint8("ATT opcode"))
    switch opcode {
    case .response(let method): self = try Self.parse(method, opcode, &reader)
    case .error:
      self = .error(
        request: Opcode(rawValue: try reader.uint8("Request Opcode In Error")), handle: try reader.handle(),
        code: ErrorCode(rawValue: try reader.uint8("Error Code")))
    case .request, .command, .unsolicited, .confirmation, .unknown: throw MalformedPacket("\(opcode): not a response", at: 0)
    }
    guard reader.isAtEnd else { throw MalformedPacket("\(opcode): \(reader.remaining) trailing byte(s)", at: reader.offset) }
  }

  private static func parse(_ method: RequestOpcode, _ opcode: Opcode, _ reader: inout ByteReader) throws(MalformedPacket) -> Response {
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
      repeat { items.append(HandleValue(try reader.handle(), try reader.bytes(length - 2, "Attribute Value"))) } while !reader.isAtEnd
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
      return .prepareWrite(try reader.handle(), offset: try reader.uint16("Value Offset"), value: reader.rest())
    case .executeWrite: return .executeWrite
    }
  }
}

extension Command {
  /// A whole command, opcode first.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = Opcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .command(let method) = opcode else { throw MalformedPacket("\(opcode): not a command", at: 0) }
    switch method {
    case .write: self = .write(try reader.handle(), value: reader.rest())
    case .signedWrite:
      let handle = try reader.handle()
      let value = try reader.bytes(reader.remaining - 12, "Authentication Signature")
      self = .signedWrite(handle, value: value, signature: reader.rest())
    }
  }
}

extension Unsolicited {
  /// A whole notification or indication, opcode first.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let opcode = Opcode(rawValue: try reader.uint8("ATT opcode"))
    guard case .unsolicited(let method) = opcode else { throw MalformedPacket("\(opcode): not a notification or indication", at: 0) }
    switch method {
    case .notification: self = .notification(HandleValue(try reader.handle(), reader.rest()))
    case .indication: self = .indication(HandleValue(try reader.handle(), reader.rest()))
    case .multipleNotification:
      var items: [HandleValue] = []
      var isTruncated = false
      while !reader.isAtEnd, !isTruncated {
        guard reader.remaining >= 4 else {
          isTruncated = true
          break
        }
        let handle = try reader.handle()
        let length = Int(try reader.uint16("Value Length"))
        if length > reader.remaining { isTruncated = true } else { items.append(HandleValue(handle, try reader.bytes(length, "Value"))) }
      }
      guard !items.isEmpty || isTruncated else { throw MalformedPacket("\(opcode): no tuple", at: 1) }
      self = .multipleNotification(items, isTruncated: isTruncated)
    }
  }
}

extension ByteReader {
  fileprivate mutating func handle() throws(MalformedPacket) -> AttributeHandle {
    AttributeHandle(rawValue: try uint16("Attribute Handle"))
  }

  fileprivate mutating func range() throws(MalformedPacket) -> HandleRange {
    HandleRange(AttributeHandle(rawValue: try uint16("Starting Handle")), AttributeHandle(rawValue: try uint16("Ending Handle")))
  }

  /// The UUID that ends a request: 2 or 16 octets.
  fileprivate mutating func type() throws(MalformedPacket) -> UUID {
    let position = offset
    let count = remaining
    guard count == 2 || count == 16, let uuid = UUID(littleEndian: rest()) else {
      throw MalformedPacket("Attribute Type: needs 2 or 16 bytes, has \(count)", at: position)
    }
    return uuid
  }

  /// The handles that end a request: two or more.
  fileprivate mutating func handles() throws(MalformedPacket) -> [AttributeHandle] {
    var handles: [AttributeHandle] = []
    repeat { handles.append(try handle()) } while !isAtEnd || handles.count < 2
    return handles
  }

  /// The length octet of a list of equal items, checked against the rest of the PDU: at least one item, no remainder.
  fileprivate mutating func itemLength(_ opcode: Opcode, atLeast minimum: Int) throws(MalformedPacket) -> Int {
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
      let handle = try handle()
      guard let type = UUID(littleEndian: try slice(size, "UUID")) else {
        throw MalformedPacket("UUID: invalid length \(size)", at: offset)
      }
      items.append(HandleType(handle, type))
    } while !isAtEnd
    return items
  }
}
