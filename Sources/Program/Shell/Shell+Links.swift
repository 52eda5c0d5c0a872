import CommandLine
import Traces

/// The connections that a session keeps, with their loss and restoration.
extension Shell {
  /// Keeps a connection for the session and watches for its loss.
  func adopt(_ connection: Connection, as device: SessionDevice) {
    device.attach(connection) { [weak self, weak device] reason in
      if let self, let device { lost(device, reason) }
    }
    changed()
  }

  /// Keeps an existing connection for the session and makes its device current.
  func adopt(_ connection: Connection, as selector: PeerSelector) -> SessionDevice {
    let device = add(selector)
    adopt(connection, as: device)
    current = device
    return device
  }

  /// Waits until the connection is lost, and neither the session nor a command restores it.
  /// - Throws: The reason for the loss; CancellationError.
  func untilLost(_ device: SessionDevice) async throws {
    while true {
      if let problem = device.problem, !device.isConnected, !device.mayComeBack, !device.isReconnecting { throw problem }
      try await untilChanged()
    }
  }

  /// Disconnects a device and waits until the output has all its values. A canceled task does not wait for the reader of the output.
  package func disconnect(_ device: SessionDevice) async {
    let background = await takeDown(device)
    await background?.untilShown()
  }

  private func takeDown(_ device: SessionDevice) async -> BackgroundValues? {
    let (connection, background) = (device.connection, device.link?.background)
    await background?.values.end()
    device.detach()
    if let connection {
      // Until the link is down, no other command can connect.
      let before = device.destination
      device.destination = (connection.peer, connection.name)
      await process.session.disconnect(connection)
      device.destination = before
    }
    changed()
    return background
  }

  /// Disconnects all devices, ends the served one, and waits until the output has all received values.
  package func end() async {
    let tasks = devices.map { device in EventLoop.shared.spawn { await self.takeDown(device) } }
    var backgrounds: [BackgroundValues] = []
    for task in tasks { if let background = await task.value { backgrounds.append(background) } }
    await peripheral.end()
    // Nothing else explains why the program keeps running.
    let note = EventLoop.shared.schedule(after: .seconds(2)) { [process] in
      process.output.note("Done. Values are waiting for a program to read standard output. Press Ctrl-C to discard them.")
    }
    defer { note.cancel() }
    for background in backgrounds { await background.untilShown() }
  }

  // MARK: Losses

  private func lost(_ device: SessionDevice, _ reason: any Error) {
    let reason = device.connection?.withDemand(reason) ?? reason
    // The command that needs missing data of a recording reports it.
    if !(reason is ReplayError) || output(of: device).style.json { tellLoss(of: device, reason) }
    if settings.reconnect { restore(device) }
    changed()
  }

  private func tellLoss(of device: SessionDevice, _ reason: any Error) {
    let failure = Failure(reason)
    let report: () -> Void = { [weak self, weak device] in
      guard let self, let device else { return }
      tell(device, "disconnected", failure.message) { json in json.object("error") { failure.write(&$0) } }
    }
    if output(of: device).style.json || device.queue.isEmpty { report() } else { device.reportSoon(report) }
  }

  /// Starts to restore all lost connections after `set reconnect on`. Stops the restorations after `set reconnect off`.
  func reconnectIsSet() {
    for device in devices {
      if !settings.reconnect { device.giveUp() } else if device.problem != nil, !device.isBeingRestored { restore(device) }
    }
    changed()
  }

  private func restore(_ device: SessionDevice) {
    guard let connection = device.connection else { return }
    device.restore { [weak self, weak device] in
      guard let self, let device else { return }
      do {
        // Wait: a command may be connecting, or a canceled restoration may still be ending.
        while device.destination != nil { try await untilChanged() }
        try await connection.untilRestored()
        var told: Failure?
        let restoration = try await process.session.restore(connection) { [weak self, weak device] event in
          guard case .trying(let number, let pause, let error?) = event, let self, let device else { return }
          let failure = Failure(error)
          let text = "\(failure.message.asSentence) Attempt \(number) in \(pause.secondsText) s"
          // People need each reason once.
          if !output(of: device).style.json, told?.kind == failure.kind, told?.code == failure.code {
            return process.output.status("\(connection.title): \(text)")
          }
          told = failure
          tell(device, "reconnecting", text) { json in
            json.integer("tries", number - 1)
            json.number("seconds", pause.inSeconds)
            json.object("error") { failure.write(&$0) }
          }
        }
        // The link may have been taken down just when it was restored.
        guard device.connection === connection else { return }
        device.endRestoration(nil)
        adopt(connection, as: device)
        tell(restoration, device)
      } catch {
        // The task that canceled this one may have started another.
        guard !Task.isCancelled else { return }
        let reason = connection.explained(error, process.commands.program)
        device.endRestoration(reason)
        if case RestorationError.gaveUp = error { tellLoss(of: device, reason) }
        changed()
      }
    }
  }

  /// Restores a lost connection in a single attempt.
  /// - Throws: The reason why the attempt failed; CancellationError.
  func restore(_ connection: Connection, of device: SessionDevice) async throws {
    var policy = ReconnectPolicy.times(1)
    policy.firstPause = .zero
    let restoration: Restoration
    do { restoration = try await process.session.restore(connection, policy) } catch {
      throw connection.explained(error, process.commands.program)
    }
    adopt(connection, as: device)
    tell(restoration, device)
  }

  func tell(_ restoration: Restoration, _ device: SessionDevice) {
    let missing = restoration.missing.map {
      "\($0.characteristic.uuid): \($0.reason.map { Failure($0).message } ?? "no longer exists")"
    }
    let restored = "\(restoration.subscriptions.counted("subscription")) restored"
    let lost = missing.isEmpty ? "" : ". Not restored: \(missing.joined(separator: ", "))"
    tell(device, "reconnected", "Reconnected after \(restoration.time.secondsText) s, \(restored)\(lost)") { json in
      json.number("seconds", restoration.time.inSeconds)
      json.integer("tries", restoration.tries)
      json.integer("subscriptions", restoration.subscriptions)
      json.strings("missing", restoration.missing.map(\.characteristic.uuid.description))
    }
  }

  /// Reports an event that no command caused, such as a lost connection. Never waits. Prints text if the output has no room for a record.
  private func tell(_ device: SessionDevice, _ event: String, _ text: String, _ members: (inout RecordWriter) -> Void) {
    let output = output(of: device)
    let isTold =
      output.style.json
      ? try? output.offerRecord(reserve: Output.reserve) {
        $0.string("event", event)
        $0.time("time", EventLoop.shared.wallClock)
        $0.members(device.connection?.identity ?? .none)
        members(&$0)
      } : false
    if isTold == false { output.note("\(device.title): \(text)") }
  }
}
