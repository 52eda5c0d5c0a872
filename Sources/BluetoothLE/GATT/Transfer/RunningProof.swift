// SPDX-License-Identifier: Apache-2.0
/// A request whose response proves that earlier Write Commands have arrived.
package struct ArrivalQuestion {
  /// The request to send, which must not have side effects.
  package let request: Request
  /// The function that extracts the confirmed byte offset from a response. A nil result confirms all bytes sent before the request.
  package let arrived: @LoopActor (Response) -> Int?

  package init(_ request: Request, arrived: @escaping @LoopActor (Response) -> Int? = { _ in nil }) {
    self.request = request
    self.arrived = arrived
  }
}

/// Confirms that Write Commands have arrived, while a transfer sends further commands.
/// ATT allows one open request at a time, and commands before the response (Vol 3 Part F §3.3.2).
@LoopActor
final class RunningProof {
  struct Answer {
    /// The number of sent but unconfirmed bytes at the time of the request.
    let ahead: Int
    /// The time from the request to its response.
    let time: Duration
    /// The time from the link-layer acknowledgment of the request to the response. Nil if the response arrived first.
    let delay: Duration?
  }

  /// The byte offset up to which the peer has confirmed arrival.
  private(set) var confirmed: Int
  /// Whether the last response confirmed fewer bytes than the transfer had sent before the request.
  private(set) var isBehind = false
  /// The error that ended the proof. Nil while the proof works.
  private(set) var failure: (any Error)?
  var onAnswer: (@LoopActor (Answer) -> Void)?
  /// The arrival time of the first response that showed no progress, although bytes were unconfirmed. Nil while responses show progress.
  private var behindSince: LoopClock.Instant?

  private let client: Client
  private let question: ArrivalQuestion
  private var task: Task<Void, Never>?
  private var waiting: Wait<Void>?

  /// Creates the proof for one transfer.
  /// - Parameter offset: the byte offset at which the transfer starts.
  init(_ client: Client, _ question: ArrivalQuestion, from offset: Int) {
    self.client = client
    self.question = question
    confirmed = offset
  }

  var isOpen: Bool { task != nil }

  /// Sends the request that confirms all bytes sent so far. Does nothing while an earlier request is open.
  /// - Parameters:
  ///   - sent: the byte offset up to which the transfer has sent.
  ///   - isTimed: whether to measure the delay of the response, which costs a little time per packet.
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
          // A peer whose database has changed ignores commands until it has answered a request (Vol 3 Part G §2.5.2.1).
          if case .error(_, _, .databaseOutOfSync) = response {
            self.client.forget(.all)
            throw GATTError.errorResponse(.databaseOutOfSync, to: self.question.request, on: nil)
          }
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

  /// Waits until no request of the proof is open.
  /// - Throws: the error that ended the proof, CancellationError.
  func answered() async throws {
    if isOpen {
      let wait = waiting ?? Wait<Void>()
      waiting = wait
      try await wait.value()
    }
    if let failure { throw failure }
  }

  /// Stops waiting for a response.
  func end() {
    task?.cancel()
    task = nil
  }
}
