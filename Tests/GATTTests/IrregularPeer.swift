import TestSupport

extension IrregularEntry {
  /// Whether discovery finds nothing for this entry.
  var isLeftOut: Bool {
    switch fault {
    case .noHandle, .malformed, .repeated, .notAdvancing, .outsideServices(nil, _), .unlisted, .tooMany: true
    default: false
    }
  }
}

/// A device with one irregular entry in its answers to discovery, the same in every answer.
struct IrregularPeer: Sendable {
  enum List: String, CaseIterable, Sendable { case service, include, characteristic, attribute }

  /// The fault of the entry.
  enum Fault: Sendable, Equatable {
    /// Another handle replaces its own.
    case handle(AttributeHandle)
    /// The last handle of a service or an included service, relative to its first.
    case end(Int)
    /// These bytes replace its value.
    case value([UInt8])
    /// The value handle of a characteristic.
    case valueHandle(AttributeHandle)
    /// The entry trades places with the next one.
    case swapped
    case repeated
    /// The entry appears again with a change.
    case twice
  }

  var server: PlainServer
  let list: List
  /// The handle of the entry.
  let handle: AttributeHandle
  let fault: Fault

  mutating func answer(_ request: [UInt8]) -> [UInt8]? {
    guard let bytes = server.answer(request), case .request(let asked)? = try? PDU(parsing: request),
      let response = try? Response(parsing: bytes)
    else { return nil }
    switch (response, asked) {
    case (.readByGroupType(let items), _) where list == .service:
      return Response.readByGroupType(changed(items, \.handle, \.value.count) { change(&$0) }).bytes
    case (.findByTypeValue(let items), _) where list == .service:
      return Response.findByTypeValue(
        changed(items, \.start, { _ in 0 }) {
          if case .handle(let handle) = fault { $0.start = handle }
          if case .end(let distance) = fault { $0.end = AttributeHandle(clamping: $0.start.number + distance) }
        }
      ).bytes
    case (.readByType(let items), .readByType(_, UUID(0x2802))) where list == .include,
      (.readByType(let items), .readByType(_, UUID(0x2803))) where list == .characteristic:
      return Response.readByType(changed(items, \.handle, \.value.count) { change(&$0) }).bytes
    case (.readByType(let items), .readByType(_, UUID(0x2902))) where list == .attribute,
      (.readByType(let items), .readByType(_, UUID(0x2901))) where list == .attribute:
      return Response.readByType(changed(items, \.handle, \.value.count) { change(&$0) }).bytes
    case (.findInformation(let items), _) where list == .attribute:
      let all = changed(items, \.handle, { $0.type.short == nil ? 16 : 2 }) {
        if case .handle(let handle) = fault { $0.handle = handle }
        if case .twice = fault { $0.type = UUID(0x2AAA) }
      }
      return Response.findInformation(all).bytes
    default: return bytes
    }
  }

  /// Returns the entries with the fault, up to the first of another length: an answer has one length.
  private func changed<Item>(
    _ items: [Item], _ handle: (Item) -> AttributeHandle, _ length: (Item) -> Int, _ change: (inout Item) -> Void
  ) -> [Item] {
    guard let index = items.firstIndex(where: { handle($0) == self.handle }) else { return items }
    var items = items
    switch fault {
    case .swapped:
      let other = index + 1 < items.count ? index + 1 : index - 1
      if items.indices.contains(other) { items.swapAt(index, other) }
    case .repeated: items.insert(items[index], at: index)
    case .twice:
      var other = items[index]
      change(&other)
      items.insert(other, at: index + 1)
    default: change(&items[index])
    }
    let first = items[0]
    return Array(items.prefix { length($0) == length(first) })
  }

  private func change(_ item: inout HandleGroup) {
    switch fault {
    case .handle(let handle): item.handle = handle
    case .end(let distance): item.endHandle = AttributeHandle(clamping: item.handle.number + distance)
    case .value(let value): item.value = value
    case .twice: item.value = [0xAA, 0xFF]
    default: break
    }
  }

  private func change(_ item: inout HandleValue) {
    switch fault {
    case .handle(let handle): item.handle = handle
    case .end(let distance):
      let start = UInt16(item.value[0]) | UInt16(item.value[1]) << 8
      item.value.replaceSubrange(2..<4, with: little(AttributeHandle(clamping: Int(start) + distance)))
    case .value(let value): item.value = value
    case .valueHandle(let handle): item.value.replaceSubrange(1..<3, with: little(handle))
    case .twice: item.value[item.value.count - 1] ^= 0x40
    default: break
    }
  }

  /// The result of discovery by a client.
  struct Outcome: Sendable {
    let table: AttributeTable
    let entries: [IrregularEntry]
    let requests: Int
    /// The values read by the UUID of their characteristic. Nil if the read fails.
    let values: [UUID: [UInt8]?]
  }

  @LoopActor
  func discover(mtu: Int, reading uuids: [UUID] = []) async throws -> Outcome {
    let (near, far) = MemoryChannel.pair()
    var peer = self
    return try await Self.discover(near, ScriptedPeer(far) { peer.answer($0) }, mtu: mtu, reading: uuids)
  }

  @LoopActor
  static func discover(_ channel: MemoryChannel, _ peer: ScriptedPeer, mtu: Int, reading uuids: [UUID] = []) async throws -> Outcome {
    let client = Client(channel)
    var entries: [IrregularEntry] = []
    client.onNote = {
      switch $0 {
      case .irregular(let entry), .last(.irregular(let entry)): entries.append(entry)
      default: break
      }
    }
    defer { withExtendedLifetime(peer) { client.close() } }
    try await client.exchangeMTU(mtu)
    let table = try await client.discover()
    let requests = peer.received.count
    var values: [UUID: [UInt8]?] = [:]
    for uuid in uuids {
      let handle = try? table.resolve(Selector(uuid.description)).handle
      values[uuid] = .some(nil)
      if let handle { values[uuid] = .some(try? await client.read(handle)) }
    }
    return Outcome(table: table, entries: entries, requests: requests, values: values)
  }
}
