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

  package init(mode: WriteMode, progress: WriteProgress, total: Int, segments: Int, cause: any Error) {
    (self.mode, self.progress, self.total, self.segments, self.cause) = (mode, progress, total, segments, cause)
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
    var refusal: (any Error)?
    do {
      try await write(value, to: handle, plan: plan, pacing: pacing) {
        last = $0
        do { try progress?($0) } catch {
          refusal = error
          throw error
        }
      }
    } catch {
      if let refusal { throw refusal }
      throw IncompleteWrite(mode: plan.mode, progress: last, total: value.count, segments: plan.segments.count, cause: error)
    }
  }
}
