import Bluetooth
import CommandLine
import EventLoop
import Finding
import GATT
import Operations
import Presentation
import Replay
import Terminal
import Text

/// Links that stay open, their loss and their restoration.
extension Shell {
  /// Keeps a link and watches for its loss.
  func adopt(_ connection: Connection, as lane: Lane) {
    lane.attach(connection) { [weak self, weak lane] reason in
      if let self, let lane { lost(lane, reason) }
    }
    changed()
  }

  /// Keeps an existing link and makes its device current.
  func adopt(_ connection: Connection, as selector: PeerSelector) -> Lane {
    let lane = add(selector)
    adopt(connection, as: lane)
    current = lane
    return lane
  }

  /// Waits until the link is lost for good.
  /// - Throws: The reason for the loss; CancellationError.
  func untilLost(_ lane: Lane) async throws {
    while true {
      if let problem = lane.problem, !lane.isConnected, !settings.reconnect { throw problem }
      try await untilChanged()
    }
  }

  /// Disconnects, and waits until the output has all received values. A canceled task does not wait for the reader of the output.
  package func disconnect(_ lane: Lane) async {
    let background = await takeDown(lane)
    await background?.untilShown()
  }

  private func takeDown(_ lane: Lane) async -> BackgroundValues? {
    let (connection, background) = (lane.connection, lane.background)
    await background?.end()
    lane.detach()
    if let connection {
      // Until the link is down, no other command can connect.
      let before = lane.destination
      lane.destination = (connection.peer, connection.name)
      await process.session.disconnect(connection)
      lane.destination = before
    }
    changed()
    return background
  }

  /// Disconnects all devices, and waits until the output has all received values.
  package func end() async {
    let tasks = lanes.map { lane in EventLoop.shared.spawn { await self.takeDown(lane) } }
    var backgrounds: [BackgroundValues] = []
    for task in tasks { if let background = await task.value { backgrounds.append(background) } }
    // Nothing else explains why the program keeps running.
    let note = EventLoop.shared.schedule(after: .seconds(2)) { [process] in
      process.output.note("Done. Values are waiting for a program to read standard output. Press Ctrl-C to discard them.")
    }
    defer { note.cancel() }
    for background in backgrounds { await background.untilShown() }
  }

  // MARK: Losses

  private func lost(_ lane: Lane, _ reason: any Error) {
    // The command that needs missing data of a recording reports it.
    if !(reason is ReplayError) || output(of: lane).style.json {
      tell(lane, "disconnected", Failure(reason).message) { json in
        json.object("error") { Failure(reason).write(&$0) }
      }
    }
    if settings.reconnect { restore(lane) }
    changed()
  }

  /// Restores all lost links after `set reconnect on`, or stops doing so after `off`.
  func reconnectIsSet() {
    for lane in lanes {
      if !settings.reconnect { lane.giveUp() } else if lane.problem != nil, lane.restoration == nil { restore(lane) }
    }
    changed()
  }

  private func restore(_ lane: Lane) {
    guard let connection = lane.connection else { return }
    lane.restoration = EventLoop.shared.spawn { [weak self, weak lane] in
      guard let self, let lane else { return }
      do {
        // Wait: a command may be connecting, or a canceled restoration may still be ending.
        while lane.destination != nil { try await untilChanged() }
        try await connection.untilRestored()
        let restoration = try await process.session.restore(connection) { [weak self] event in
          if case .trying(let number, let pause, let error?) = event, let self {
            process.output.status("\(connection.title): \(Failure(error).message.asSentence) Attempt \(number) in \(pause.secondsText) s")
          }
        }
        // The link may have been taken down just when it was restored.
        guard lane.connection === connection else { return }
        lane.restoration = nil
        adopt(connection, as: lane)
        tell(restoration, lane)
      } catch {
        // The task that canceled this one may have started another.
        guard !Task.isCancelled else { return }
        lane.fail(error)
        lane.restoration = nil
        changed()
      }
    }
  }

  /// Restores a lost link with one attempt.
  /// - Throws: The reason why there is no link; CancellationError.
  func restore(_ connection: Connection, of lane: Lane) async throws {
    var policy = RetryPolicy.times(1)
    policy.firstPause = .zero
    let restoration = try await process.session.restore(connection, policy)
    adopt(connection, as: lane)
    tell(restoration, lane)
  }

  private func tell(_ restoration: Restoration, _ lane: Lane) {
    let missing = restoration.missing.map {
      "\($0.characteristic.uuid): \($0.reason.map { Failure($0).message } ?? "no longer exists")"
    }
    let restored = "\(restoration.subscriptions) subscription(s) restored"
    let lost = missing.isEmpty ? "" : ". Not restored: \(missing.joined(separator: ", "))"
    tell(lane, "reconnected", "Reconnected after \(restoration.time.secondsText) s, \(restored)\(lost)") { json in
      json.number("seconds", restoration.time.inSeconds)
      json.integer("tries", restoration.tries)
      json.integer("subscriptions", restoration.subscriptions)
      json.strings("missing", restoration.missing.map(\.characteristic.uuid.description))
    }
  }

  /// Reports an event that no command caused. Never waits. Without room for a record, prints the text.
  private func tell(_ lane: Lane, _ event: String, _ text: String, _ members: (inout RecordWriter) -> Void) {
    let output = output(of: lane)
    let isTold =
      output.style.json
      ? try? output.offerRecord(reserve: Output.reserve) {
        $0.string("event", event)
        $0.time("time", EventLoop.shared.wallClock)
        lane.connection?.identify(in: &$0)
        members(&$0)
      } : false
    if isTold == false { output.note("\(lane.title): \(text)") }
  }
}
