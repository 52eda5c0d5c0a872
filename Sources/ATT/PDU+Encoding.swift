import Bluetooth

extension Request {
  package var opcode: Opcode { .request(method) }

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

  /// The attribute that the request is about, or the first of its range; 0x0000 when there is none.
  package var handle: AttributeHandle {
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
    case .read(let handle): writer.handle(handle)
    case .readBlob(let handle, let offset):
      writer.handle(handle)
      writer.uint16(offset)
    case .readMultiple(let handles), .readMultipleVariable(let handles): for handle in handles { writer.handle(handle) }
    case .write(let handle, let value):
      writer.handle(handle)
      writer.append(value)
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
  package var opcode: Opcode {
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

  /// As on the air. In lists whose items must have one length, items of another length than the first, and what follows them, are left out.
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
      for item in items.prefix(while: { ($0.type.short != nil) == isShort }) {
        writer.handle(item.handle)
        writer.append(item.type.attBytes)
      }
    case .findByTypeValue(let ranges): for range in ranges { writer.range(range) }
    case .readByType(let items):
      let count = items.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 2))
      for item in items.prefix(while: { $0.value.count == count }) {
        writer.handle(item.handle)
        writer.append(item.value)
      }
    case .readByGroupType(let groups):
      let count = groups.first?.value.count ?? 0
      writer.uint8(UInt8(clamping: count + 4))
      for group in groups.prefix(while: { $0.value.count == count }) {
        writer.handle(group.handle)
        writer.handle(group.endHandle)
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
      writer.handle(handle)
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
    case .write: .command(.write)
    case .signedWrite: .command(.signedWrite)
    }
  }

  /// As on the air.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .write(let handle, let value):
      writer.handle(handle)
      writer.append(value)
    case .signedWrite(let handle, let value, let signature):
      writer.handle(handle)
      writer.append(value)
      writer.append(signature)
    }
    return writer.bytes
  }
}

extension Unsolicited {
  package var opcode: Opcode {
    switch self {
    case .notification: .unsolicited(.notification)
    case .indication: .unsolicited(.indication)
    case .multipleNotification: .unsolicited(.multipleNotification)
    }
  }

  /// As on the air. What `isTruncated` left out is not made up.
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .notification(let item), .indication(let item):
      writer.handle(item.handle)
      writer.append(item.value)
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

extension ByteWriter {
  fileprivate mutating func handle(_ handle: AttributeHandle) { uint16(handle.rawValue) }

  fileprivate mutating func range(_ range: HandleRange) {
    handle(range.start)
    handle(range.end)
  }
}
