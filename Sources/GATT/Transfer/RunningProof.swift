package import ATT
import EventLoop

/// A request whose answer proves that commands have arrived.
package struct ArrivalQuestion {
  /// A request without side effects.
  package let request: Request
  /// The function that extracts the offset up to which the answer confirms arrival. Nil: everything sent before the question.
  package let arrived: @LoopActor (Response) -> Int?

  package init(_ request: Request, arrived: @escaping @LoopActor (Response) -> Int? = { _ in nil }) {
    self.request = request
    self.arrived = arrived
  }
}

/// Confirms arrival while commands flow. A request follows the commands so far, and its answer arrives during the next ones.
/// ATT allows one open request at a time (Vol 3 Part F §3.3.2), with commands in between.
@LoopActor
final class RunningProof {
  struct Answer {
    /// The number of sent bytes that were unconfirmed at the time of the question.
    let ahead: Int
    /// The time from question to answer.
    let time: Duration
    /// The time from the link-layer acknowledgment of the question to the answer. Nil if there was no acknowledgment before the answer.
    let delay: Duration?
  }

  /// The offset up to which the peer has confirmed arrival, in bytes.
  private(set) var confirmed: Int
  /// Whether the last answer confirmed fewer bytes than the transfer had sent before its question.
  private(set) var isBehind = false
  /// The error that ended the proofs.
  private(set) var failure: (any Error)?
  var onAnswer: (@LoopActor (Answer) -> Void)?
  /// The time at which answers stopped confirming more bytes, although the transfer had sent more.
  private var behindSince: LoopClock.Instant?

  private let client: Client
  private let question: ArrivalQuestion
  private var task: Task<Void, Never>?
  private var waiting: Wait<Void>?

  /// Creates a proof.
  /// - Parameter offset: the offset at which sending starts.
  init(_ client: Client, _ question: ArrivalQuestion, from offset: Int) {
    self.client = client
    self.question = question
    confirmed = offset
  }

  var isOpen: Bool { task != nil }

  /// Asks about everything sent so far. Does nothing while a question is open.
  /// - Parameters:
  ///   - sent: the offset up to which the transfer has sent bytes.
  ///   - isTimed: whether to measure the answer's delay, which costs a little time per packet.
  func ask(_ sent: Int, isTimed: Bool) {
    guard task == nil, failure == nil else { return }
    do {
      let (ahead, begin) = (sent - confirmed, EventLoop.shared.now)
      // Send the question at once: after these commands and before the next ones.
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

  /// Waits until no question is open.
  /// - Throws: the reason why there is no answer, CancellationError.
  func answered() async throws {
    if isOpen {
      let wait = waiting ?? Wait<Void>()
      waiting = wait
      try await wait.value()
    }
    if let failure { throw failure }
  }

  /// Stops waiting for an answer.
  func end() {
    task?.cancel()
    task = nil
  }
}
