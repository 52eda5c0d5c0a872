import EventLoop
import GATT
import Operations
import Terminal

/// The one link of a script.
extension ScriptRunner {
  /// The link that there is, made when there is none.
  /// - Throws: StepFailure.
  func link(_ line: ScriptLine) async throws -> (lane: Lane, connection: Connection) {
    if shell.current?.connection == nil || expectsLoss { try await connect(line) }
    guard let (lane, connection) = presentLink else { throw StepFailure(Failure.notConnected(shell.current), line) }
    guard connection.isOpen else { throw StepFailure(loss(of: lane), line) }
    peer = "\(connection.peer)"
    lane.recentLimit = Self.valueLimit
    return (lane, connection)
  }

  /// Open or not.
  var presentLink: (lane: Lane, connection: Connection)? {
    guard let lane = shell.current, let connection = lane.connection else { return nil }
    return (lane, connection)
  }

  private func connect(_ line: ScriptLine) async throws {
    await dropLostLink()
    guard shell.current?.connection == nil else { return }
    guard let device else {
      throw StepFailure(Failure(.usage, "no device: the script says `device PEER`, or --peer names one"), line)
    }
    let before = step
    do { try await twice { try await self.shell.run(["connect", device]) } } catch {
      try Self.passOn(error)
      throw StepFailure.setup(Failure(error), line)
    }
    // It was not asked for.
    step = before
  }

  /// Tries once more what comes before the first request to the device: a radio that was busy, a device that was still starting.
  /// - Parameter isConnect: else only the adapter counts; that a device was not heard is what the command has found out.
  func twice(isConnect: Bool = true, _ body: @LoopActor () async throws -> Void) async throws {
    let before = log.count
    do { return try await body() } catch {
      try Self.passOn(error)
      let failure = Failure(error)
      // Within `retry` it is tried again anyway; in a teardown it was tried before.
      guard !keepsGoing, retryDepth == 0, setupFailure == nil,
        isConnect ? failure.isOfSetup : failure.kind == .adapter && log.count == before
      else { throw error }
      note("the setup failed and is tried once more: \(failure.message)")
    }
    try await body()
  }

  /// What ends the run and not only a test.
  static func passOn(_ error: any Error) throws {
    if error is CancellationError || error is OutputFailure || Failure(error) == .cancelled { throw error }
  }

  private func loss(of lane: Lane) -> Failure {
    if let reason = lane.problem ?? lane.connection?.client.closed { return Failure(reason) }
    return Failure.notConnected(lane)
  }

  /// A link that is lost leaves nothing behind; the next is made when it is needed.
  func dropLostLink() async {
    expectsLoss = false
    guard let (lane, connection) = presentLink, !connection.isOpen else { return }
    await shell.disconnect(lane)
    shell.use(nil)
  }

  /// A test that loses the link fails, also when nothing was asked of it any more.
  func checkLink() throws {
    guard !expectsLoss, let (lane, connection) = presentLink, !connection.isOpen, let line = lastLine else { return }
    var failure = loss(of: lane)
    failure.message = "\(failure.message), after this line"
    throw StepFailure(failure, line)
  }
}
