/// What is to be done when the jobs of a turn are done, before the loop looks at its descriptors: what is cheaper for many at once than for each.
/// Made once and asked for often.
package final class TurnEnd {
  private let action: (()) -> Void
  /// Whether the action was asked for and has not run yet.
  package private(set) var isDue = false

  /// Whether the action waits until no job is left, for up to 64 batches. Other actions run after each batch.
  let waitsForJobs: Bool

  @LoopActor
  package init(waitingForJobs waitsForJobs: Bool = false, _ action: @escaping @LoopActor () -> Void) {
    self.waitsForJobs = waitsForJobs
    self.action = LoopActor.assumingIsolated { (_: ()) in action() }
  }

  /// Idempotent.
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
