// SPDX-License-Identifier: Apache-2.0
/// The state of a database discovery, without I/O: the attributes found so far, and the choice of the next request.
///
/// Read By Type and Read By Group Type list all attributes of a type in order (Vol 3 Part F §3.4.4.1, §3.4.4.9).
/// Find Information lists all attributes in order (§3.4.3.1), so the handles between them have no attributes.
/// At its end, discovery knows for every handle from 0x0001 to 0xFFFF whether an attribute exists.
/// Secondary services and includes need their own procedures only if Find Information shows one.
struct DatabaseDiscovery {
  enum Procedure: Equatable {
    /// A Read By Group Type Request for service declarations of this type.
    case services(UUID, HandleRange)
    /// A Read By Type Request for characteristic declarations.
    case characteristics(HandleRange)
    /// A Read By Type Request for CCCDs, if it needs fewer requests than Find Information.
    case configurations(HandleRange)
    /// The Read By Type Requests for include declarations, over all handles at the same time.
    case includes(HandleRange)
    /// A Find Information Request for the types of all attributes.
    case types(HandleRange)
  }

  /// The declared services found so far, in ascending order of handles.
  private(set) var services: [Service] = []
  private(set) var characteristics: [Characteristic] = []
  /// The attribute types found so far, by handle. Types of values and declarations may be missing.
  private(set) var types: [AttributeHandle: UUID] = [:]
  /// The range of the include declarations that Find Information showed. Nil if it has shown none.
  private(set) var includes: ClosedRange<AttributeHandle>?
  /// Whether discovery has found all include declarations.
  private(set) var hasIncludes = false
  private(set) var requests = 0

  /// The first handle to discover: 0x0001, or the start of a changed handle range.
  let start: Int
  private(set) var end: Int
  /// The first handle that the procedure for each declaration type has not covered. A handle above `end` marks a complete procedure.
  var next: [UUID: Int]
  /// The last handle of each declaration type that Find Information showed, by type.
  var seen: [UUID: Int] = [:]
  /// Whether the last response of each procedure had no room for another entry, by declaration type.
  var wasFull: [UUID: Bool] = [:]
  /// The handles for which discovery knows the attribute, or knows that none exists.
  var known = RangeSet<Int>()
  var nextConfiguration: Int
  var asksConfigurations = false
  /// The number of times that discovery may still call `shortcut`. The limit bounds the computing time.
  var plansLeft = 8
  /// Whether discovery continues without Find Information, because the peer refused it and discovery expects no descriptors.
  var isBlind = false

  /// Whether all entries so far follow the rules of the specification. Otherwise, handles do not reveal attribute types.
  private var isRegular = true
  private var irregular: [IrregularEntry] = []
  /// The entries whose type contradicts the type in `types` at the same handle.
  private(set) var conflicting: [HandleType] = []
  /// The handles of all listed services and characteristics, including those that discovery dropped.
  private(set) var declared: Set<AttributeHandle> = []
  /// The declarations that Find Information showed, but the procedure for their type had skipped. Discovery requests each once.
  private var missed: [HandleType] = []
  private var missedOnce: Set<HandleType> = []
  private var missedAsked = 0

  private typealias Entry = (kind: IrregularEntry.Kind, handle: AttributeHandle, uuid: UUID?, fault: IrregularEntry.Fault?)

  init(_ range: HandleRange = .all) {
    start = max(1, range.start.number)
    end = range.end.number
    next = [.primaryService: start, .secondaryService: start, .characteristic: start]
    nextConfiguration = start
  }

  var whole: HandleRange { HandleRange(AttributeHandle(clamping: start), AttributeHandle(clamping: end)) }

  // MARK: Requests

  mutating func nextProcedure(mtu: Int) -> Procedure? {
    guard let procedure = choose(mtu) else { return nil }
    requests += 1
    return procedure
  }

  private mutating func choose(_ mtu: Int) -> Procedure? {
    if wantsPrimaryServices || services.isEmpty, let range = range(.primaryService) { return .services(.primaryService, range) }
    if services.isEmpty, whole == .all { return nil }
    if isBlind || wants(.secondaryService), let range = range(.secondaryService) { return .services(.secondaryService, range) }
    if wantsCharacteristics, let range = range(.characteristic) { return .characteristics(range) }
    if isBlind {
      // Only Find Information finds descriptors: without them, there is no result.
      let gap = gaps.first { $0.kind == .descriptors || $0.kind == .configuration }
      if let gap { return .types(HandleRange(AttributeHandle(clamping: gap.start), AttributeHandle(clamping: gap.end))) }
      return hasIncludes ? nil : .includes(whole)
    }
    if let item = nextMissed() {
      let range = HandleRange(item.handle, AttributeHandle(clamping: end))
      return item.type == .characteristic ? .characteristics(range) : .services(item.type, range)
    }
    if plansLeft > 0, isPlannable {
      plansLeft -= 1
      if let procedure = shortcut(mtu) { return procedure }
    } else if asksConfigurations, let procedure = moreConfigurations(gaps) {
      return procedure
    }
    let frontier = firstUnknown(start)
    return frontier <= end ? .types(HandleRange(AttributeHandle(clamping: frontier), AttributeHandle(clamping: end))) : nil
  }

  /// Returns the first handle from `start` on that `known` does not contain.
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

  /// Returns the handle range in which the procedure for a declaration type continues. Returns nil at the procedure's end.
  func range(_ type: UUID) -> HandleRange? {
    guard let next = next[type], next <= end else { return nil }
    return HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end))
  }

  private mutating func nextMissed() -> HandleType? {
    while missedAsked < missed.count {
      missedAsked += 1
      if !declared.contains(missed[missedAsked - 1].handle) { return missed[missedAsked - 1] }
    }
    return nil
  }

  private var isPlannable: Bool { isRegular && zip(services, services.dropFirst()).allSatisfy { $0.endHandle < $1.handle } }

  private func wants(_ type: UUID) -> Bool { (seen[type] ?? 0) >= (next[type] ?? start) }

  private var wantsPrimaryServices: Bool {
    if isBlind || wants(.primaryService) || wasFull[.primaryService] ?? true { return true }
    guard let item = characteristics.last, let service = services.last else { return false }
    return item.handle > service.endHandle && item.handle.number >= next[.primaryService] ?? start
  }

  /// Whether undiscovered characteristics certainly or probably exist, so that their procedure should continue.
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
    // More handles than descriptors usually take, unless the last service simply extends to 0xFFFF.
    guard let service = services.last(where: { $0.handle.number < start }), service.endHandle < 0xFFFF else { return false }
    return service.endHandle.number - start >= 3
  }

  // MARK: Answers

  /// Stores the services in a response.
  /// - Returns: the new services, in the order of the response.
  @discardableResult
  mutating func take(_ groups: [HandleGroup], of type: UUID, in range: HandleRange, mtu: Int) -> [Service] {
    var asked = ProcedureRange(range)
    let count = services.count
    for group in groups {
      let uuid = UUID(littleEndian: group.value)
      let entry: Entry = (.service, group.handle, uuid, asked.take(group.handle, through: group.endHandle))
      let service = uuid.map {
        Service(
          uuid: $0, handle: group.handle, endHandle: group.endHandle, isPrimary: type == .primaryService,
          hasLongUUID: $0.isLong(in: group.value))
      }
      guard let service = admit(service, entry, group.value, uuidLength: group.value.count, to: services) else { continue }
      if group.endHandle < group.handle { note(entry, .endsBefore(group.endHandle)) }
      services.append(service)
      end = max(end, group.endHandle.number)
    }
    let found = Array(services[count...])
    // Separate procedures find primary and secondary services.
    if !Self.ascends(services[max(0, count - 1)...], by: \.handle) { services.sort { $0.handle < $1.handle } }
    note((.service, groups.first?.handle ?? 0, nil, asked.advance()))
    next[type] = max(next[type] ?? start, asked.next)
    wasFull[type] = groups.first.map { (groups.count + 1) * (4 + $0.value.count) > mtu - 2 } ?? false
    return found
  }

  /// Stores the characteristics in a response.
  /// - Returns: the new characteristics, in the order of the response.
  @discardableResult
  mutating func take(_ items: [HandleValue], characteristicsIn range: HandleRange, mtu: Int) -> [Characteristic] {
    var asked = ProcedureRange(range)
    let count = characteristics.count
    for item in items {
      let found = Characteristic(declaration: item)
      // The value is the first attribute after its declaration (Part G §3.3.2). Otherwise, search for it.
      let value = found.flatMap { $0.followsDeclaration ? $0.valueHandle : nil }
      let entry: Entry = (.characteristic, item.handle, found?.uuid, asked.take(item.handle, through: value))
      guard let found = admit(found, entry, item.value, uuidLength: item.value.count - 3, to: characteristics) else { continue }
      characteristics.append(found)
      if let value { markKnown(value, value) } else { isRegular = false }
    }
    let found = Array(characteristics[count...])
    if !Self.ascends(characteristics[max(0, count - 1)...], by: \.handle) { characteristics.sort { $0.handle < $1.handle } }
    note((.characteristic, items.first?.handle ?? 0, nil, asked.advance()))
    next[.characteristic] = max(next[.characteristic] ?? start, asked.next)
    wasFull[.characteristic] = items.first.map { (items.count + 1) * (2 + $0.value.count) > mtu - 2 } ?? false
    return found
  }

  mutating func take(_ items: [HandleValue], configurationsIn range: HandleRange) {
    var asked = ProcedureRange(range)
    for item in items {
      see(HandleType(item.handle, .clientCharacteristicConfiguration), asked.take(item.handle))
      if item.handle.isValid { markKnown(item.handle, item.handle) }
    }
    // If the answer has other handles, discovery asks for every descriptor instead.
    _ = asked.advance()
    nextConfiguration = asked.next
  }

  mutating func take(_ items: [HandleType], in range: HandleRange) {
    var asked = ProcedureRange(range)
    for item in items {
      see(item, asked.take(item.handle))
      guard item.handle.isValid else { continue }
      switch item.type {
      case .include:
        includes = min(includes?.lowerBound ?? item.handle, item.handle)...max(includes?.upperBound ?? item.handle, item.handle)
      case .primaryService, .secondaryService, .characteristic:
        seen[item.type] = max(seen[item.type] ?? 0, item.handle.number)
        if item.handle.number < min(next[item.type] ?? start, end + 1), !declared.contains(item.handle),
          missedOnce.insert(item).inserted
        {
          missed.append(item)
        }
      default: break
      }
    }
    note((.attribute, items.first?.handle ?? 0, nil, asked.advance()))
    markKnown(range.start, min(range.end, AttributeHandle(clamping: asked.next - 1)))
  }

  // MARK: Irregular entries

  /// Returns the irregular entries found since the last call.
  mutating func takeIrregular() -> [IrregularEntry] {
    defer { irregular = [] }
    return irregular
  }

  mutating func note(_ kind: IrregularEntry.Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: IrregularEntry.Fault) {
    isRegular = false
    irregular.append(IrregularEntry(kind, handle, uuid, fault))
  }

  private mutating func note(_ entry: Entry, _ fault: IrregularEntry.Fault? = nil) {
    if let fault = fault ?? entry.fault { note(entry.kind, entry.handle, entry.uuid, fault) }
  }

  /// Records a declaration entry and its faults.
  /// - Parameter item: the parsed entry. Nil if the value is invalid.
  /// - Returns: the item if it is new and valid. Nil otherwise.
  private mutating func admit<Item: Equatable>(
    _ item: Item?, _ entry: Entry, _ value: [UInt8], uuidLength: Int, to known: [Item]
  ) -> Item? {
    guard entry.handle.isValid else {
      note(entry)
      return nil
    }
    let isNew = declared.insert(entry.handle).inserted
    markKnown(entry.handle, entry.handle)
    let left: IrregularEntry.Fault? =
      if let item, !isNew, known.contains(item) { .repeated } else {
        item == nil ? .malformed(value) : known.count < 0xFFFF ? nil : .tooMany
      }
    if let left {
      // A repetition by our own second request is no fault of the peer.
      if left != .repeated || entry.fault != nil { note(entry, left) }
      return nil
    }
    note(entry)
    if uuidLength == 4 { note(entry, .uuidLength(4)) }
    return item
  }

  private mutating func see(_ item: HandleType, _ fault: IrregularEntry.Fault?) {
    let entry: Entry = (.attribute, item.handle, item.type, fault)
    guard item.handle.isValid, let known = types[item.handle] else {
      if item.handle.isValid { types[item.handle] = item.type }
      return note(entry)
    }
    guard known != item.type, !conflicting.contains(item) else {
      if fault != nil { note(entry, .repeated) }
      return
    }
    note(entry, fault ?? .outOfOrder(after: item.handle))
    if conflicting.count < 0xFFFF { conflicting.append(item) } else { note(entry, .tooMany) }
  }

  private static func ascends<T>(_ items: ArraySlice<T>, by handle: (T) -> AttributeHandle) -> Bool {
    zip(items, items.dropFirst()).allSatisfy { handle($0) <= handle($1) }
  }

  /// Marks a procedure as complete, because the peer has no more entries or refuses the procedure.
  mutating func finish(_ procedure: Procedure) {
    switch procedure {
    case .services(let type, _):
      next[type] = 0x10000
      // All primary services up to there are known, so only secondary services could be between them.
      if type == .secondaryService, isPlannable { for gap in gaps where gap.kind == .outside { markKnown(gap) } }
    case .characteristics: next[.characteristic] = 0x10000
    case .configurations: nextConfiguration = 0x10000
    case .includes:
      hasIncludes = true
      if isPlannable { for gap in gaps where gap.kind == .head { markKnown(gap) } }
    case .types(let range): markKnown(range.start, range.end)
    }
  }

  private mutating func markKnown(_ gap: Gap) { known.insert(contentsOf: gap.start..<gap.end + 1) }
  private mutating func markKnown(_ first: AttributeHandle, _ last: AttributeHandle) {
    known.insert(contentsOf: first.number..<last.number + 1)
  }

  /// Continues discovery without Find Information, which the peer refused.
  /// - Returns: false if descriptors may exist, which only Find Information can discover.
  mutating func canDoWithoutTypes() -> Bool {
    guard !isBlind, !gaps.contains(where: { $0.kind == .descriptors || $0.kind == .configuration }) else { return false }
    isBlind = true
    return true
  }

  // MARK: Choice of the procedure that saves most requests, over all unknown handles

  /// The kind of attributes that a range of unknown handles may contain.
  enum Kind {
    /// Secondary services, between services.
    case outside
    /// Includes, before the first characteristic of a service.
    case head
    /// A CCCD, in the single handle after the value of a characteristic that notifies or indicates.
    case configuration
    case descriptors
    /// Any attribute.
    case rest
  }

  struct Gap {
    var start: Int
    var end: Int
    let kind: Kind
  }

  /// The ranges of unknown handles that may have attributes.
  var gaps: [Gap] {
    var found: [Gap] = []
    func add(_ start: Int, _ end: Int, _ kind: Kind) {
      let first = firstUnknown(start)
      if first <= end { found.append(Gap(start: first, end: end, kind: kind)) }
    }
    var cursor = start
    var index = 0
    for service in services {
      add(cursor, service.handle.number - 1, service.handle.number <= next[.primaryService] ?? start ? .outside : .rest)
      while index < characteristics.count, characteristics[index].handle < service.handle { index += 1 }
      var item: Characteristic?
      var start = service.handle.number + 1
      while true {
        let following = index < characteristics.count && characteristics[index].handle <= service.endHandle ? characteristics[index] : nil
        let end = following.map { $0.handle.number - 1 } ?? service.endHandle.number
        let notifies = item.map { !$0.properties.isDisjoint(with: [.notify, .indicate]) } ?? false
        let isHead = item == nil && end < next[.characteristic] ?? self.start
        add(start, end, isHead ? .head : item == nil ? .rest : notifies && start == end ? .configuration : .descriptors)
        guard let following else { break }
        item = following
        start = (following.followsDeclaration ? following.valueHandle : following.handle).number + 1
        index += 1
      }
      cursor = max(cursor, service.endHandle.number + 1)
    }
    add(cursor, end, .rest)
    return found
  }

  /// Chooses a procedure for one attribute type that saves more requests than it costs. Returns nil if no procedure does.
  mutating func shortcut(_ mtu: Int) -> Procedure? {
    let gaps = gaps
    if asksConfigurations, let procedure = moreConfigurations(gaps) { return procedure }
    let attributes = expectedAttributes(gaps)
    let all = cost(gaps, attributes, mtu)
    func spares(_ kind: Kind, for price: Int) -> Bool { cost(gaps.filter { $0.kind != kind }, attributes, mtu) + price < all }
    let configurations = gaps.count { $0.kind == .configuration && $0.start >= nextConfiguration }
    let capacity = max(1, (mtu - 2) / 4)
    if configurations > 0, spares(.configuration, for: (configurations + capacity - 1) / capacity) {
      asksConfigurations = true
      return moreConfigurations(gaps)
    }
    if !hasIncludes, spares(.head, for: 1) { return .includes(whole) }
    if spares(.outside, for: 1), let range = range(.secondaryService) { return .services(.secondaryService, range) }
    return nil
  }

  mutating func moreConfigurations(_ gaps: [Gap]) -> Procedure? {
    let expected = gaps.filter { $0.kind == .configuration && $0.start >= nextConfiguration }
    guard let first = expected.map(\.start).min(), let last = expected.map(\.end).max() else {
      asksConfigurations = false
      return nil
    }
    return .configurations(HandleRange(AttributeHandle(clamping: first), AttributeHandle(clamping: last)))
  }

  /// Lists the handles of known attributes and likely descriptors, and whether each type is a 128-bit UUID.
  private func expectedAttributes(_ gaps: [Gap]) -> [(handle: Int, isLong: Bool)] {
    var all: [(handle: Int, isLong: Bool)] = services.map { ($0.handle.number, false) }
    for item in characteristics { all += [(item.handle.number, false), (item.valueHandle.number, item.uuid.short == nil)] }
    for gap in gaps where gap.kind == .configuration || gap.kind == .descriptors {
      for handle in gap.start...min(gap.end, gap.start + 2) { all.append((handle, false)) }
    }
    return all.sorted { $0.handle < $1.handle }
  }

  /// Counts the Find Information requests that gaps need. A response ends where the UUID size changes between 16 and 128 bits.
  private func cost(_ gaps: [Gap], _ attributes: [(handle: Int, isLong: Bool)], _ mtu: Int) -> Int {
    var requests = 0
    var covered = 0
    var index = 0
    for gap in gaps {
      while covered < gap.end {
        let start = max(gap.start, covered + 1)
        while index < attributes.count, attributes[index].handle < start { index += 1 }
        requests += 1
        guard index < attributes.count else { return requests }
        let isLong = attributes[index].isLong
        var room = (mtu - 2) / (isLong ? 18 : 4)
        while index < attributes.count, attributes[index].isLong == isLong, room > 0 {
          covered = attributes[index].handle
          index += 1
          room -= 1
        }
      }
    }
    return requests
  }
}
