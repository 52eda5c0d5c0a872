/// The numbers that a field of a characteristic had, and their range. The memory has an upper limit.
package struct NumberSeries {
  package let name: String
  package let unit: String?
  /// The numbers in the order of their times. Late numbers are complete, and early ones may be thinned out.
  package private(set) var samples: [Plot.Sample] = []
  /// The number of all numbers so far.
  package private(set) var count = 0
  package private(set) var (low, high) = (Double.infinity, -Double.infinity)
  /// The maximum number of samples: 64 KiB, and four for each pixel of a plot. Must be divisible by 4.
  package static let limit = 4096

  package init(name: String, unit: String?) { (self.name, self.unit) = (name, unit) }

  /// Adds a finite number, and ignores others. A number that is older than the latest one gets the time of the latest one.
  package mutating func add(_ value: Double, at time: Int64) {
    guard value.isFinite else { return }
    if samples.count >= Self.limit { thinOut() }
    samples.append((max(time, samples.last?.time ?? time), value))
    count += 1
    (low, high) = (min(low, value), max(high, value))
  }

  /// Keeps the lowest and the highest of each four samples, so that an hour's peak stays.
  private mutating func thinOut() {
    samples = stride(from: 0, to: samples.count, by: 4).flatMap { start in
      let four = samples[start..<min(start + 4, samples.count)].sorted { $0.value < $1.value }
      return [four[0], four[four.count - 1]].sorted { $0.time < $1.time }
    }
  }
}
