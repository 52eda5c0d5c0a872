package import BluetoothLE

extension DecodedPacket {
  /// Decodes an ATT PDU into named fields.
  /// - Parameter request: The request that the PDU answers, which names the attributes of a response. Nil if unknown.
  package init(att bytes: [UInt8], answering request: Request? = nil) {
    guard let first = bytes.first else {
      self.init("ATT PDU", problem: MalformedPacket("ATT PDU: no opcode", at: 0))
      return
    }
    let opcode = ATTOpcode(rawValue: first)
    self.init(opcode.description)
    do throws(MalformedPacket) {
      switch try PDU(parsing: bytes) {
      case .request(let pdu): fields = Self.fields(pdu)
      case .response(let pdu): fields = Self.fields(pdu, request)
      case .command(let pdu): fields = Self.fields(pdu)
      case .unsolicited(let pdu): fields = Self.fields(pdu)
      case .confirmation: break
      case .unknown: fields = [PacketField("parameters", .bytes(Array(bytes.dropFirst())))]
      }
    } catch {
      problem = error
      fields = [PacketField("parameters", .bytes(Array(bytes.dropFirst())))]
    }
  }

  private static func fields(_ pdu: Request) -> [PacketField] {
    switch pdu {
    case .exchangeMTU(let mtu): [number("client_rx_mtu", mtu)]
    case .findInformation(let range): fields(range)
    case .findByTypeValue(let range, let type, let value):
      fields(range) + [PacketField("type", .uuid(UUID(UInt32(type)))), declaration("value", value, of: UUID(UInt32(type)))]
    case .readByType(let range, let type), .readByGroupType(let range, let type): fields(range) + [PacketField("type", .uuid(type))]
    case .read(let handle): [attribute(handle)]
    case .readBlob(let handle, let offset): [attribute(handle), number("offset", offset)]
    case .readMultiple(let handles), .readMultipleVariable(let handles): [PacketField("attributes", .list(handles.map { [attribute($0)] }))]
    case .write(let handle, let value): [attribute(handle), self.value(value, of: handle)]
    case .prepareWrite(let handle, let offset, let value):
      [attribute(handle), number("offset", offset), self.value(value, of: handle, isWhole: false)]
    case .executeWrite(let flags): [PacketField("flags", .choice(flags, flags == 0 ? "cancel" : flags == 1 ? "write" : nil))]
    }
  }

  private static func fields(_ pdu: Response, _ request: Request?) -> [PacketField] {
    switch pdu {
    case .error(let opcode, let handle, let code):
      return [PacketField("request", .code(Int64(opcode.rawValue), opcode.description))] + place(of: code, handle, opcode, request) + [
        PacketField("error", .attError(code))
      ]
    case .exchangeMTU(let mtu): return [number("server_rx_mtu", mtu)]
    case .findInformation(let items):
      return [PacketField("items", .list(items.map { [attribute($0.handle), PacketField("type", .uuid($0.type))] }))]
    case .findByTypeValue(let ranges): return [PacketField("items", .list(ranges.map { [attribute($0.start), end($0.end)] }))]
    case .readByType(let items):
      let type: UUID? = if case .readByType(_, let type)? = request { type } else { nil }
      return [PacketField("items", .list(items.map { [attribute($0.handle)] + declared($0.value, of: type, at: $0.handle) }))]
    case .readByGroupType(let groups):
      let type: UUID? = if case .readByGroupType(_, let type)? = request { type } else { nil }
      return [
        PacketField("items", .list(groups.map { [attribute($0.handle), end($0.endHandle), declaration("value", $0.value, of: type)] }))
      ]
    case .read(let value):
      guard case .read(let handle)? = request else { return [self.value(value, of: nil)] }
      return [attribute(handle), self.value(value, of: handle)]
    case .readBlob(let value):
      guard case .readBlob(let handle, let offset)? = request else { return [self.value(value, of: nil, isWhole: false)] }
      return [attribute(handle), number("offset", offset), self.value(value, of: handle, isWhole: false)]
    case .readMultiple(let values): return [self.value(values, of: nil, isWhole: false)]
    case .readMultipleVariable(let values, let truncated):
      let handles: [AttributeHandle] = if case .readMultipleVariable(let handles)? = request { handles } else { [] }
      let items = values.enumerated().map { index, value in
        let isWhole = truncated == nil || index < values.count - 1
        guard index < handles.count else { return [self.value(value, of: nil, isWhole: isWhole)] }
        return [attribute(handles[index]), self.value(value, of: handles[index], isWhole: isWhole)]
      }
      return [PacketField("items", .list(items))] + (truncated.map { [number("truncated_length", $0)] } ?? [])
    case .write:
      guard case .write(let handle, _)? = request else { return [] }
      return [attribute(handle)]
    case .prepareWrite(let handle, let offset, let value):
      return [attribute(handle), number("offset", offset), self.value(value, of: handle, isWhole: false)]
    case .executeWrite: return []
    }
  }

  private static func fields(_ pdu: ATTCommand) -> [PacketField] {
    switch pdu {
    case .write(let handle, let value): [attribute(handle), self.value(value, of: handle)]
    case .signedWrite(let handle, let value, let signature):
      [attribute(handle), self.value(value, of: handle), PacketField("signature", .bytes(signature))]
    }
  }

  private static func fields(_ pdu: Unsolicited) -> [PacketField] {
    switch pdu {
    case .notification(let item), .indication(let item): [attribute(item.handle), value(item.value, of: item.handle)]
    case .multipleNotification(let items, let isTruncated):
      [PacketField("items", .list(items.map { [attribute($0.handle), value($0.value, of: $0.handle)] }))]
        + (isTruncated ? [PacketField("truncated", .flag(true))] : [])
    }
  }

  /// Returns the fields of one attribute in a Read By Type Response. A characteristic declaration has several fields (Vol 3 Part G §3.3.1).
  private static func declared(_ bytes: [UInt8], of type: UUID?, at handle: AttributeHandle) -> [PacketField] {
    guard type == .characteristic, bytes.count == 5 || bytes.count == 19, let uuid = UUID(littleEndian: bytes[3...]) else {
      return [value(bytes, of: handle, isWhole: type != .characteristic)]
    }
    let valueHandle = AttributeHandle(rawValue: bytes.uint16(at: 1))
    return [
      PacketField("properties", .mask(UInt64(bytes[0]), bytes: 1)), place("value_handle", valueHandle),
      PacketField("declares", .uuid(uuid)),
    ]
  }

  /// Returns the field for the value of a declaration. The value of a service declaration is the service's UUID.
  private static func declaration(_ name: String, _ value: [UInt8], of type: UUID?) -> PacketField {
    if type == nil || type == .primaryService || type == .secondaryService, value.count == 2 || value.count == 16,
      let uuid = UUID(littleEndian: value[...])
    {
      return PacketField("declares", .uuid(uuid))
    }
    return PacketField(name, .bytes(value))
  }

  /// Returns the fields for the handle in an Error Response. If the request was a search that found no attribute, the handle is the
  /// start of the searched range (Vol 3 Part F §3.4.3, §3.4.4.1, §3.4.4.9).
  private static func place(of code: ErrorCode, _ handle: AttributeHandle, _ opcode: ATTOpcode, _ request: Request?) -> [PacketField] {
    let looksThroughRange: Bool =
      switch opcode {
      case .request(.findInformation), .request(.findByTypeValue), .request(.readByType), .request(.readByGroupType): true
      default: false
      }
    guard looksThroughRange, [.attributeNotFound, .invalidHandle, .unsupportedGroupType].contains(code) else { return [attribute(handle)] }
    let range = request?.range
    return [place("start_handle", handle)] + (range?.start == handle ? range.map { [end($0.end)] } ?? [] : [])
  }

  private static func fields(_ range: HandleRange) -> [PacketField] { [place("start_handle", range.start), end(range.end)] }

  private static func attribute(_ handle: AttributeHandle) -> PacketField { PacketField("handle", .attribute(handle)) }
  private static func end(_ handle: AttributeHandle) -> PacketField { place("end_handle", handle) }

  /// Returns a field for a handle that is the limit of a range, and so names no attribute.
  private static func place(_ name: String, _ handle: AttributeHandle) -> PacketField {
    PacketField(name, .mask(UInt64(handle.rawValue), bytes: 2))
  }

  private static func number(_ name: String, _ value: UInt16) -> PacketField { PacketField(name, .number(Int64(value))) }
  private static func value(_ bytes: [UInt8], of handle: AttributeHandle?, isWhole: Bool = true) -> PacketField {
    PacketField("value", .value(bytes, of: handle, isWhole: isWhole))
  }
}
