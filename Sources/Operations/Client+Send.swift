package import ATT
import EventLoop
package import GATT

/// A write that ended before its last segment was through: how far it came, and why it ended.
package struct IncompleteWrite: Error {
  /// Never `.auto`.
  package let mode: WriteMode
  package let progress: WriteProgress
  /// Octets of the value.
  package let total: Int
  /// How many segments it was to go in.
  package let segments: Int
  /// What the write threw, CancellationError included.
  package let cause: any Error
  /// Octets that were sent: those of `progress`, and of the request that was not answered.
  package let sent: Int
  /// How people know the device; nil: they know which one it is.
  package var device: String?

  /// - Parameter open: octets of a request that was sent and not answered.
  package init(mode: WriteMode, progress: WriteProgress, total: Int, segments: Int, cause: any Error, open: Int = 0) {
    (self.mode, self.progress, self.total, self.segments, self.cause) = (mode, progress, total, segments, cause)
    sent = min(max(total, progress.sent), progress.sent + open)
  }
}

extension Client {
  /// As `write`, but tells how far it came when it ends early.
  /// - Throws: IncompleteWrite; what `progress` throws.
  package func send(
    _ value: [UInt8], to handle: AttributeHandle, plan: WritePlan, pacing: WritePacing = WritePacing(),
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
      let isOpen = plan.mode == .request && bearer.transmitted > transmitted && plan.segments.indices.contains(count)
      throw IncompleteWrite(
        mode: plan.mode, progress: last, total: value.count, segments: plan.segments.count, cause: error,
        open: isOpen ? plan.segments[count].count : 0)
    }
  }
}
