import Terminal

/// The latest elements of a sequence, at most `capacity`. A new element then replaces the oldest.
struct Ring<Element> {
  private let capacity: Int
  private var elements: [Element] = []
  /// The number of all elements so far, including replaced ones.
  private(set) var total = 0

  init(capacity: Int) { self.capacity = max(1, capacity) }

  mutating func append(_ element: Element) {
    if elements.count < capacity { elements.append(element) } else { elements[total % capacity] = element }
    total += 1
  }

  var count: Int { elements.count }
  var last: Element? { elements.isEmpty ? nil : elements[(total - 1) % capacity] }
  /// Returns the latest `count` elements, the oldest first, or all elements if there are fewer.
  func suffix(_ count: Int) -> [Element] {
    (max(0, elements.count - count)..<elements.count).map { elements[(total - elements.count + $0) % capacity] }
  }
}

/// The latest samples of a number, for example of a value or of the signal strength.
struct SampleHistory {
  private var ring: Ring<Plot.Sample>

  init(capacity: Int = 1024) { ring = Ring(capacity: capacity) }

  /// Adds a sample. Ignores infinite numbers, NaN, and samples older than the latest.
  /// - Parameter interval: The shortest time between two samples, in nanoseconds. The history drops samples that arrive sooner.
  mutating func add(_ value: Double, at time: Int64, every interval: Int64 = 0) {
    guard value.isFinite, last.map({ time >= $0.time && time - $0.time >= interval }) ?? true else { return }
    ring.append((time, value))
  }

  var last: Plot.Sample? { ring.last }
  var count: Int { ring.count }
  /// The samples in the order of their times.
  var samples: [Plot.Sample] { ring.suffix(ring.count) }

  /// Returns the latest `count` values in the order of their times, or all values if there are fewer.
  func tail(_ count: Int) -> [Double] { ring.suffix(count).map(\.value) }
}

/// A value that the browser read or received. The time is in nanoseconds since 1970-01-01T00:00:00Z.
typealias ReceivedValue = (time: Int64, bytes: [UInt8])
