// SPDX-License-Identifier: Apache-2.0
/// The restoration of a connection, as often as its policy permits. Ends what lasts on the connection when no attempt is left.
@LoopActor
final class Lifeline {
  private var task: Task<Void, Never>?
  /// The error after which no attempt is left, for those who wait for it.
  private(set) lazy var over = Wait<any Error>()
  private(set) var failure: (any Error)?

  nonisolated init() {}

  /// - Parameter policy: Nil means no restoration.
  func keep(_ connection: Connection, _ session: Session, _ policy: ReconnectPolicy?) {
    task = EventLoop.shared.spawn { [self] in
      do {
        while true {
          let reason = try await connection.client.untilClosed()
          guard let policy else { throw connection.withDemand(reason) }
          let restoration = try await session.restore(connection, policy)
          for values in connection.lasting { values.close(missing: restoration.missing) }
        }
      } catch {
        // `end` cancels the task, and gives the reason itself.
        if !(error is CancellationError) { fail(error, connection) }
      }
    }
  }

  /// Ends the restoration with the connection.
  func end(_ connection: Connection) async {
    task?.cancel()
    await task?.value
    fail(RestorationError.ended, connection)
  }

  private func fail(_ error: any Error, _ connection: Connection) {
    guard failure == nil else { return }
    failure = error
    for values in connection.lasting { values.close(throwing: error) }
    over.resume(returning: error)
  }
}
