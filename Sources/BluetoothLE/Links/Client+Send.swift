// SPDX-License-Identifier: Apache-2.0
/// The error of a write that ended early, with its progress and the cause.
package struct IncompleteWrite: Error {
  /// The mode that the write used, never `.auto`.
  package let mode: WriteMode
  package let progress: WriteProgress
  /// The length of the value in bytes.
  package let total: Int
  /// The number of segments in the write's plan.
  package let segments: Int
  /// The error that ended the write, for example a `CancellationError`.
  package let cause: any Error
  /// The number of bytes sent, including those of an unanswered request.
  package let sent: Int
  /// The device's name for error messages. Nil if the user knows which device the write concerns.
  package var device: String?

  /// Creates the error of a write. `open` is the number of bytes in an unanswered request.
  package init(mode: WriteMode, progress: WriteProgress, total: Int, segments: Int, cause: any Error, open: Int = 0) {
    (self.mode, self.progress, self.total, self.segments, self.cause) = (mode, progress, total, segments, cause)
    sent = min(max(total, progress.sent), progress.sent + open)
  }
}

extension IncompleteWrite: PassingError { package var mayPass: Bool { ReconnectPolicy.mayPass(cause) } }

extension Client {
  /// Writes a value to an attribute according to a plan.
  /// - Throws: `IncompleteWrite` with the progress if the write ends early; `GATTError` with 0x12 (Database Out Of Sync) if no byte was
  ///   sent; the errors of `progress`.
  package func send(
    _ value: [UInt8], to handle: AttributeHandle, plan: WriteProcedure, pacing: WritePacing = WritePacing(),
    progress: (@LoopActor (WriteProgress) throws -> Void)? = nil
  ) async throws {
    var last = WriteProgress()
    var count = 0
    var transmitted = bearer.transmitted
    var refusal: (any Error)?
    do {
      try await write(value, to: handle, plan: plan, pacing: pacing) {
        last = $0
        count += 1
        transmitted = self.bearer.transmitted
        do { try progress?($0) } catch {
          refusal = error
          throw error
        }
      }
    } catch {
      if let refusal { throw refusal }
      // The peer has taken nothing: the caller may repeat the write.
      if case GATTError.errorResponse(.databaseOutOfSync, to: _, on: _) = error, last.sent == 0 { throw error }
      let isOpen = plan.mode == .request && bearer.transmitted > transmitted && plan.segments.indices.contains(count)
      throw IncompleteWrite(
        mode: plan.mode, progress: last, total: value.count, segments: plan.segments.count, cause: error,
        open: isOpen ? plan.segments[count].count : 0)
    }
  }
}
