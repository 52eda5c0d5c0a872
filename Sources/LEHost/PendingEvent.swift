import EventLoop

/// An event that several callers may wait for: register first, then send the command that causes it.
@LoopActor
final class PendingEvent<Value> {
  private var waits: [Wait<Value>] = []

  func next() -> Wait<Value> {
    let wait = Wait<Value>()
    waits.removeAll { $0.isSettled }
    waits.append(wait)
    return wait
  }

  var isAwaited: Bool { waits.contains { !$0.isSettled } }

  func fire(_ value: Value) {
    let all = waits
    waits = []
    for wait in all { wait.resume(returning: value) }
  }

  func fail(_ error: any Error) {
    let all = waits
    waits = []
    for wait in all { wait.resume(throwing: error) }
  }
}
