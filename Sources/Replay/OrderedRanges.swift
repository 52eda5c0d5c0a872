/// Ranges in their order, found by halving.
struct OrderedRanges: Sendable {
  private let ranges: [Range<Int>]

  init(_ ranges: RangeSet<Int> = RangeSet()) { self.ranges = Array(ranges.ranges) }

  /// The first one that ends behind a place: the one that it is in, else the next.
  func first(endingBehind place: Int) -> Range<Int>? {
    let index = ranges.firstIndex(sortedWhere: { $0.upperBound > place })
    return index < ranges.count ? ranges[index] : nil
  }
}

extension Array {
  /// The index of the first element for which something is true that is true for all behind it as well; the count where it is for none.
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
