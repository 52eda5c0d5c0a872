// SPDX-License-Identifier: Apache-2.0
extension Client {
  /// Writes a value with the procedure and the segments of a plan.
  /// - Parameters:
  ///   - plan: a plan for a value of `value.count` bytes.
  ///   - pacing: the pace of Write Requests and Write Commands. Long and reliable writes ignore it.
  ///   - progress: receives the progress after every segment and every confirmation of arrival.
  /// - Throws: GATTError, ATTError, the error that closed the channel, CancellationError, the errors of `progress`.
  ///   Cancels a failed long or reliable write on the peer, so that the peer writes nothing.
  package func write(
    _ value: [UInt8], to handle: AttributeHandle, plan: WriteProcedure, pacing: WritePacing = WritePacing(),
    progress: (@LoopActor (WriteProgress) throws -> Void)? = nil
  ) async throws {
    guard plan.segments.last?.upperBound == value.count else {
      throw GATTError.planMismatch(planned: plan.segments.last?.upperBound ?? 0, count: value.count)
    }
    descriptorValues[handle] = nil
    switch plan.mode {
    case .auto, .request, .command:
      let transfer = Transfer(
        self, to: handle, mode: plan.mode, segment: plan.segments.first?.count ?? 0, pacing: pacing, ByteArray(value))
      try await transfer.run(progress)
    case .long, .reliable: try await prepareAndExecute(value, handle, plan, progress)
    }
    wrote(value, to: handle)
  }

  /// Sends one Write Request (Vol 3 Part G §4.9.3).
  /// - Parameter value: at most ATT_MTU − 3 bytes.
  package func writeRequest(_ value: [UInt8], to handle: AttributeHandle) async throws {
    _ = try await answer(.write(handle, value: value))
  }

  /// Sends one Write Command (Vol 3 Part G §4.9.1). Waits until the channel can accept the command.
  /// - Parameter value: at most ATT_MTU − 3 bytes.
  package func writeCommand(_ value: ArraySlice<UInt8>, to handle: AttributeHandle) async throws {
    // Check first: there is usually room, and a call that may suspend is expensive.
    if !bearer.isWritable { try await bearer.waitUntilWritable() }
    if let closed { throw closed }
    bearer.sendWriteCommand(value, to: handle)
  }

  /// Writes a value with Prepare Write Requests and one Execute Write Request (Vol 3 Part G §4.9.4, §4.9.5).
  private func prepareAndExecute(
    _ value: [UInt8], _ handle: AttributeHandle, _ plan: WriteProcedure, _ progress: (@LoopActor (WriteProgress) throws -> Void)?
  ) async throws {
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
      if plan.mode == .long, case GATTError.errorResponse(.requestNotSupported, to: _, on: let attribute) = error {
        throw GATTError.noLongWrites(attribute ?? .handle(handle), count: value.count, limit: WriteProcedure.largestSegment(mtu: mtu))
      }
      throw error
    }
  }

  /// Empties the peer's queue of prepared writes after a failed write. Takes at most 1 s, and also works in a canceled task.
  private func cancelPreparedWrites() async {
    guard closed == nil else { return }
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      // Report the original failure only.
      _ = try? await withDeadline(limit) { try await self.bearer.request(.executeWrite(flags: 0)) }
    }
  }

  /// Checks that the peer accepts Write Commands to an attribute, once per link. A peer rejects commands silently (Vol 3 Part F §3.4.5.3),
  /// so the client sends a Prepare Write Request without bytes, then cancels the prepared write. Neither changes a value (§3.4.6).
  /// - Throws: `GATTError.errorResponse` with 0x05, 0x08, 0x0C, 0x0F or 0x12, or with 0x03 if the attribute has no write property.
  ///   Also throws the error that closed the bearer, and CancellationError. Ignores other error codes.
  package func checkCommands(to attribute: Attribute) async throws {
    guard !commandsChecked.contains(attribute.handle) else { return }
    do {
      _ = try await answer(.prepareWrite(attribute.handle, offset: 0, value: []))
      // Empty the queue, or the next Execute Write would include this part.
      _ = try await answer(.executeWrite(flags: 0))
    } catch let error as GATTError {
      guard case .errorResponse(let code, _, _) = error else { throw error }
      switch code {
      case _ where code.isOfSecurity, .databaseOutOfSync: throw error
      // A server may refuse to prepare a value that it accepts as a command.
      case .writeNotPermitted: if attribute.properties?.isDisjoint(with: [.write, .writeWithoutResponse]) ?? false { throw error }
      default: break
      }
    }
    commandsChecked.insert(attribute.handle)
  }
}
