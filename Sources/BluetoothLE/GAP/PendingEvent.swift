// SPDX-License-Identifier: Apache-2.0
/// An event for which several callers can wait. Call `next` first, then send the command that causes the event.
@LoopActor
package final class PendingEvent<Value> {
  private var waits: [Wait<Value>] = []

  package init() {}

  package func next() -> Wait<Value> {
    let wait = Wait<Value>()
    waits.removeAll { $0.isOver }
    waits.append(wait)
    return wait
  }

  package func fire(_ value: Value) {
    let all = waits
    waits = []
    for wait in all { wait.resume(returning: value) }
  }

  package func fail(_ error: any Error) {
    let all = waits
    waits = []
    for wait in all { wait.resume(throwing: error) }
  }
}
