import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(15))) struct RetryPolicyTests {
  private static func pauses(_ policy: RetryPolicy, _ count: Int = 10) -> [Duration?] {
    var policy = policy
    return (0..<count).map { _ in policy.next() }
  }

  @Test func pausesGrowToTheLongest() {
    let pauses = Self.pauses(RetryPolicy(), 8)
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
  }

  @Test func pausesOfACountAreEqual() {
    #expect(Self.pauses(.times(2), 4) == [.milliseconds(500), .milliseconds(500), nil, nil])
    #expect(Self.pauses(.times(0), 1) == [nil])
  }

  @Test func aLinkThatHeldStartsOver() {
    var policy = RetryPolicy()
    (_, _) = (policy.next(), policy.next())
    policy.restart()
    #expect(policy.next() == .milliseconds(500))
  }
}
