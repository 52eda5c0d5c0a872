import ATT
import Bluetooth

/// What the requests of a recording and their responses tell about a device's attributes. Nothing is guessed: of what nobody asked nothing is known.
struct RecordedDatabase: Sendable {
  /// The types of attributes that were seen, by handle.
  private(set) var types: [Int: UUID] = [:]
  /// Services by the type of their declaration and their handle.
  private(set) var groups: [UUID: [Int: HandleGroup]] = [:]
  /// Values of declarations, which do not change.
  private(set) var declarations: [Int: [UInt8]] = [:]
  /// Where Find Information has seen all there is.
  private(set) var seen = RangeSet<Int>()
  /// Where all attributes of a type were seen.
  private(set) var seenOfType: [UUID: RangeSet<Int>] = [:]
  /// Values that the device took, by handle.
  private(set) var accepted: [Int: Set<[UInt8]>] = [:]
  /// How far values of a type were looked for, by who was content with those that came.
  private(set) var sought: [UUID: Int] = [:]
  private(set) var serverMTU: UInt16?
  /// How the device has refused to exchange the MTU.
  private(set) var mtuRefusal: ErrorCode?

  /// The handles of `types` and of `groups` of primary services, ascending; where there are surely no attributes.
  private(set) var handles: [Int] = []
  private(set) var vacant = RangeSet<Int>()

  init(_ links: some Sequence<Recording.Link>) {
    for link in links {
      for item in link.requests {
        guard let octets = item.response, let request = try? Request(parsing: item.pdu), let response = try? Response(parsing: octets)
        else {
          continue
        }
        learn(request, response)
      }
    }
    inferConfigurations()
    handles = types.keys.sorted()
    vacant = seen
    // Nothing is outside of services.
    var outside = seenOfType[.primaryService] ?? RangeSet()
    for type in [UUID.primaryService, .secondaryService] {
      for group in (groups[type] ?? [:]).values where group.handle <= group.endHandle {
        outside.remove(contentsOf: group.handle.number..<group.endHandle.number + 1)
      }
    }
    vacant.formUnion(outside)
  }

  /// Whether somebody has looked for services.
  var isDiscovered: Bool { seenOfType[.primaryService].map { !$0.isEmpty } ?? false }

  /// Whether there is surely no attribute of the type from `start` to `end`, other than those known.
  func isComplete(_ type: UUID?, _ start: Int, _ end: Int) -> Bool {
    guard start <= end else { return true }
    var unknown = RangeSet(start..<end + 1)
    unknown.subtract(vacant)
    if let type, let seen = seenOfType[type] { unknown.subtract(seen) }
    // Where something of another type is.
    return unknown.ranges.allSatisfy { firstIndex($0.upperBound) - firstIndex($0.lowerBound) == $0.count }
  }

  /// The index in `handles` of the first that is not before `start`.
  func firstIndex(_ start: Int) -> Int {
    var low = 0
    var high = handles.count
    while low < high {
      let middle = (low + high) / 2
      if handles[middle] < start { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether the attribute is the Client Characteristic Configuration of Service Changed, which is subscribed to for one's own sake.
  func configuresServiceChanged(_ handle: Int) -> Bool {
    guard types[handle] == .clientCharacteristicConfiguration else { return false }
    let index = firstIndex(handle)
    guard let owner = handles[..<index].last(where: { types[$0] == .characteristic }), let value = declarations[owner] else { return false }
    return UUID(littleEndian: value.dropFirst(3)) == .serviceChanged
  }

  /// What an attribute is, and whose, where that was seen.
  func attribute(_ handle: Int) -> ReplayError.Attribute? {
    guard let type = types[handle] else { return nil }
    guard type.isDescriptor, let owner = handles[..<firstIndex(handle)].last(where: { types[$0] == .characteristic }) else {
      return ReplayError.Attribute(type: type)
    }
    return ReplayError.Attribute(type: type, characteristic: declarations[owner].flatMap { UUID(littleEndian: $0.dropFirst(3)) })
  }

  // MARK: Learning

  /// A characteristic that notifies or indicates has a Client Characteristic Configuration (Vol 3 Part G §3.3.1.1): where there is room for one
  /// descriptor, nobody needs to ask which it is, and BlueZ does not.
  private mutating func inferConfigurations() {
    let characteristics = types.keys.filter { types[$0] == .characteristic }.sorted()
    let groups = [UUID.primaryService, .secondaryService].flatMap { (self.groups[$0] ?? [:]).values }.sorted { $0.handle < $1.handle }
    var index = 0
    for group in groups {
      while index < characteristics.count, characteristics[index] < group.handle.number { index += 1 }
      while index < characteristics.count, characteristics[index] <= group.endHandle.number {
        let next = index + 1 < characteristics.count ? characteristics[index + 1] : 0x10000
        let end = min(next - 1, group.endHandle.number)
        // Notify, Indicate.
        if let value = declarations[characteristics[index]], value.count >= 3, value[0] & 0x30 != 0,
          end == (Int(value[1]) | Int(value[2]) << 8) + 1, types[end] == nil, seenOfType[.characteristic]?.contains(end) ?? false
        {
          types[end] = .clientCharacteristicConfiguration
        }
        index += 1
      }
    }
  }

  private mutating func learn(_ request: Request, _ response: Response) {
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
    groups[type, default: [:]][group.handle.number] = group
    declarations[group.handle.number] = group.value
  }

  private mutating func learn(_ item: HandleValue, _ type: UUID) {
    let handle = item.handle.number
    types[handle] = type
    guard type == .characteristic || type == .include else { return }
    declarations[handle] = item.value
    // Properties, value handle, UUID (Vol 3 Part G §3.3.1).
    guard type == .characteristic, item.value.count == 5 || item.value.count == 19 else { return }
    let value = Int(item.value[1]) | Int(item.value[2]) << 8
    if value > handle, let uuid = UUID(littleEndian: item.value[3...]) { types[value] = uuid }
  }

  private static func insert(_ start: AttributeHandle, _ end: AttributeHandle, _ ranges: inout RangeSet<Int>) {
    if start <= end { ranges.insert(contentsOf: start.number..<end.number + 1) }
  }
}

extension UUID {
  static let primaryService = UUID(0x2800)
  static let secondaryService = UUID(0x2801)
  static let include = UUID(0x2802)
  static let characteristic = UUID(0x2803)
  static let clientCharacteristicConfiguration = UUID(0x2902)
  static let serviceChanged = UUID(0x2A05)
  static let databaseHash = UUID(0x2B2A)

  /// A descriptor: what it says does not change from one read to the next.
  var isDescriptor: Bool { short.map { 0x2900...0x290F ~= $0 } ?? false }
}
