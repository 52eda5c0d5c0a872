package import BluetoothLE

/// The attributes of a device, as far as the requests and responses of a recording prove them.
package struct RecordedDatabase: Sendable {
  /// The types of the attributes in the recording, by handle.
  private(set) var types: [Int: UUID] = [:]
  /// The services, by the type of their declaration and by handle. `finish()` moves them to `groups` in ascending order.
  private var found: [UUID: [Int: HandleGroup]] = [:]
  private var groups: [UUID: [HandleGroup]] = [:]
  /// The values of service, include and characteristic declarations, by handle.
  private(set) var declarations: [Int: [UInt8]] = [:]
  /// The handle ranges in which Find Information Responses show all attributes.
  private var seen = RangeSet<Int>()
  /// The handle ranges, by attribute type, in which the recording shows all attributes of that type.
  private var seenOfType: [UUID: RangeSet<Int>] = [:]
  /// The values that the device accepted in Write Requests, by handle.
  private(set) var accepted: [Int: Set<[UInt8]>] = [:]
  /// The highest end handle of a Read By Type Request that found attributes, by attribute type.
  private(set) var sought: [UUID: Int] = [:]
  private(set) var serverMTU: UInt16?
  /// The error with which the device refused to exchange the MTU. Nil if the device did not refuse.
  private(set) var mtuRefusal: ErrorCode?

  /// The handles of `types` in ascending order. Empty before `finish()`.
  private(set) var handles: [Int] = []
  /// The handles of characteristic declarations in ascending order.
  private var characteristics: [Int] = []
  /// The handle ranges in which `types` contains all attributes of the device.
  private var vacant = OrderedRanges()
  /// The handle ranges, by attribute type, in which `types` contains all attributes of that type.
  private var complete: [UUID: OrderedRanges] = [:]

  init(_ links: some Sequence<Recording.Link>) {
    for link in links {
      for item in link.requests {
        guard let bytes = item.response, let request = try? Request(parsing: item.pdu), let response = try? Response(parsing: bytes)
        else { continue }
        learn(request, response)
      }
    }
    finish()
  }

  package init() {}

  /// Prepares the database for queries, after it has learned the whole recording.
  package mutating func finish() {
    groups = found.mapValues { $0.values.sorted { $0.handle < $1.handle } }
    found = [:]
    inferConfigurations()
    handles = types.keys.sorted()
    characteristics = handles.filter { types[$0] == .characteristic }
    // There are no attributes outside of services.
    var outside = seenOfType[.primaryService] ?? RangeSet()
    for group in services where group.handle <= group.endHandle {
      outside.remove(contentsOf: group.handle.number..<group.endHandle.number + 1)
    }
    vacant = OrderedRanges(seen.union(outside))
    complete = seenOfType.mapValues { OrderedRanges($0) }
  }

  private var services: [HandleGroup] {
    [UUID.primaryService, .secondaryService].flatMap { groups[$0] ?? [] }.sorted { $0.handle < $1.handle }
  }

  /// Returns the services in a range whose declarations have the type, in ascending order.
  func groups(_ type: UUID, in range: HandleRange) -> ArraySlice<HandleGroup> {
    let all = groups[type] ?? []
    let first = all.firstIndex(sortedWhere: { $0.handle >= range.start })
    return all[first..<max(first, all.firstIndex(sortedWhere: { $0.handle > range.end }))]
  }

  /// Whether the recording contains a search for primary services.
  var isDiscovered: Bool { seenOfType[.primaryService].map { !$0.isEmpty } ?? false }

  /// Returns whether the recording shows all attributes of a type from handle `start` to `end`. A nil type stands for all types.
  func isComplete(_ type: UUID?, _ start: Int, _ end: Int) -> Bool {
    let complete = type.flatMap { self.complete[$0] } ?? OrderedRanges()
    var place = start
    while place <= end {
      let ranges = [vacant, complete].compactMap { $0.first(endingBehind: place) }
      if let here = ranges.first(where: { $0.contains(place) }) {
        place = here.upperBound
        continue
      }
      let next = min(end + 1, ranges.map(\.lowerBound).min() ?? end + 1)
      // The handles up to the next range all have attributes of other types.
      guard firstIndex(next) - firstIndex(place) == next - place else { return false }
      place = next
    }
    return true
  }

  /// Returns the index of the first handle in `handles` that is not before `start`.
  func firstIndex(_ start: Int) -> Int { handles.firstIndex(sortedWhere: { $0 >= start }) }

  /// Returns whether the attribute is the CCCD of the Service Changed characteristic.
  func configuresServiceChanged(_ handle: Int) -> Bool {
    guard types[handle] == .clientCharacteristicConfiguration else { return false }
    guard let value = characteristic(of: handle).flatMap({ declarations[$0] }) else { return false }
    return UUID(littleEndian: value.dropFirst(3)) == .serviceChanged
  }

  /// Returns the handle of the characteristic that a descriptor belongs to: the last characteristic before the descriptor.
  private func characteristic(of descriptor: Int) -> Int? {
    characteristics[..<characteristics.firstIndex(sortedWhere: { $0 >= descriptor })].last
  }

  /// Returns the type of an attribute, and its characteristic if it is a descriptor. Nil if the recording does not show the attribute.
  package func attribute(_ handle: Int) -> ReplayError.Attribute? {
    guard let type = types[handle] else { return nil }
    guard type.isDescriptor, let owner = characteristic(of: handle) else { return ReplayError.Attribute(type: type) }
    return ReplayError.Attribute(type: type, characteristic: declarations[owner].flatMap { UUID(littleEndian: $0.dropFirst(3)) })
  }

  // MARK: Learning

  /// Infers Client Characteristic Configurations that clients such as BlueZ do not discover (Vol 3 Part G §3.3.1.1).
  /// A characteristic that notifies or indicates, and has room for only one descriptor, must have this descriptor.
  private mutating func inferConfigurations() {
    let characteristics = types.keys.filter { types[$0] == .characteristic }.sorted()
    var index = 0
    for group in services {
      while index < characteristics.count, characteristics[index] < group.handle.number { index += 1 }
      while index < characteristics.count, characteristics[index] <= group.endHandle.number {
        let next = index + 1 < characteristics.count ? characteristics[index + 1] : 0x10000
        let end = min(next - 1, group.endHandle.number)
        // Notify, Indicate.
        if let value = declarations[characteristics[index]], value.count >= 3, value[0] & 0x30 != 0,
          end == Int(value.uint16(at: 1)) + 1, types[end] == nil, seenOfType[.characteristic]?.contains(end) ?? false
        {
          types[end] = .clientCharacteristicConfiguration
        }
        index += 1
      }
    }
  }

  package mutating func learn(_ request: Request, _ response: Response) {
    switch (request, response) {
    case (.exchangeMTU, .exchangeMTU(let server)): serverMTU = server
    case (.exchangeMTU, .error(_, _, let code)): mtuRefusal = code
    case (.findInformation(let range), .findInformation(let items)):
      for item in items where range.contains(item.handle) { types[item.handle.number] = item.type }
      if let last = items.last?.handle { Self.insert(range.start, min(last, range.end), &seen) }
    case (.findInformation(let range), .error(_, _, .attributeNotFound)): Self.insert(range.start, range.end, &seen)
    case (.findByTypeValue(_, UUID.primaryService.short, let value), .findByTypeValue(let ranges)):
      for range in ranges where range.isValid { learn(HandleGroup(range.start, range.end, value), .primaryService) }
    case (.readByGroupType(let range, let type), .readByGroupType(let groups)):
      for group in groups where group.handle.isValid && group.handle <= group.endHandle { learn(group, type) }
      if let last = groups.last?.endHandle { Self.insert(range.start, last, &seenOfType[type, default: RangeSet()]) }
    case (.readByType(let range, let type), .readByType(let items)):
      sought[type] = max(sought[type] ?? 0, range.end.number)
      for item in items where item.handle.isValid { learn(item, type) }
      if let last = items.last?.handle { Self.insert(range.start, last, &seenOfType[type, default: RangeSet()]) }
    case (.readByGroupType(let range, let type), .error(_, _, .attributeNotFound)),
      (.readByType(let range, let type), .error(_, _, .attributeNotFound)):
      Self.insert(range.start, range.end, &seenOfType[type, default: RangeSet()])
    case (.readByType(_, let type), .error(_, let handle, _)) where handle.isValid: types[handle.number] = type
    case (.write(let handle, let value), .write): accepted[handle.number, default: []].insert(value)
    default: break
    }
  }

  private mutating func learn(_ group: HandleGroup, _ type: UUID) {
    types[group.handle.number] = type
    found[type, default: [:]][group.handle.number] = group
    declarations[group.handle.number] = group.value
  }

  private mutating func learn(_ item: HandleValue, _ type: UUID) {
    let handle = item.handle.number
    types[handle] = type
    guard type == .characteristic || type == .include else { return }
    declarations[handle] = item.value
    // Properties, value handle, UUID (Vol 3 Part G §3.3.1).
    guard type == .characteristic, item.value.count == 5 || item.value.count == 19 else { return }
    let value = Int(item.value.uint16(at: 1))
    if value > handle, let uuid = UUID(littleEndian: item.value[3...]) { types[value] = uuid }
  }

  private static func insert(_ start: AttributeHandle, _ end: AttributeHandle, _ ranges: inout RangeSet<Int>) {
    if start <= end { ranges.insert(contentsOf: start.number..<end.number + 1) }
  }
}

extension UUID {
  /// Whether the UUID is the type of a descriptor, 2900 to 290F.
  var isDescriptor: Bool { short.map { 0x2900...0x290F ~= $0 } ?? false }
}

/// A list of ascending ranges that supports binary search.
struct OrderedRanges: Sendable {
  private let ranges: [Range<Int>]

  init(_ ranges: RangeSet<Int> = RangeSet()) { self.ranges = Array(ranges.ranges) }

  /// Returns the range that contains `place`, or else the next range. Nil after the last range.
  func first(endingBehind place: Int) -> Range<Int>? {
    let index = ranges.firstIndex(sortedWhere: { $0.upperBound > place })
    return index < ranges.count ? ranges[index] : nil
  }
}

extension Array {
  /// Returns the index of the first element that satisfies a predicate, or `count` if none does. All later elements must satisfy it too.
  func firstIndex(sortedWhere isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
