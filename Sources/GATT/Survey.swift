import ATT
import Bluetooth

/// What is known of a peer's attributes while they are discovered, and what to ask next so that few requests make it all known. Without I/O.
///
/// Nothing is left out on a guess. Read By Type and Read By Group Type give the attributes of their type in order, none left out (Vol 3
/// Part F §3.4.4.1, §3.4.4.9), so nothing of that type lies before the last one. Find Information gives all attributes in order (§3.4.3.1), so what it
/// passes over does not exist. At the end every handle from 0x0001 to 0xFFFF is one that was named, or one where nothing can be. So a sweep
/// for secondary services or includes is needed only where Find Information saw one, and its last "not found" speaks for all types at once.
struct Survey {
  enum Question: Equatable {
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

  /// By type of declaration: where the sweep for it goes on. All before are known. Beyond 0xFFFF: all there are.
  private var next: [UUID: Int] = [.primaryService: 1, .secondaryService: 1, .characteristic: 1]
  /// By type: the last one that Find Information saw.
  private var seen: [UUID: Int] = [:]
  /// The last answer of the sweep had no room for more.
  private var wasFull: [UUID: Bool] = [:]
  /// Handles of which it is known what has them, or that nothing does.
  private var known = RangeSet<Int>()
  private var nextConfiguration = 1
  private var asksConfigurations = false
  /// Plans are made over everything that is known; a peer with thousands of changes of the UUID size does not get one for each.
  private var plansLeft = 8
  /// The peer answered Find Information with an error where nothing need be: the sweeps go on to their ends instead.
  private var isBlind = false

  // MARK: What to ask

  mutating func nextQuestion(mtu: Int) -> Question? {
    guard let question = choose(mtu) else { return nil }
    requests += 1
    return question
  }

  private mutating func choose(_ mtu: Int) -> Question? {
    if wantsPrimaryServices, let range = range(.primaryService) { return .services(.primaryService, range) }
    if services.isEmpty { return nil }
    if isBlind || wants(.secondaryService), let range = range(.secondaryService) { return .services(.secondaryService, range) }
    if wantsCharacteristics, let range = range(.characteristic) { return .characteristics(range) }
    if isBlind {
      // Descriptors can be found in no other way: without them there is no result.
      let gap = gaps.first { $0.kind == .descriptors || $0.kind == .configuration }
      if let gap { return .types(HandleRange(AttributeHandle(clamping: gap.start), AttributeHandle(clamping: gap.end))) }
      return hasIncludes ? nil : .includes(.all)
    }
    if plansLeft > 0 {
      plansLeft -= 1
      if let question = shortcut(mtu) { return question }
    } else if asksConfigurations, let question = moreConfigurations(gaps) {
      return question
    }
    let frontier = firstUnknown(1)
    return frontier <= 0xFFFF ? .types(HandleRange(AttributeHandle(clamping: frontier), 0xFFFF)) : nil
  }

  /// The first handle from `start` on that is not known.
  private func firstUnknown(_ start: Int) -> Int {
    let ranges = known.ranges
    var low = ranges.startIndex
    var high = ranges.endIndex
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= start { low = middle + 1 } else { high = middle }
    }
    return low < ranges.endIndex && ranges[low].contains(start) ? ranges[low].upperBound : start
  }

  private func range(_ type: UUID) -> HandleRange? {
    guard let start = next[type], start <= 0xFFFF else { return nil }
    return HandleRange(AttributeHandle(clamping: start), 0xFFFF)
  }

  private func wants(_ type: UUID) -> Bool { (seen[type] ?? 0) >= (next[type] ?? 1) }

  private var wantsPrimaryServices: Bool {
    if isBlind || wants(.primaryService) || wasFull[.primaryService] ?? true { return true }
    guard let item = characteristics.last, let service = services.last else { return false }
    return item.handle > service.endHandle && item.handle.number >= next[.primaryService] ?? 1
  }

  /// Where characteristics must be, or most likely are: else Find Information, which has to look there anyway, tells.
  private var wantsCharacteristics: Bool {
    if isBlind || wants(.characteristic) { return true }
    let start = next[.characteristic] ?? 1
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

  // MARK: Plans

  /// What may be in a gap.
  private enum Kind {
    /// Between services: secondary ones.
    case outside
    /// Before the first characteristic of a service: includes.
    case head
    /// One handle after the value of a characteristic that notifies or indicates.
    case configuration
    case descriptors
    /// Anything.
    case rest
  }

  private struct Gap {
    var start: Int
    var end: Int
    let kind: Kind
  }

  /// Where something may be that is not known.
  private var gaps: [Gap] {
    var found: [Gap] = []
    func add(_ start: Int, _ end: Int, _ kind: Kind) {
      let first = firstUnknown(start)
      if first <= end { found.append(Gap(start: first, end: end, kind: kind)) }
    }
    var cursor = 1
    var index = 0
    for service in services {
      add(cursor, service.handle.number - 1, service.handle.number <= next[.primaryService] ?? 1 ? .outside : .rest)
      while index < characteristics.count, characteristics[index].handle < service.handle { index += 1 }
      var item: Characteristic?
      var start = service.handle.number + 1
      while true {
        let following = index < characteristics.count && characteristics[index].handle <= service.endHandle ? characteristics[index] : nil
        let end = following.map { $0.handle.number - 1 } ?? service.endHandle.number
        let notifies = item.map { !$0.properties.isDisjoint(with: [.notify, .indicate]) } ?? false
        let isHead = item == nil && end < next[.characteristic] ?? 1
        add(start, end, isHead ? .head : item == nil ? .rest : notifies && start == end ? .configuration : .descriptors)
        guard let following else { break }
        item = following
        start = following.valueHandle.number + 1
        index += 1
      }
      cursor = max(cursor, service.endHandle.number + 1)
    }
    add(cursor, 0xFFFF, .rest)
    return found
  }

  /// A question about one type that spares more questions about all types than it costs.
  private mutating func shortcut(_ mtu: Int) -> Question? {
    let gaps = gaps
    if asksConfigurations, let question = moreConfigurations(gaps) { return question }
    let attributes = expectedAttributes(gaps)
    let all = cost(gaps, attributes, mtu)
    func spares(_ kind: Kind, for price: Int) -> Bool { cost(gaps.filter { $0.kind != kind }, attributes, mtu) + price < all }
    let configurations = gaps.count { $0.kind == .configuration && $0.start >= nextConfiguration }
    let capacity = max(1, (mtu - 2) / 4)
    if configurations > 0, spares(.configuration, for: (configurations + capacity - 1) / capacity) {
      asksConfigurations = true
      return moreConfigurations(gaps)
    }
    if !hasIncludes, spares(.head, for: 1) { return .includes(.all) }
    if spares(.outside, for: 1), let range = range(.secondaryService) { return .services(.secondaryService, range) }
    return nil
  }

  private mutating func moreConfigurations(_ gaps: [Gap]) -> Question? {
    let expected = gaps.filter { $0.kind == .configuration && $0.start >= nextConfiguration }
    guard let first = expected.first, let last = expected.last else {
      asksConfigurations = false
      return nil
    }
    return .configurations(HandleRange(AttributeHandle(clamping: first.start), AttributeHandle(clamping: last.end)))
  }

  /// What is known, and descriptors where there is room; whether the UUID is a long one.
  private func expectedAttributes(_ gaps: [Gap]) -> [(handle: Int, isLong: Bool)] {
    var all: [(handle: Int, isLong: Bool)] = services.map { ($0.handle.number, false) }
    for item in characteristics { all += [(item.handle.number, false), (item.valueHandle.number, item.uuid.short == nil)] }
    for gap in gaps where gap.kind == .configuration || gap.kind == .descriptors {
      for handle in gap.start...min(gap.end, gap.start + 2) { all.append((handle, false)) }
    }
    return all.sorted { $0.handle < $1.handle }
  }

  /// How many requests Find Information takes for these gaps: an answer goes on until the size of the UUIDs changes.
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

  // MARK: What was answered

  mutating func take(_ groups: [HandleGroup], of type: UUID, in range: HandleRange, mtu: Int) throws(MalformedPacket) {
    var sweep = Sweep(range)
    let last = services.last
    for group in groups {
      guard group.value.count != 4, let uuid = UUID(littleEndian: group.value) else {
        throw MalformedPacket("a service UUID of \(group.value.count) octets, 2 or 16 wanted", at: 1)
      }
      try sweep.take(group.handle, through: group.endHandle)
      services.append(Service(uuid: uuid, handle: group.handle, endHandle: group.endHandle, isPrimary: type == .primaryService))
      know(group.handle, group.handle)
      next[type] = group.endHandle.number + 1
    }
    // Primary and secondary services are found in sweeps of their own.
    if let last, let first = groups.first, first.handle < last.handle { services.sort { $0.handle < $1.handle } }
    wasFull[type] = groups.first.map { (groups.count + 1) * (4 + $0.value.count) > mtu - 2 } ?? false
  }

  mutating func take(_ items: [HandleValue], characteristicsIn range: HandleRange, mtu: Int) throws(MalformedPacket) {
    var sweep = Sweep(range)
    for item in items {
      try sweep.take(item.handle, through: item.handle)
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
    var sweep = Sweep(range)
    for item in items {
      try sweep.take(item.handle, through: item.handle)
      types[item.handle] = .clientCharacteristicConfiguration
      know(item.handle, item.handle)
      nextConfiguration = item.handle.number + 1
    }
  }

  mutating func take(_ items: [HandleType], in range: HandleRange) throws(MalformedPacket) {
    var sweep = Sweep(range)
    for item in items {
      try sweep.take(item.handle, through: item.handle)
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
  mutating func end(_ question: Question) {
    switch question {
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
