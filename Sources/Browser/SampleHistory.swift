/// The latest samples of a value or of the signal strength.
struct SampleHistory: Equatable {
  struct Sample: Equatable {
    /// The time of the sample, in nanoseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let value: Double
  }

  private let capacity: Int
  /// The samples, a ring buffer once it is full.
  private var ring: [Sample] = []
  private var oldest = 0

  init(capacity: Int = 1024) { self.capacity = max(1, capacity) }

  /// Adds a sample.
  /// - Parameter interval: The shortest time between two samples, in nanoseconds. The history drops samples that arrive sooner.
  mutating func add(_ value: Double, at time: Int64, every interval: Int64 = 0) {
    guard value.isFinite, last.map({ time >= $0.time && time - $0.time >= interval }) ?? true else { return }
    let sample = Sample(time: time, value: value)
    if ring.count < capacity {
      ring.append(sample)
    } else {
      ring[oldest] = sample
      oldest = (oldest + 1) % capacity
    }
  }

  var last: Sample? { ring.isEmpty ? nil : ring[(oldest + ring.count - 1) % ring.count] }
  var count: Int { ring.count }
  /// The samples, the oldest first.
  var samples: [Sample] { Array(ring[oldest...] + ring[..<oldest]) }

  /// Returns the last `count` values, the oldest first.
  func tail(_ count: Int) -> [Double] { (max(0, ring.count - count)..<ring.count).map { ring[(oldest + $0) % ring.count].value } }
}
