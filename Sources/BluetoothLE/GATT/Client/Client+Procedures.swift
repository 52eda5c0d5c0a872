// SPDX-License-Identifier: Apache-2.0
/// The GATT procedures of Vol 3 Part G §4.3 to §4.8, one per function. `discover` needs fewer requests for a whole database.
/// Each throws `GATTError.errorResponse`, ATTError and CancellationError. `onFound` receives an entry as soon as its response arrives.
extension Client {
  package typealias Found<T> = @LoopActor (T) async throws -> Void

  /// Discovers all primary services without their contents (Discover All Primary Services, Vol 3 Part G §4.4.1).
  @discardableResult
  package func primaryServices(_ range: HandleRange = .all, onFound: Found<Service> = { _ in }) async throws -> [Service] {
    var discovery = DatabaseDiscovery()
    var found: [Service] = []
    var asked = ProcedureRange(range)
    while let next = asked.range, let groups = try await groups(next, of: .primaryService) {
      for group in groups { _ = asked.take(group.handle, through: group.endHandle) }
      let services = discovery.take(groups, of: .primaryService, in: next, mtu: mtu)
      note(discovery.takeIrregular())
      for service in services { try await onFound(service) }
      found += services
      _ = asked.advance()
    }
    return found
  }

  /// Discovers the handle ranges of primary services by UUID (Discover Primary Service by Service UUID, Vol 3 Part G §4.4.2).
  /// - Parameter inFull: whether to send a UUID with a 16-bit form as 16 bytes.
  @discardableResult
  package func primaryServices(
    _ uuid: UUID, _ range: HandleRange = .all, inFull: Bool = false, onFound: Found<HandleRange> = { _ in }
  ) async throws -> [HandleRange] {
    var found: [HandleRange] = []
    var asked = ProcedureRange(range)
    while let next = asked.range {
      let request = Request.findByTypeValue(next, type: 0x2800, value: inFull ? uuid.littleEndianBytes : uuid.attBytes)
      guard let response = try await answer(request, tolerating: [.attributeNotFound]), case .findByTypeValue(let ranges) = response
      else { break }
      for item in ranges where admit(.service, item.start, uuid, asked.take(item.start, through: item.end), unless: found.contains(item)) {
        if item.end < item.start { note(.service, item.start, uuid, .endsBefore(item.end)) }
        found.append(item)
        try await onFound(item)
      }
      note(.service, ranges.first?.start ?? 0, uuid, asked.advance())
    }
    return found
  }

  /// Finds the include declarations in a handle range (Find Included Services, Vol 3 Part G §4.5.1).
  @discardableResult
  package func includedServices(_ range: HandleRange = .all, onFound: Found<Include> = { _ in }) async throws -> [Include] {
    var found: [Include] = []
    try await findIncludedServices(range) {
      found.append($0)
      try await onFound($0)
    }
    return found
  }

  /// Discovers the characteristic declarations in a range (Discover All Characteristics of a Service, §4.6.1).
  @discardableResult
  package func characteristics(_ range: HandleRange = .all, onFound: Found<Characteristic> = { _ in }) async throws -> [Characteristic] {
    var discovery = DatabaseDiscovery()
    var found: [Characteristic] = []
    var asked = ProcedureRange(range)
    while let next = asked.range, let items = try await declarations(next, of: .characteristic) {
      for item in items { _ = asked.take(item.handle) }
      let declared = discovery.take(items, characteristicsIn: next, mtu: mtu)
      note(discovery.takeIrregular())
      for item in declared {
        let place = item.valueHandle.isValid ? IrregularEntry.ValuePlace.beforeDeclaration : .atNoHandle
        if item.valueHandle <= item.handle { note(.characteristic, item.handle, item.uuid, .value(item.valueHandle, place, found: nil)) }
        try await onFound(item)
      }
      found += declared
      _ = asked.advance()
    }
    return found
  }

  /// Discovers the handle and type of every attribute in a range (Discover All Characteristic Descriptors, Vol 3 Part G §4.7.1).
  @discardableResult
  package func attributeTypes(_ range: HandleRange = .all, onFound: Found<HandleType> = { _ in }) async throws -> [HandleType] {
    var found: [HandleType] = []
    var asked = ProcedureRange(range)
    while let next = asked.range, let items = try await types(next) {
      for item in items where admit(.attribute, item.handle, item.type, asked.take(item.handle), unless: found.contains(item)) {
        found.append(item)
        try await onFound(item)
      }
      note(.attribute, items.first?.handle ?? 0, nil, asked.advance())
    }
    return found
  }

  /// Reads values by UUID in one request (Read Using Characteristic UUID, Vol 3 Part G §4.8.2). The peer cuts each to ATT_MTU − 4 bytes.
  /// - Throws: `GATTError.errorResponse` with Attribute Not Found if the range has no attribute of this type.
  package func valuesOfOneAnswer(_ uuid: UUID, _ range: HandleRange = .all) async throws -> [HandleValue] {
    try await answer(.readByType(range, type: uuid)) { if case .readByType(let items) = $0 { items } else { nil } }
  }

  /// Reads a whole value, in parts if necessary (Vol 3 Part G §4.8.1, §4.8.3). An Error Response after the first part ends the value.
  /// - Returns: at most 65,535 bytes plus one part of ATT_MTU − 1 bytes.
  package func valueUpToError(_ handle: AttributeHandle) async throws -> [UInt8] {
    var value: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    var isFull = value.count >= mtu - 1
    while isFull, let offset = UInt16(exactly: value.count) {
      guard case .readBlob(let part) = try await bearer.request(.readBlob(handle, offset: offset)) else { break }
      value += part
      isFull = part.count >= mtu - 1
    }
    return value
  }
}

/// The handles that a discovery procedure has not covered yet. Chooses the range of the next request and detects irregular entries.
/// Every request starts at a higher handle than the previous request, so no peer can cause an endless loop.
struct ProcedureRange {
  /// The first handle of the next request. 0x10000 after a response whose entries all precede the requested range.
  private(set) var next: Int
  private let end: Int
  /// The handle of the previous entry in the current response. Nil before the first entry.
  private var previous: AttributeHandle?
  private var last = 0
  private var greatest = 0

  init(_ range: HandleRange) {
    next = max(1, range.start.number)
    end = range.end.number
  }

  /// The range of the next request. Nil at the end of the procedure.
  var range: HandleRange? { next <= end ? asked : nil }
  private var asked: HandleRange { HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end)) }

  /// Checks the handle of an entry against the requested range and the previous entry.
  /// - Parameter through: the last handle that the entry covers, possibly beyond the requested range. Nil for a single handle.
  /// - Returns: the rule that the handle breaks. Nil if the handle is regular.
  mutating func take(_ handle: AttributeHandle, through: AttributeHandle? = nil) -> IrregularEntry.Fault? {
    guard handle.isValid else { return .noHandle }
    let before = previous
    previous = handle
    last = max(handle, through ?? handle).number
    greatest = max(greatest, last)
    if handle.number < next || handle.number > end { return .outside(asked) }
    return before.flatMap { handle <= $0 ? .outOfOrder(after: $0) : nil }
  }

  /// Ends the current response. The next request starts after the last entry. If that precedes `next`, it starts after the greatest handle.
  /// - Returns: a fault, which ends the procedure, if all entries precede the requested range. Nil otherwise.
  mutating func advance() -> IrregularEntry.Fault? {
    let reached = last >= next ? last : greatest
    let fault = reached >= next ? nil : IrregularEntry.Fault.notAdvancing(asked)
    next = fault == nil ? reached + 1 : 0x10000
    (previous, last, greatest) = (nil, 0, 0)
    return fault
  }
}
