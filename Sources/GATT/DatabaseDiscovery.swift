import ATT
import Bluetooth

/// What is known of a peer's attributes while they are discovered, and what to ask next so that few requests make it all known. Without I/O.
///
/// Nothing is left out on a guess. Read By Type and Read By Group Type give the attributes of their type in order, none left out (Vol 3
/// Part F §3.4.4.1, §3.4.4.9), so nothing of that type lies before the last one. Find Information gives all attributes in order (§3.4.3.1), so what it
/// passes over does not exist. At the end every handle from 0x0001 to 0xFFFF is one that was named, or one where nothing can be. So a procedure
/// for secondary services or includes is needed only where Find Information saw one, and its last "not found" speaks for all types at once.
struct DatabaseDiscovery {
  enum Procedure: Equatable {
    /// Read By Group Type.
    case services(UUID, HandleRange)
    /// Read By Type: characteristic declarations.
    case characteristics(HandleRange)
    /// Read By Type: Client Characteristic Configurations, where they cost less than all types.
    case configurations(HandleRange)
    /// Read By Type, over all: that there are no include declarations in many places costs less than to look there.
    case includes(HandleRange)
    /// Find Information.
    case types(HandleRange)
  }

  /// In ascending order of handles.
  private(set) var services: [Service] = []
  private(set) var characteristics: [Characteristic] = []
  /// Whatever was seen by its type; values and declarations need not be among them.
  private(set) var types: [AttributeHandle: UUID] = [:]
  /// Of the include declarations that Find Information saw.
  private(set) var includes: ClosedRange<AttributeHandle>?
  /// All includes have been asked for.
  private(set) var hasIncludes = false
  private(set) var requests = 0

  /// What is to be discovered: 0x0001 to 0xFFFF, or what the peer said has changed, and what services found there reach beyond.
  let start: Int
  private(set) var end: Int
  /// By type of declaration: where the procedure for it goes on. All before are known. Beyond the end: all there are.
  var next: [UUID: Int]
  /// By type: the last one that Find Information saw.
  var seen: [UUID: Int] = [:]
  /// The last answer of the procedure had no room for more.
  var wasFull: [UUID: Bool] = [:]
  /// Handles of which it is known what has them, or that nothing does.
  var known = RangeSet<Int>()
  var nextConfiguration: Int
  var asksConfigurations = false
  /// Plans are made over everything that is known; a peer with thousands of changes of the UUID size does not get one for each.
  var plansLeft = 8
  /// The peer answered Find Information with an error where nothing need be: the procedures go on to their ends instead.
  var isBlind = false

  init(_ range: HandleRange = .all) {
    start = max(1, range.start.number)
    end = range.end.number
    next = [.primaryService: start, .secondaryService: start, .characteristic: start]
    nextConfiguration = start
  }

  var whole: HandleRange { HandleRange(AttributeHandle(clamping: start), AttributeHandle(clamping: end)) }
  private var isWhole: Bool { start == 1 && end == 0xFFFF }

  // MARK: What to ask

  mutating func nextProcedure(mtu: Int) -> Procedure? {
    guard let procedure = choose(mtu) else { return nil }
    requests += 1
    return procedure
  }

  private mutating func choose(_ mtu: Int) -> Procedure? {
    if wantsPrimaryServices, let range = range(.primaryService) { return .services(.primaryService, range) }
    if services.isEmpty, isWhole { return nil }
    if isBlind || wants(.secondaryService), let range = range(.secondaryService) { return .services(.secondaryService, range) }
    if wantsCharacteristics, let range = range(.characteristic) { return .characteristics(range) }
    if isBlind {
      // Descriptors can be found in no other way: without them there is no result.
      let gap = gaps.first { $0.kind == .descriptors || $0.kind == .configuration }
      if let gap { return .types(HandleRange(AttributeHandle(clamping: gap.start), AttributeHandle(clamping: gap.end))) }
      return hasIncludes ? nil : .includes(whole)
    }
    if plansLeft > 0 {
      plansLeft -= 1
      if let procedure = shortcut(mtu) { return procedure }
    } else if asksConfigurations, let procedure = moreConfigurations(gaps) {
      return procedure
    }
    let frontier = firstUnknown(start)
    return frontier <= end ? .types(HandleRange(AttributeHandle(clamping: frontier), AttributeHandle(clamping: end))) : nil
  }

  /// The first handle from `start` on that is not known.
  func firstUnknown(_ start: Int) -> Int {
    let ranges = known.ranges
    var low = ranges.startIndex
    var high = ranges.endIndex
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= start { low = middle + 1 } else { high = middle }
    }
    return low < ranges.endIndex && ranges[low].contains(start) ? ranges[low].upperBound : start
  }

  /// Where a procedure for one type of declaration goes on; nil when it is at its end.
  func range(_ type: UUID) -> HandleRange? {
    guard let next = next[type], next <= end else { return nil }
    return HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end))
  }

  private func wants(_ type: UUID) -> Bool { (seen[type] ?? 0) >= (next[type] ?? start) }

  private var wantsPrimaryServices: Bool {
    if isBlind || wants(.primaryService) || wasFull[.primaryService] ?? true { return true }
    guard let item = characteristics.last, let service = services.last else { return false }
    return item.handle > service.endHandle && item.handle.number >= next[.primaryService] ?? start
  }

  /// Where characteristics must be, or most likely are: else Find Information, which has to look there anyway, tells.
  private var wantsCharacteristics: Bool {
    if isBlind || wants(.characteristic) { return true }
    let start = next[.characteristic] ?? self.start
    guard let last = services.last, last.endHandle.number > start else { return false }
    // A declaration and its value take two handles.
    if wasFull[.characteristic] ?? true
      || services.contains(where: { $0.handle.number >= start && $0.endHandle.number - $0.handle.number >= 2 })
    {
      return true
    }
    // More handles than descriptors usually take, unless it is only that the last service owns all the rest.
    guard let service = services.last(where: { $0.handle.number < start }), service.endHandle < 0xFFFF else { return false }
    return service.endHandle.number - start >= 3
  }

  // MARK: What was answered

  mutating func take(_ groups: [HandleGroup], of type: UUID, in range: HandleRange, mtu: Int) throws(MalformedPacket) {
    var asked = ProcedureRange(range)
    let last = services.last
    for group in groups {
      guard group.value.count != 4, let uuid = UUID(littleEndian: group.value) else {
        throw MalformedPacket("a service UUID of \(group.value.count) octets, 2 or 16 wanted", at: 1)
      }
      try asked.take(group.handle, through: group.endHandle)
      services.append(Service(uuid: uuid, handle: group.handle, endHandle: group.endHandle, isPrimary: type == .primaryService))
      know(group.handle, group.handle)
      next[type] = group.endHandle.number + 1
      end = max(end, group.endHandle.number)
    }
    // Primary and secondary services are found in procedures of their own.
    if let last, let first = groups.first, first.handle < last.handle { services.sort { $0.handle < $1.handle } }
    wasFull[type] = groups.first.map { (groups.count + 1) * (4 + $0.value.count) > mtu - 2 } ?? false
  }

  mutating func take(_ items: [HandleValue], characteristicsIn range: HandleRange, mtu: Int) throws(MalformedPacket) {
    var asked = ProcedureRange(range)
    for item in items {
      try asked.take(item.handle, through: item.handle)
      let found = try Characteristic(declaration: item, after: characteristics.last)
      if let last = characteristics.indices.last { characteristics[last].endHandle = item.handle.previous }
      characteristics.append(found)
      // The value is the first attribute after its declaration (Part G §3.3.2).
      know(found.handle, found.valueHandle)
      next[.characteristic] = found.valueHandle.number + 1
    }
    wasFull[.characteristic] = items.first.map { (items.count + 1) * (2 + $0.value.count) > mtu - 2 } ?? false
  }

  mutating func take(_ items: [HandleValue], configurationsIn range: HandleRange) throws(MalformedPacket) {
    var asked = ProcedureRange(range)
    for item in items {
      try asked.take(item.handle, through: item.handle)
      types[item.handle] = .clientCharacteristicConfiguration
      know(item.handle, item.handle)
      nextConfiguration = item.handle.number + 1
    }
  }

  mutating func take(_ items: [HandleType], in range: HandleRange) throws(MalformedPacket) {
    var asked = ProcedureRange(range)
    for item in items {
      try asked.take(item.handle, through: item.handle)
      types[item.handle] = item.type
      if item.type == .include {
        includes = min(includes?.lowerBound ?? item.handle, item.handle)...max(includes?.upperBound ?? item.handle, item.handle)
      } else {
        seen[item.type] = max(seen[item.type] ?? 0, item.handle.number)
      }
    }
    if let last = items.last { know(range.start, last.handle) }
  }

  /// There is no more, or the peer does not tell.
  mutating func finish(_ procedure: Procedure) {
    switch procedure {
    case .services(let type, _):
      next[type] = 0x10000
      // All primary services up to there are known, so this was all that could be between them.
      if type == .secondaryService { for gap in gaps where gap.kind == .outside { know(gap) } }
    case .characteristics: next[.characteristic] = 0x10000
    case .configurations: nextConfiguration = 0x10000
    case .includes:
      hasIncludes = true
      for gap in gaps where gap.kind == .head { know(gap) }
    case .types(let range): know(range.start, range.end)
    }
  }

  private mutating func know(_ gap: Gap) { known.insert(contentsOf: gap.start..<gap.end + 1) }
  private mutating func know(_ first: AttributeHandle, _ last: AttributeHandle) { known.insert(contentsOf: first.number..<last.number + 1) }

  /// The peer refused Find Information. - Returns: false when there may be descriptors, which nothing else finds.
  mutating func canDoWithoutTypes() -> Bool {
    guard !isBlind, !gaps.contains(where: { $0.kind == .descriptors || $0.kind == .configuration }) else { return false }
    isBlind = true
    return true
  }
}
