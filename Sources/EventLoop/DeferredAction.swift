/// An action at the end of a turn: after its jobs, before the loop looks at its descriptors.
///
/// One run handles many requests. Create the action once and request it often.
package final class DeferredAction {
  private let action: (()) -> Void
  /// Whether the action was requested and has not run yet.
  package private(set) var isDue = false

  /// Whether the action waits until no job is left, for up to 64 batches. Other actions run after each batch.
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
