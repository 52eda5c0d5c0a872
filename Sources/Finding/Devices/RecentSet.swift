/// The elements that were added last, in their order: what was added first is forgotten first, so that it may be used for days.
package struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var members: Set<Element> = []
  /// A ring once it is full: the oldest stands at `oldest`.
  private var ring: [Element] = []
  private var oldest = 0

  /// - Parameter capacity: at least 1.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  package var count: Int { ring.count }

  package func contains(_ element: Element) -> Bool { members.contains(element) }

  /// The oldest first.
  package var elements: [Element] { Array(ring[oldest...] + ring[..<oldest]) }

  /// - Returns: whether it was not there; and what had to be forgotten for it.
  @discardableResult
  package mutating func insert(_ element: Element) -> (isNew: Bool, forgotten: Element?) {
    guard members.insert(element).inserted else { return (false, nil) }
    guard ring.count == capacity else {
      ring.append(element)
      return (true, nil)
    }
    let forgotten = ring[oldest]
    members.remove(forgotten)
    ring[oldest] = element
    oldest = (oldest + 1) % capacity
    return (true, forgotten)
  }
}
