// SPDX-License-Identifier: Apache-2.0
/// The peripheral role of blectl's LE host, over any HCI transport. It shares the controller with `HostCentral`.
@LoopActor
final class HostPeripheral: PeripheralRole {
  /// The time after which the host advertises again if the controller had no place for another central.
  static let pause = Duration.seconds(2)
  /// The time limit of `end` for each of its steps.
  private static let endLimit = Duration.seconds(2)

  var onCentral: (@LoopActor (any CentralLink) -> Void)?
  var onFailure: (@LoopActor (any Error) -> Void)?

  private let host: Host
  /// The commands of the present advertising, also while the controller has stopped it. Nil if the host does not advertise.
  private var commands: AdvertisingCommands?
  /// Whether the controller advertises.
  private var isOn = false
  /// Whether the controller has not answered an enabling command of `resume` yet.
  private var isResuming = false
  /// The number of times that the controller stopped advertising because of a connection or on its own.
  private var stops = 0
  /// The number of running calls of `end`.
  private var endings = 0
  private let changes = TurnQueue()
  /// The timer of `resumeLater`. Nil unless it runs.
  private var timer: LoopTimer?

  init(_ host: Host) {
    self.host = host
    host.onFreePlace = { [weak self] in self?.resume() }
  }

  let hasSecurityManager = true
  var advertisedAddress: PeerAddress? { host.isStarted ? host.adapterInfo.ownAddress : nil }

  /// The commands that stop the present advertising. Empty if the host does not advertise.
  var stopCommands: [CommandPacket] { [commands?.disable, commands?.remove].compactMap(\.self) }

  // MARK: Advertising

  func advertise(_ advertising: Advertising?) async throws {
    try host.check()
    let next = if let advertising { try await commands(for: advertising) } else { nil as AdvertisingCommands? }
    let place = changes.enter()
    defer {
      place.leave()
      // A central may have connected in the meantime. A full controller has refused just now.
      if timer == nil { resume() }
    }
    try await place.untilTurn()
    await shielded { await self.stop() }
    try host.check()
    guard let next else { return }
    do {
      try await start(next)
    } catch {
      await shielded { await self.stop() }
      throw error
    }
  }

  private func commands(for advertising: Advertising) async throws -> AdvertisingCommands {
    var limit = AdvertisingCommands.legacyLimit
    if advertising.isExtended, host.supports(LEReadMaximumAdvertisingDataLength.self) {
      limit = Int(try await host.perform(LEReadMaximumAdvertisingDataLength()).length)
    }
    return try AdvertisingCommands(advertising, adapter: host.name, host.adapterInfo, limit: limit)
  }

  private func start(_ next: AdvertisingCommands) async throws {
    (commands, isOn) = (next, false)
    var isConfigured = false
    do {
      for command in next.configure {
        try await host.controller.perform(command)
        // `end` did not wait any longer.
        if commands == nil { throw CancellationError() }
      }
      isConfigured = true
      let before = stops
      try await host.controller.perform(next.enable) { self.isOn = self.stops == before }
    } catch let error as ControllerError where isConfigured && hasCentrals && Self.isFull(error.status) {
      resumeLater()
    } catch let error as ControllerError where error.status == .commandDisallowed {
      throw HostError.cannotAdvertise(adapter: host.name, isExtended: next.isExtended)
    }
  }

  /// Whether the controller may advertise after another central has left.
  private static func isFull(_ status: ControllerErrorCode?) -> Bool {
    status.map { [.memoryCapacityExceeded, .connectionLimitExceeded, .commandDisallowed, .rejectedForResources].contains($0) } ?? false
  }

  private func stop() async {
    cancelTimer()
    for command in stopCommands { _ = await host.controller.cleanUp(command) }
    (commands, isOn) = (nil, false)
  }

  /// Advertises again after a connection, at which the controller has stopped. A full controller refuses that.
  private func resume() {
    guard let commands, !isOn, !isResuming, endings == 0, changes.isEmpty, (try? host.check()) != nil else { return }
    cancelTimer()
    isResuming = true
    let before = stops
    host.controller.submit(commands.enable) { [weak self] isDone in
      guard let self else { return }
      isResuming = false
      isOn = isDone && stops == before
      if !isDone { resumeLater() } else if !isOn { resume() }
    }
  }

  /// Advertises again after a pause, unless the end of a link gives an earlier reason.
  private func resumeLater() {
    cancelTimer()
    timer = EventLoop.shared.schedule(after: Self.pause) { [weak self] in
      self?.timer = nil
      self?.resume()
    }
  }

  private func cancelTimer() {
    timer?.cancel()
    timer = nil
  }

  func end() async { await shielded { await self.endAll() } }

  private func endAll() async {
    endings += 1
    defer { endings -= 1 }
    let place = changes.enter()
    defer { place.leave() }
    let disconnections = centrals.map { link in EventLoop.shared.spawn { await link.disconnect(within: Self.endLimit) } }
    _ = try? await place.untilTurn(until: EventLoop.shared.now.advanced(by: Self.endLimit))
    await stop()
    for task in disconnections { await task.value }
  }

  // MARK: Centrals

  private var centrals: [HostLink] { host.openLinks.filter { $0.role == .peripheral } }
  private var hasCentrals: Bool { !centrals.isEmpty }

  /// Takes the link of a central. Returns false if the host must disconnect it.
  func connected(_ complete: Event.ConnectionComplete) -> Bool {
    // Without advertising, the controller made up this link.
    guard commands != nil else { return false }
    stops += 1
    isOn = false
    // Later, because this link must have its place first.
    defer { resume() }
    guard let onCentral, endings == 0 else { return false }
    let link = HostLink(complete, peer: complete.peer, host: host)
    host.add(link)
    host.requestLongPackets(link)
    onCentral(link)
    return true
  }

  /// Advertises again if the controller ended the advertising set on its own. A connection has its own event.
  func terminated(_ set: UInt8, _ status: ControllerErrorCode) {
    guard commands != nil, set == AdvertisingCommands.set, status != .success else { return }
    stops += 1
    isOn = false
    resumeLater()
  }
}
