import CommandLine

/// A run of one procedure from the command line, including its connection.
@LoopActor
struct GatttoolRequest {
  let options: GatttoolOptions
  let context: Context

  private var output: Output { context.output }
  private static let text = GatttoolText(isInteractive: false)

  /// Connects and runs the procedure. With `--listen`, then prints notifications until the connection is lost.
  /// - Throws: ExitCode after printing an error; OutputFailure; CancellationError.
  func run(_ name: GatttoolOptions.Name) async throws {
    guard let destination = options.texts[.device] else {
      try await output.line("Remote Bluetooth address required")
      throw ExitCode(1)
    }
    let connection: Connection
    do {
      connection = try await GatttoolLink.connect(
        destination, type: options.addressType, isOverClassic: options.isOverClassic, securityLevel: options.texts[.securityLevel] ?? "low",
        context)
    } catch is CancellationError { throw CancellationError() } catch {
      output.message(GatttoolLink.reason(error, destination))
      throw ExitCode(1)
    }
    let listens = options.flags.contains(.listen)
    let end = Wait<any Error>()
    var observer: ValueObserver?
    defer { observer?.cancel() }
    if listens {
      observer = connection.client.observeValues { event in
        do {
          // Drop and count notifications if the output has no room.
          if try !output.offerLine(GatttoolText.event(event)) { context.reportDropped(1) }
        } catch { end.resume(throwing: error) }
      }
    }
    guard try await perform(name, connection.client), listens else { return }
    let watch = EventLoop.shared.spawn {
      if let reason = try? await connection.client.untilClosed() { end.resume(returning: reason) }
    }
    defer { watch.cancel() }
    output.message(Failure(try await end.value()).message)
    throw ExitCode(1)
  }

  /// Runs the procedure on a connected device.
  /// - Returns: Whether `--listen` applies after the procedure.
  private func perform(_ name: GatttoolOptions.Name, _ client: Client) async throws -> Bool {
    guard let procedure = procedure(name) else { return false }
    do {
      try await procedure.run(client, Self.text) { try await output.line($0) }
      if case .command(let handle, let value) = procedure { try await finish(handle, value, client) }
    } catch let error as OutputFailure { throw error } catch is CancellationError { throw CancellationError() } catch {
      output.message("\(procedure.failure): \(GatttoolText.reason(error))")
      if client.closed != nil { return false }
    }
    return name == .charRead ? options.uuid == nil : name == .charWriteRequest || name == .charDesc
  }

  /// Waits up to 2 s until the device has received a Write Command, which has no response.
  private func finish(_ handle: AttributeHandle, _ value: [UInt8], _ client: Client) async throws {
    let limit = client.mtu - 3
    if value.count > limit { output.message("only the first \(limit) of \(value.count) bytes were sent: ATT_MTU is \(client.mtu)") }
    _ = try? await withDeadline(EventLoop.shared.now.advanced(by: .seconds(2))) { try await client.barrier(after: handle) }
    try Task.checkCancellation()
  }

  /// Returns the procedure with the values of its options. Nil after printing an error about a missing or invalid value.
  private func procedure(_ name: GatttoolOptions.Name) -> GatttoolProcedure? {
    let range = HandleRange(.init(lower: options.numbers[.start] ?? 1), .init(lower: options.numbers[.end] ?? 0xFFFF))
    switch name {
    case .primary: return options.uuid.map { .primaryService($0) } ?? .primaryServices
    case .characteristics: return .characteristics(range, options.uuid)
    case .charDesc: return .attributes(range)
    case .charRead:
      if let uuid = options.uuid { return .readByType(uuid, range) }
      return handle().map { .read($0) }
    case .charWrite: return written().map { .command($0, $1) }
    case .charWriteRequest: return written().map { .write($0, $1) }
    default: return nil
    }
  }

  private func handle() -> AttributeHandle? {
    if let number = options.numbers[.handle], number > 0 { return .init(lower: number) }
    output.message("A valid handle is required")
    return nil
  }

  private func written() -> (AttributeHandle, [UInt8])? {
    guard let handle = handle() else { return nil }
    let value = options.texts[.value] ?? ""
    let bytes = GatttoolValue.bytes(value)
    guard bytes.isEmpty else { return (handle, bytes) }
    output.message(value.isEmpty ? "A value is required" : "Invalid value")
    return nil
  }
}

extension AttributeHandle {
  /// Creates a handle from the lower 16 bits of a number, as gatttool does.
  init(lower number: Int) { self.init(rawValue: UInt16(truncatingIfNeeded: number)) }
}
