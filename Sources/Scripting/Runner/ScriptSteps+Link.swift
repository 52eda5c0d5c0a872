import BluetoothLE
import Presentation
import Program

/// The connection of a script, as methods of `ScriptSteps`.
extension ScriptSteps {
  /// Returns the current connection. Connects to the script's device if no connection exists.
  func link() async throws -> (device: SessionDevice, connection: Connection) {
    if shell.current?.connection == nil || expectsLoss { try await connect() }
    guard let (device, connection) = presentLink else { throw Failure.notConnected(shell.current) }
    guard connection.isOpen else { throw loss(of: device) }
    peer = "\(connection.peer)"
    device.values.limit = Self.valueLimit
    return (device, connection)
  }

  /// The current connection, open or lost. Nil before the first connection and after a disconnection.
  var presentLink: (device: SessionDevice, connection: Connection)? {
    guard let device = shell.current, let connection = device.connection else { return nil }
    return (device, connection)
  }

  private func connect() async throws {
    await dropLostLink()
    guard shell.current?.connection == nil else { return }
    guard let device else { throw Failure(.usage, ScriptLoader.noDevice) }
    let before = step
    do { try await twice { try await self.shell.run(["connect", device]) } } catch {
      try StepFailure.passOn(error)
      throw StepFailure(Failure(error), in: TestOutcome.Step(isConnection: true))
    }
    // Keep the record of the line, which did not ask for this connection.
    step = before
  }

  /// Runs `body`. If the setup fails and `retriesSetup` is true, runs `body` once more.
  /// - Parameter isConnect: Whether the command connects. Other commands retry only after adapter errors.
  func twice(isConnect: Bool = true, _ body: @LoopActor () async throws -> Void) async throws {
    let before = log.count
    do { return try await body() } catch {
      try StepFailure.passOn(error)
      let failure = Failure(error)
      // `retry` tries again anyway, and the test tried before its teardown.
      guard retriesSetup, retryDepth == 0,
        isConnect ? failure.isOfSetup : failure.kind == .adapter && log.count == before
      else { throw error }
      record.note("The setup failed, retrying once: \(failure.message)")
    }
    try await body()
  }

  private func loss(of device: SessionDevice) -> Failure {
    if let reason = device.problem ?? device.connection?.client.closed { return Failure(reason) }
    return Failure.notConnected(device)
  }

  /// Removes a lost connection from the session, so that the next line that needs a device connects again.
  func dropLostLink() async {
    expectsLoss = false
    guard let (device, connection) = presentLink, !connection.isOpen else { return }
    await shell.disconnect(device)
    shell.use(nil)
  }

  /// Throws an error if the test unexpectedly lost its connection. The error names the line that ran last.
  func checkLink() throws {
    guard !expectsLoss, let (device, connection) = presentLink, !connection.isOpen, let line = lastLine else { return }
    var failure = loss(of: device)
    failure.message = "After this line: \(failure.message)"
    throw StepFailure(failure).placed(at: line)
  }
}
