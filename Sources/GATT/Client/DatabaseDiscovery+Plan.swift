import ATT
import Bluetooth

/// The choice of the procedure that saves most requests. Plans over all unknown handles.
extension DatabaseDiscovery {
  /// The attributes that a gap may contain.
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

  /// The unknown handles that may have attributes.
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

  /// Chooses a procedure for one type that saves more Find Information requests than it costs. Nil if there is none.
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

  /// Lists the known attributes and likely descriptors, with whether each UUID has 128 bits.
  private func expectedAttributes(_ gaps: [Gap]) -> [(handle: Int, isLong: Bool)] {
    var all: [(handle: Int, isLong: Bool)] = services.map { ($0.handle.number, false) }
    for item in characteristics { all += [(item.handle.number, false), (item.valueHandle.number, item.uuid.short == nil)] }
    for gap in gaps where gap.kind == .configuration || gap.kind == .descriptors {
      for handle in gap.start...min(gap.end, gap.start + 2) { all.append((handle, false)) }
    }
    return all.sorted { $0.handle < $1.handle }
  }

  /// Counts the Find Information requests that gaps need. An answer ends where the size of the UUIDs changes.
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
