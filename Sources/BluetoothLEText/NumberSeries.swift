// SPDX-License-Identifier: Apache-2.0
/// Successive numbers, which share a place in a plot.
package struct NumberSample: Sendable {
  /// The times of the first and of the last number, in nanoseconds since 1970-01-01T00:00:00Z.
  package let time: Int64
  package fileprivate(set) var end: Int64
  package fileprivate(set) var low: Double
  package fileprivate(set) var high: Double
  package fileprivate(set) var mean: Double
  package fileprivate(set) var count = 1
  /// Whether numbers are missing before the first one.
  package let followsGap: Bool

  fileprivate mutating func add(_ other: NumberSample) {
    // Divide first, because the sum of two finite numbers can overflow.
    let all = Double(count + other.count)
    mean = mean / all * Double(count) + other.mean / all * Double(other.count)
    (low, high, end, count) = (min(low, other.low), max(high, other.high), other.end, count + other.count)
  }
}

/// The numbers that a field of a characteristic had, and their range. The memory has an upper limit.
package struct NumberSeries: Sendable {
  package let name: String
  package let unit: String?
  /// The numbers in the order of their times. If there are many, each sample stands for several numbers.
  package private(set) var samples: [NumberSample] = []
  /// The number of all numbers so far.
  package private(set) var count = 0
  package private(set) var (low, high) = (Double.infinity, -Double.infinity)
  package private(set) var latest = 0.0
  /// The number of numbers that a sample stands for, unless a gap follows.
  private var share = 1
  /// The count of the pauses between numbers, and their sum in nanoseconds. A gap counts as the shortest one, so that a device may slow down.
  private var pauses: (count: Double, sum: Double) = (0, 0)
  private var isInterrupted = false
  /// The maximum number of samples. They take 230 KiB, and give a plot four samples for each pixel.
  package static let limit = 4096

  package init(name: String, unit: String?) { (self.name, self.unit) = (name, unit) }

  /// Adds a finite number, and ignores others. A number that is older than the latest one gets the time of the latest one.
  package mutating func add(_ value: Double, at time: Int64) {
    guard value.isFinite else { return }
    let time = max(time, samples.last?.end ?? time)
    let pause = samples.last.map { Double(time) - Double($0.end) }
    // A device that sends at regular times missed several of them.
    let longest = pauses.count >= 4 ? 8 * pauses.sum / pauses.count : .infinity
    let isGap = pause.map { isInterrupted || $0 > longest } ?? false
    isInterrupted = false
    if let pause { pauses = (pauses.count + 1, pauses.sum + min(pause, longest)) }
    let sample = NumberSample(time: time, end: time, low: value, high: value, mean: value, followsGap: isGap)
    if let last = samples.last, last.count < share, !isGap {
      samples[samples.count - 1].add(sample)
    } else {
      if samples.count >= Self.limit { thinOut() }
      samples.append(sample)
    }
    count += 1
    (low, high, latest) = (min(low, value), max(high, value), value)
  }

  /// Leaves a gap before the next number, because a number is missing.
  package mutating func interrupt() { isInterrupted = true }

  /// Joins samples until half of them are left. Keeps gaps if this leaves enough room.
  private mutating func thinOut() {
    share *= 2
    let (all, limit) = (samples, share)
    func joined(acrossGaps: Bool) -> [NumberSample] {
      all.reduce(into: []) { joined, sample in
        if let last = joined.last, last.count + sample.count <= limit || acrossGaps && last.count < limit,
          acrossGaps || !sample.followsGap
        {
          joined[joined.count - 1].add(sample)
        } else {
          joined.append(sample)
        }
      }
    }
    samples = joined(acrossGaps: false)
    if samples.count > Self.limit / 4 * 3 { samples = joined(acrossGaps: true) }
  }

  /// Gathers the samples into the columns of a plot. `column` returns the column of a time.
  package func columns(_ column: (Int64) -> Int) -> [(column: Int, sample: NumberSample)] {
    samples.reduce(into: []) { columns, sample in
      let place = column(sample.time + (sample.end - sample.time) / 2)
      if let last = columns.last, last.column == place {
        columns[columns.count - 1].sample.add(sample)
      } else {
        columns.append((place, sample))
      }
    }
  }
}
