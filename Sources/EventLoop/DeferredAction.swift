/// An action that the loop runs at the end of a turn, after the jobs of the turn and before it looks at its descriptors.
///
/// One run handles many requests. Create the action once and request it often.
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

  /// Requests the action. Idempotent.
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
