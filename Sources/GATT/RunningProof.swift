import ATT
import EventLoop

/// Proof of arrival while commands flow: a request behind those sent so far, which waits for its answer beside the next ones. ATT allows one open
/// request at a time (Vol 3 Part F §3.3.2), and commands in between.
@LoopActor
final class RunningProof {
  /// Octets that are known to have arrived.
  private(set) var confirmed = 0
  /// Why no more proof comes.
  private(set) var failure: (any Error)?
  private let client: Client
  private let handle: AttributeHandle
  private var task: Task<Void, Never>?

  init(_ client: Client, _ handle: AttributeHandle) {
    self.client = client
    self.handle = handle
  }

  var isOpen: Bool { task != nil }

  /// For all that was sent so far. - Parameter sent: octets.
  func ask(_ sent: Int) {
    guard task == nil, failure == nil else { return }
    do {
      // At once: behind these commands and before the next ones.
      let open = try client.bearer.begin(client.barrierRequest(after: handle))
      task = EventLoop.shared.spawn {
        do {
          _ = try await self.client.bearer.answer(to: open)
          self.confirmed = max(self.confirmed, sent)
        } catch { self.failure = error }
        self.task = nil
      }
    } catch { failure = error }
  }

  /// Nobody waits for an answer any more.
  func end() {
    task?.cancel()
    task = nil
  }
}
