package import ATT
import EventLoop

extension Client {
  /// Writes `value` as `plan` says.
  /// - Parameters:
  ///   - plan: made for a value of this length.
  ///   - pacing: of requests and commands.
  ///   - progress: told after every segment, and after every proof of arrival.
  /// - Throws: GATTError, ATTError, what the channel ended with, CancellationError; what `progress` throws. A long or reliable
  ///   write that fails is cancelled on the peer: nothing of it is written.
  package func write(
    _ value: [UInt8], to handle: AttributeHandle, plan: WritePlan, pacing: WritePacing = WritePacing(),
    progress: (@LoopActor (WriteProgress) throws -> Void)? = nil
  ) async throws {
    guard plan.segments.last?.upperBound == value.count else {
      throw GATTError.planMismatch(planned: plan.segments.last?.upperBound ?? 0, count: value.count)
    }
    descriptorValues[handle] = nil
    switch plan.mode {
    case .auto, .request, .command:
      let transfer = Transfer(
        self, to: handle, mode: plan.mode, segment: plan.segments.first?.count ?? 0, pacing: pacing, OctetArray(value))
      try await transfer.run(progress)
    case .long, .reliable: try await prepareAndExecute(value, handle, plan, progress)
    }
  }

  /// One Write Request (Vol 3 Part G §4.9.3). - Parameter value: at most ATT_MTU − 3 octets.
  package func writeRequest(_ value: [UInt8], to handle: AttributeHandle) async throws {
    _ = try await answer(.write(handle, value: value))
  }

  /// One Write Command (§4.9.1), as soon as the channel takes it: the back-pressure of bulk transfers.
  /// - Parameter value: at most ATT_MTU − 3 octets.
  package func writeCommand(_ value: ArraySlice<UInt8>, to handle: AttributeHandle) async throws {
    // Asked first, because most often there is room and a call that may suspend is not cheap.
    if !bearer.isWritable { try await bearer.waitUntilWritable() }
    if let closed { throw closed }
    bearer.sendWriteCommand(value, to: handle)
  }

  /// As above.
  package func writeCommand(_ value: [UInt8], to handle: AttributeHandle) async throws { try await writeCommand(value[...], to: handle) }

  /// §4.9.4 and §4.9.5.
  private func prepareAndExecute(
    _ value: [UInt8], _ handle: AttributeHandle, _ plan: WritePlan, _ progress: (@LoopActor (WriteProgress) throws -> Void)?
  )
    async throws
  {
    do {
      for segment in plan.segments {
        let part = Array(value[segment])
        let request = Request.prepareWrite(handle, offset: UInt16(clamping: segment.lowerBound), value: part)
        guard let response = try await answer(request) else { continue }
        if response != .prepareWrite(handle, offset: UInt16(clamping: segment.lowerBound), value: part) {
          guard plan.mode == .long else {
            throw ATTError.violation(
              .response(.prepareWrite), response.bytes, "does not repeat the value. Nothing was written")
          }
          onNote?(.wrongEcho)
        }
        try progress?(WriteProgress(sent: segment.upperBound))
      }
      _ = try await answer(.executeWrite(flags: 1))
    } catch {
      await cancelPreparedWrites()
      throw error
    }
  }

  /// Whatever went wrong, the peer's queue must not keep a part for the next Execute Write. Limits itself to a second: after Ctrl-C too.
  private func cancelPreparedWrites() async {
    guard closed == nil else { return }
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      do {
        _ = try await withDeadline(limit) { try await self.bearer.request(.executeWrite(flags: 0)) }
      } catch {
        // The failure that led here is the one that is reported.
      }
    }
  }
}
