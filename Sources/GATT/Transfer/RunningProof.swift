package import ATT
import EventLoop

/// A question whose answer proves that commands have arrived.
package struct ArrivalQuestion {
  /// Without side effects.
  package let request: Request
  /// How many octets the answer speaks for, as a place in what is sent; nil: for all that was sent before the question.
  package let arrived: @LoopActor (Response) -> Int?

  package init(_ request: Request, arrived: @escaping @LoopActor (Response) -> Int? = { _ in nil }) {
    self.request = request
    self.arrived = arrived
  }
}

/// Proof of arrival while commands flow: a request behind those sent so far, which waits for its answer beside the next ones. ATT allows one open
/// request at a time (Vol 3 Part F §3.3.2), and commands in between.
@LoopActor
final class RunningProof {
  struct Answer {
    /// Octets that were sent and not known to have arrived when it was asked.
    let ahead: Int
    /// Since it was asked.
    let time: Duration
    /// Since the peer's link layer had acknowledged the question; nil where that is not known, or not before the answer.
    let delay: Duration?
  }

  /// Octets that are known to have arrived, as a place in what is sent.
  private(set) var confirmed: Int
  /// The last answer spoke for less than was sent before its question.
  private(set) var isBehind = false
  /// Why no more proof comes.
  private(set) var failure: (any Error)?
  var onAnswer: (@LoopActor (Answer) -> Void)?
  /// Since when the answers speak for no more, though more was sent.
  private var behindSince: LoopClock.Instant?

  private let client: Client
  private let question: ArrivalQuestion
  private var task: Task<Void, Never>?
  private var waiting: Wait<Void>?

  /// - Parameter offset: the place at which sending begins.
  init(_ client: Client, _ question: ArrivalQuestion, from offset: Int) {
    self.client = client
    self.question = question
    confirmed = offset
  }

  var isOpen: Bool { task != nil }

  /// For all that was sent so far; does nothing while the last question is open.
  /// - Parameters:
  ///   - sent: a place in what is sent.
  ///   - isTimed: whether the answer's delay is wanted, which costs a little for each packet meanwhile.
  func ask(_ sent: Int, isTimed: Bool) {
    guard task == nil, failure == nil else { return }
    do {
      let (ahead, begin) = (sent - confirmed, EventLoop.shared.now)
      // At once: behind these commands and before the next ones.
      let open = try client.bearer.begin(question.request)
      if isTimed { client.bearer.timeAcknowledgement(of: open) }
      task = EventLoop.shared.spawn {
        do {
          let response = try await self.client.bearer.answer(to: open)
          let now = EventLoop.shared.now
          let acknowledged = isTimed ? self.client.bearer.acknowledgement(of: open) : nil
          let arrived = min(sent, self.question.arrived(response) ?? sent)
          let isMore = arrived > self.confirmed
          self.confirmed = max(self.confirmed, arrived)
          self.isBehind = arrived < sent
          self.behindSince = self.isBehind && !isMore ? self.behindSince ?? now : nil
          if let since = self.behindSince, since.duration(to: now) >= SegmentsMissing.patience {
            self.failure = SegmentsMissing(arrived: self.confirmed, sent: sent)
          }
          self.onAnswer?(Answer(ahead: ahead, time: begin.duration(to: now), delay: acknowledged.map { $0.duration(to: now) }))
        } catch { self.failure = error }
        self.settle()
      }
    } catch { failure = error }
  }

  private func settle() {
    task = nil
    waiting?.resume(returning: ())
    waiting = nil
  }

  /// Returns when no question is open. - Throws: why there is no answer; CancellationError.
  func answered() async throws {
    if isOpen {
      let wait = waiting ?? Wait<Void>()
      waiting = wait
      try await wait.value()
    }
    if let failure { throw failure }
  }

  /// Nobody waits for an answer any more.
  func end() {
    task?.cancel()
    task = nil
  }
}
