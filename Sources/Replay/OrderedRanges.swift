/// Ascending ranges with a binary search.
struct OrderedRanges: Sendable {
  private let ranges: [Range<Int>]

  init(_ ranges: RangeSet<Int> = RangeSet()) { self.ranges = Array(ranges.ranges) }

  /// Returns the first range that ends after a place: the range around it, or else the next.
  func first(endingBehind place: Int) -> Range<Int>? {
    let index = ranges.firstIndex(sortedWhere: { $0.upperBound > place })
    return index < ranges.count ? ranges[index] : nil
  }
}

extension Array {
  /// Returns the index of the first element that satisfies a predicate, or `count`. All elements after it must satisfy it too.
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
