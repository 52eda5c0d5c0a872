// SPDX-License-Identifier: Apache-2.0
/// The patterns of the answers that a command waits for. Classifies each unsolicited value of a peer as an answer, a failure or neither.
package struct AnswerPatterns: Sendable, Equatable {
  package struct Pattern: Sendable, Equatable {
    /// The handle of the characteristic's value.
    package let handle: AttributeHandle
    /// The first bytes of the value. An empty prefix matches any value.
    package let prefix: [UInt8]

    package init(_ handle: AttributeHandle, beginningWith prefix: [UInt8]) { (self.handle, self.prefix) = (handle, prefix) }

    func matches(_ event: ValueEvent) -> Bool { event.handle == handle && event.value.starts(with: prefix) }
  }

  package enum Verdict: Sendable, Equatable {
    case answer
    /// The value matches the failure pattern with this index, from 0.
    case failure(Int)
    /// The value matches an expectation, but all values of that expectation arrived earlier.
    case further
    case neither
  }

  private let expected: [Pattern]
  private let failures: [Pattern]
  /// The number of values that each expectation still needs, in the order of the expectations given to `init`.
  package private(set) var missing: [Int]

  /// Creates the expectations. Each waits for `count` values, 1 or more.
  package init(_ expected: [Pattern], count: Int, failures: [Pattern]) {
    self.expected = expected
    self.failures = failures
    missing = expected.map { _ in count }
  }

  package var areComplete: Bool { missing.allSatisfy { $0 == 0 } }

  /// Classifies a value. If several waiting expectations match, the value satisfies the one with the longest prefix.
  package mutating func evaluate(_ event: ValueEvent) -> Verdict {
    if let failure = failures.firstIndex(where: { $0.matches(event) }) { return .failure(failure) }
    let alike = expected.indices.filter { expected[$0].matches(event) }
    if alike.isEmpty { return .neither }
    let waiting = alike.filter { missing[$0] > 0 }
    guard let best = waiting.max(by: { expected[$0].prefix.count < expected[$1].prefix.count }) else { return .further }
    missing[best] -= 1
    return .answer
  }
}
