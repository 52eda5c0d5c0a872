package import BluetoothLE

/// A minimal ATT server, which tests the client independently of our own server.
package struct PlainServer: Sendable {
  package struct Item: Sendable {
    package var handle: AttributeHandle
    package var type: UUID
    package var value: [UInt8]
    package var isReadable = true
    package var isWritable = true

    package init(handle: AttributeHandle, type: UUID, value: [UInt8], isReadable: Bool = true, isWritable: Bool = true) {
      self.handle = handle
      self.type = type
      self.value = value
      self.isReadable = isReadable
      self.isWritable = isWritable
    }
  }

  package var items: [Item]
  package var mtu = 23
  /// The largest MTU that it accepts.
  package var largestMTU = 517
  package var prepared: [(AttributeHandle, Int, [UInt8])] = []
  /// The last handles of services by their first.
  package var ends: [AttributeHandle: AttributeHandle] = [:]

  package init(_ items: [Item]) { self.items = items }

  /// - Returns: Nil for PDUs that are not requests.
  package mutating func answer(_ bytes: [UInt8]) -> [UInt8]? {
    guard case .request(let request)? = try? PDU(parsing: bytes) else { return nil }
    func refuse(_ code: ErrorCode, _ handle: AttributeHandle? = nil) -> [UInt8] {
      Response.error(request: request.opcode, handle: handle ?? request.handle, code: code).bytes
    }
    func found(_ range: HandleRange, _ type: UUID) -> [Item] {
      items.filter { $0.type == type && $0.handle >= range.start && $0.handle <= range.end }
    }
    switch request {
    case .exchangeMTU(let asked):
      mtu = min(Int(asked), largestMTU)
      return Response.exchangeMTU(serverRxMTU: UInt16(clamping: largestMTU)).bytes
    case .findInformation(let range):
      let here = items.filter { $0.handle >= range.start && $0.handle <= range.end }
      guard let first = here.first else { return refuse(.attributeNotFound) }
      let isShort = first.type.short != nil
      let same = here.prefix { ($0.type.short != nil) == isShort }.prefix((mtu - 2) / (isShort ? 4 : 18))
      return Response.findInformation(same.map { HandleType($0.handle, $0.type) }).bytes
    case .findByTypeValue(let range, let type, let value):
      let here = found(range, UUID(UInt32(type))).filter { $0.value == value }.prefix((mtu - 1) / 4)
      return here.isEmpty ? refuse(.attributeNotFound) : Response.findByTypeValue(here.map { HandleRange($0.handle, end(of: $0)) }).bytes
    case .readByType(let range, let type):
      let here = found(range, type)
      guard let first = here.first else { return refuse(.attributeNotFound) }
      guard first.isReadable else { return refuse(.readNotPermitted, first.handle) }
      let count = min(first.value.count, mtu - 4, 253)
      let same = here.prefix { $0.isReadable && $0.value.count == first.value.count }.prefix(max(1, (mtu - 2) / (count + 2)))
      return Response.readByType(same.map { HandleValue($0.handle, Array($0.value.prefix(count))) }).bytes
    case .readByGroupType(let range, let type):
      guard type != UUID(0x2801) || !found(.all, type).isEmpty else { return refuse(.unsupportedGroupType) }
      let here = found(range, type)
      guard let first = here.first else { return refuse(.attributeNotFound) }
      let same = here.prefix { $0.value.count == first.value.count }.prefix((mtu - 2) / (first.value.count + 4))
      return Response.readByGroupType(same.map { HandleGroup($0.handle, end(of: $0), $0.value) }).bytes
    case .read(let handle), .readBlob(let handle, _):
      guard let item = items.first(where: { $0.handle == handle }) else { return refuse(.invalidHandle) }
      guard item.isReadable else { return refuse(.readNotPermitted) }
      guard case .readBlob(_, let offset) = request else { return Response.read(Array(item.value.prefix(mtu - 1))).bytes }
      guard Int(offset) <= item.value.count else { return refuse(.invalidOffset) }
      return Response.readBlob(Array(item.value.dropFirst(Int(offset)).prefix(mtu - 1))).bytes
    case .readMultiple(let handles):
      return Response.readMultiple(handles.flatMap { handle in items.first { $0.handle == handle }?.value ?? [] }).bytes
    case .write(let handle, let value):
      guard let index = items.firstIndex(where: { $0.handle == handle }) else { return refuse(.invalidHandle) }
      guard items[index].isWritable else { return refuse(.writeNotPermitted) }
      items[index].value = value
      return Response.write.bytes
    case .prepareWrite(let handle, let offset, let value):
      guard let item = items.first(where: { $0.handle == handle }), item.isWritable else { return refuse(.writeNotPermitted) }
      prepared.append((handle, Int(offset), value))
      return Response.prepareWrite(handle, offset: offset, value: value).bytes
    case .executeWrite(let flags):
      if flags == 1 {
        for (handle, offset, part) in prepared {
          guard let index = items.firstIndex(where: { $0.handle == handle }) else { continue }
          items[index].value = Array(items[index].value.prefix(offset)) + part
        }
      }
      prepared = []
      return Response.executeWrite.bytes
    case .readMultipleVariable: return refuse(.requestNotSupported, 0)
    }
  }

  private func end(of item: Item) -> AttributeHandle {
    if let end = ends[item.handle] { return end }
    let services = [UUID(0x2800), UUID(0x2801)]
    guard let next = items.first(where: { $0.handle > item.handle && services.contains($0.type) }) else {
      return items.last?.handle ?? 0xFFFF
    }
    return next.handle.previous
  }
}
