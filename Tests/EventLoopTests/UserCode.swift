import TestSupport

/// What the tests of library calls share: they act as a program that uses the library.
let loop = EventLoop.shared

/// An adapter, for example.
final class Scope: Sendable {}

/// Returns whether virtual time stands still while the loop is idle, although a task of another program part waits in a call for a timer.
func timeStandsStill() async -> Bool {
  let (begun, start) = await loop.spawn { (Wait<Void>(), loop.now) }.value
  let scope = Scope()
  let other = Task.detached {
    try? await loop.call(for: scope) {
      begun.resume(returning: ())
      try await loop.sleep(for: .nanoseconds(1))
    }
  }
  await loop.spawn { try? await begun.value() }.value
  for _ in 0..<64 { await loop.spawn {}.value }
  let end = await loop.spawn { loop.now }.value
  other.cancel()
  _ = await other.value
  return start == end
}

/// Calls the library and waits for a timer there. Returns the virtual time that passed.
func waitInCall(_ delay: Duration = .seconds(1), for scope: Scope? = nil) async throws -> Duration {
  try await loop.call(for: scope) {
    let start = loop.now
    try await loop.sleep(for: delay)
    return start.duration(to: loop.now)
  }
}

/// Expects that virtual time advances in a library call.
func expectWaitInCall(
  _ delay: Duration = .seconds(1), for scope: Scope? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let passed = try await waitInCall(delay, for: scope)
  #expect(passed == delay, sourceLocation: sourceLocation)
}

/// A library call of an unrelated task, which returns only if no hold is left.
func waitElsewhere() async throws { _ = try await Task.detached { try await waitInCall() }.value }

/// Numbers from 0, delivered once a second.
struct Ticks: AsyncSequence {
  struct End: Error {}

  struct Iterator: AsyncIteratorProtocol {
    let hold: ElementHold
    var next = 0
    let count: Int
    let error: End?

    mutating func next() async throws -> Int? {
      let (number, count, error) = (next, count, error)
      next += 1
      return try await hold.next {
        if number == count, let error { throw error }
        guard number < count else { return nil }
        try await loop.sleep(for: .seconds(1))
        return number
      }
    }
  }

  let scope: Scope
  var count = Int.max
  var error: End?

  func makeAsyncIterator() -> Iterator { Iterator(hold: ElementHold(for: scope), count: count, error: error) }
}

/// A value on the loop that tests change step by step.
@LoopActor final class LoopLog<Element: Sendable> {
  var items: [Element] = []
  nonisolated init() {}
}
