package import ATT
package import GATT

/// Which of the values that a peer sends by itself answer, and which say that something failed. All others may come at any time and are neither.
package struct ExpectedAnswers: Sendable, Equatable {
  package struct Pattern: Sendable, Equatable {
    /// The handle of the characteristic's value.
    package let handle: AttributeHandle
    /// What the value begins with; empty: any value.
    package let prefix: [UInt8]

    package init(_ handle: AttributeHandle, beginningWith prefix: [UInt8]) {
      self.handle = handle
      self.prefix = prefix
    }

    func matches(_ event: ValueEvent) -> Bool { event.handle == handle && event.value.starts(with: prefix) }
  }

  package enum Verdict: Sendable, Equatable {
    case answer
    /// The failure with this index.
    case failure(Int)
    /// The value looks like an answer, but all answers of its kind arrived earlier.
    case further
    case neither
  }

  private let expected: [Pattern]
  private let failures: [Pattern]
  /// How many values each expectation still waits for.
  package private(set) var missing: [Int]

  /// - Parameter count: how many values each expectation waits for, 1 or more.
  package init(_ expected: [Pattern], count: Int, failures: [Pattern]) {
    self.expected = expected
    self.failures = failures
    missing = expected.map { _ in count }
  }

  package var areComplete: Bool { missing.allSatisfy { $0 == 0 } }

  /// One value answers one expectation: of those that still wait for it the one that says most about it, so that another that says less is left
  /// for another value.
  package mutating func judge(_ event: ValueEvent) -> Verdict {
    if let failure = failures.firstIndex(where: { $0.matches(event) }) { return .failure(failure) }
    let alike = expected.indices.filter { expected[$0].matches(event) }
    if alike.isEmpty { return .neither }
    let waiting = alike.filter { missing[$0] > 0 }
    guard let best = waiting.max(by: { expected[$0].prefix.count < expected[$1].prefix.count }) else { return .further }
    missing[best] -= 1
    return .answer
  }
}
