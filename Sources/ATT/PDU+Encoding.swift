import Bluetooth

extension Request {
  package var opcode: Opcode {
    switch self {
    case .exchangeMTU: .exchangeMTURequest
    case .findInformation: .findInformationRequest
    case .findByTypeValue: .findByTypeValueRequest
    case .readByType: .readByTypeRequest
    case .read: .readRequest
    case .readBlob: .readBlobRequest
    case .readMultiple: .readMultipleRequest
    case .readByGroupType: .readByGroupTypeRequest
    case .readMultipleVariable: .readMultipleVariableRequest
    case .write: .writeRequest
    case .prepareWrite: .prepareWriteRequest
    case .executeWrite: .executeWriteRequest
    }
  }

  /// The opcode of the response that answers this request.
  package var responseOpcode: Opcode { Opcode(rawValue: opcode.rawValue &+ 1) }

  /// The attribute that the request is about, or the first of its range; 0x0000 when there is none.
  package var handle: UInt16 {
    switch self {
    case .exchangeMTU, .executeWrite: 0
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      range.start
    case .read(let handle), .readBlob(let handle, _), .write(let handle, _), .prepareWrite(let handle, _, _): handle
    case .readMultiple(let handles), .readMultipleVariable(let handles): handles.first ?? 0
    }
  }

  /// As on the air.
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
    case .read(let handle): writer.uint16(handle)
    case .readBlob(let handle, let offset):
      writer.uint16(handle)
      writer.uint16(offset)
    case .readMultiple(let handles), .readMultipleVariable(let handles):
      for handle in handles { writer.uint16(handle) }
    case .write(let handle, let value):
      writer.uint16(handle)
      writer.append(value)
    case .prepareWrite(let handle, let offset, let value):
      writer.uint16(handle)
      writer.uint16(offset)
      writer.append(value)
    case .executeWrite(let flags): writer.uint8(flags)
    }
    return writer.bytes
  }
}

extension Response {
  package var opcode: Opcode {
    switch self {
    case .error: .errorResponse
    case .exchangeMTU: .exchangeMTUResponse
    case .findInformation: .findInformationResponse
    case .findByTypeValue: .findByTypeValueResponse
    case .readByType: .readByTypeResponse
    case .read: .readResponse
    case .readBlob: .readBlobResponse
    case .readMultiple: .readMultipleResponse
    case .readByGroupType: .readByGroupTypeResponse
    case .readMultipleVariable: .readMultipleVariableResponse
    case .write: .writeResponse
    case .prepareWrite: .prepareWriteResponse
    case .executeWrite: .executeWriteResponse
    }
  }

  /// As on the air. In lists whose items must have one length, items of another length than the first, and what follows them, are left out.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .error(let request, let handle, let code):
      writer.uint8(request.rawValue)
      writer.uint16(handle)
      writer.uint8(code.rawValue)
    case .exchangeMTU(let mtu): writer.uint16(mtu)
    case .findInformation(let items):
      let isShort = items.first?.type.short != nil
      writer.uint8(isShort ? 1 : 2)
      for item in items.prefix(while: { ($0.type.short != nil) == isShort }) {
        writer.uint16(item.handle)
        writer.append(item.type.attBytes)
      }
    case .findByTypeValue(let ranges):
      for range in ranges { writer.range(range) }
    case .readByType(let items):
      let count = items.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 2))
      for item in items.prefix(while: { $0.value.count == count }) {
        writer.uint16(item.handle)
        writer.append(item.value)
      }
    case .readByGroupType(let groups):
      let count = groups.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 4))
      for group in groups.prefix(while: { $0.value.count == count }) {
        writer.uint16(group.handle)
        writer.uint16(group.endHandle)
        writer.append(group.value)
      }
    case .read(let value), .readBlob(let value), .readMultiple(let value): writer.append(value)
    case .readMultipleVariable(let values, let truncated):
      for (index, value) in values.enumerated() {
        let whole = index == values.count - 1 ? truncated : nil
        writer.uint16(whole ?? UInt16(clamping: value.count))
        writer.append(value)
      }
    case .prepareWrite(let handle, let offset, let value):
      writer.uint16(handle)
      writer.uint16(offset)
      writer.append(value)
    case .write, .executeWrite: break
    }
    return writer.bytes
  }
}

extension Command {
  package var opcode: Opcode {
    switch self {
    case .write: .writeCommand
    case .signedWrite: .signedWriteCommand
    }
  }

  /// As on the air.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .write(let handle, let value):
      writer.uint16(handle)
      writer.append(value)
    case .signedWrite(let handle, let value, let signature):
      writer.uint16(handle)
      writer.append(value)
      writer.append(signature)
    }
    return writer.bytes
  }
}

extension Unsolicited {
  package var opcode: Opcode {
    switch self {
    case .notification: .handleValueNotification
    case .indication: .handleValueIndication
    case .multipleNotification: .multipleHandleValueNotification
    }
  }

  /// As on the air. What `isTruncated` left out is not made up.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .notification(let item), .indication(let item):
      writer.uint16(item.handle)
      writer.append(item.value)
    case .multipleNotification(let items, _):
      for item in items {
        writer.uint16(item.handle)
        writer.uint16(UInt16(clamping: item.value.count))
        writer.append(item.value)
      }
    }
    return writer.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func range(_ range: HandleRange) {
    uint16(range.start)
    uint16(range.end)
  }
}
