package import ATT
import EventLoop

extension Client {
  /// Writes `value` according to `plan`.
  /// - Parameters:
  ///   - plan: a plan for a value of this length.
  ///   - pacing: the pace of requests and commands.
  ///   - progress: receives the progress after every segment and every proof of arrival.
  /// - Throws: GATTError, ATTError, the error that closed the channel, CancellationError, the errors of `progress`.
  ///   Cancels a failed long or reliable write on the peer, so that the peer writes nothing.
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

  /// Sends one Write Request (Vol 3 Part G §4.9.3).
  /// - Parameter value: at most ATT_MTU − 3 bytes.
  package func writeRequest(_ value: [UInt8], to handle: AttributeHandle) async throws {
    _ = try await answer(.write(handle, value: value))
  }

  /// Sends one Write Command (§4.9.1) as soon as the channel accepts it, which gives bulk transfers back-pressure.
  /// - Parameter value: at most ATT_MTU − 3 bytes.
  package func writeCommand(_ value: ArraySlice<UInt8>, to handle: AttributeHandle) async throws {
    // Check first: there is usually room, and a call that may suspend is expensive.
    if !bearer.isWritable { try await bearer.waitUntilWritable() }
    if let closed { throw closed }
    bearer.sendWriteCommand(value, to: handle)
  }

  /// Performs a long or reliable write (§4.9.4, §4.9.5).
  private func prepareAndExecute(
    _ value: [UInt8], _ handle: AttributeHandle, _ plan: WritePlan, _ progress: (@LoopActor (WriteProgress) throws -> Void)?
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
      throw error
    }
  }

  /// Empties the peer's queue after a failure, so that the next Execute Write has no old parts. Takes up to 1 s, even after Ctrl-C.
  private func cancelPreparedWrites() async {
    guard closed == nil else { return }
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      // Report the original failure only.
      _ = try? await withDeadline(limit) { try await self.bearer.request(.executeWrite(flags: 0)) }
    }
  }

  /// Asks whether the peer accepts Write Commands to an attribute, once per link and attribute. The peer drops a rejected command silently
  /// (Vol 3 Part F §3.4.5.3). So the client sends a Prepare Write without bytes, then cancels it, which changes nothing (§3.4.6).
  /// - Throws: GATTError.errorResponse with 05, 08, 0C or 0F, which apply to commands too, or with 03 without a write property.
  ///   Other error codes say nothing about commands. Also throws the error that closed the bearer, and CancellationError.
  package func checkCommands(to attribute: Attribute) async throws {
    guard !commandsChecked.contains(attribute.handle) else { return }
    do {
      _ = try await answer(.prepareWrite(attribute.handle, offset: 0, value: []))
      // Empty the queue, or the next Execute Write would include this part.
      _ = try await answer(.executeWrite(flags: 0))
    } catch let error as GATTError {
      guard case .errorResponse(let code, _, _) = error else { throw error }
      switch code {
      case .insufficientAuthentication, .insufficientAuthorization, .encryptionKeySizeTooShort, .insufficientEncryption: throw error
      // A server may refuse to prepare a value that it accepts as a command.
      case .writeNotPermitted: if attribute.properties?.isDisjoint(with: [.write, .writeWithoutResponse]) ?? false { throw error }
      default: break
      }
    }
    commandsChecked.insert(attribute.handle)
  }
}
