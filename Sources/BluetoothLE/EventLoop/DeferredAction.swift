// SPDX-License-Identifier: Apache-2.0
/// An action that the event loop runs after the jobs of a turn and before it checks its descriptors.
///
/// One run serves all earlier requests. Create an action once and request it often.
package final class DeferredAction {
  private let action: (()) -> Void
  /// Whether a request waits for the action to run.
  package private(set) var isDue = false

  /// Whether the action waits until no job is left, for up to 64 batches. Other actions run after each batch of jobs.
  let waitsForJobs: Bool

  @LoopActor
  package init(waitingForJobs waitsForJobs: Bool = false, _ action: @escaping @LoopActor () -> Void) {
    self.waitsForJobs = waitsForJobs
    self.action = LoopActor.assumingIsolated { (_: ()) in action() }
  }

  /// Makes the event loop run the action at the end of the current turn. Idempotent.
  @LoopActor
  package func request() {
    guard !isDue else { return }
    isDue = true
    EventLoop.shared.atEndOfTurn(self)
  }

  func run() {
    isDue = false
    action(())
  }
}
