// SPDX-License-Identifier: Apache-2.0
/// A set of the most recent elements in the order of insertion. A full set forgets its oldest element, so its memory is bounded.
package struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var members: Set<Element> = []
  /// The elements, as a ring buffer when full. The oldest element is at index `oldest`.
  private var ring: [Element] = []
  private var oldest = 0

  /// Creates an empty set.
  /// - Parameter capacity: The maximum number of elements, at least 1.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// The elements in the order of insertion, oldest first.
  package var elements: [Element] { ring.indices.map { ring[(oldest + $0) % ring.count] } }

  /// Inserts an element. Returns whether the element is new, and the oldest element if the full set forgot it.
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
