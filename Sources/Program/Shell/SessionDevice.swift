package import BluetoothLE
import BluetoothLEDeviceFiles
package import Presentation

/// A device of a session, with its connection, its received values and the commands that wait for it.
@LoopActor
package final class SessionDevice {
  /// The selector that the user typed for the device.
  package var selector: PeerSelector
  let queue = TurnQueue()
  package let values = ReceivedValues()
  /// The open or lost connection to the device. Nil before the first connection and after a disconnection.
  private(set) var link: SessionLink?
  /// The reason for the last failed or lost connection. Nil while the device is connected.
  package private(set) var problem: (any Error)?
  /// The device address of the latest connection, which may be lost. Nil before the first connection.
  package var lastPeer: PeerAddress?
  /// The description of the device. Nil until `call` has loaded it.
  var description: DeviceDescription?
  /// The device that the running command is connecting to, or that it has connected to only for itself. Nil at other times.
  package var destination: (peer: PeerAddress, name: UntrustedText?)?
  /// The device that was the session's current device before this device started to connect. Nil if there was none.
  weak var before: SessionDevice?
  /// Whether the connection failed, so that the former current device is the current device again.
  var hasFailed = false
  /// The other `SessionDevice` of the same physical device that this instance joined. Nil if this instance joined none.
  private var successor: SessionDevice?
  /// Further selectors that the user typed for the device, from each `SessionDevice` that joined this instance.
  private var otherSelectors: [PeerSelector] = []

  init(_ selector: PeerSelector) { self.selector = selector }

  package var connection: Connection? { link?.connection }

  /// The name or address of the device, for messages. Without a connection, the selector that the user typed.
  var title: String { connection?.title ?? selector.description }

  var isConnected: Bool { connection?.isOpen ?? false }

  package func isMeant(by selector: PeerSelector) -> Bool {
    if connection?.isNamesake(selector) ?? false { return false }
    return self.selector.isSame(as: selector) || otherSelectors.contains(selector) || connection?.isMeant(by: selector) ?? false
      || isDestination(selector)
  }

  private func isDestination(_ selector: PeerSelector) -> Bool { destination.map { selector.means($0.peer, named: $0.name) } ?? false }

  /// Returns whether this instance is connected or connecting to the device that the selector names. A scan then cannot find the device.
  func holds(_ selector: PeerSelector) -> Bool {
    if let connection, connection.isOpen || connection.isBeingRestored, connection.isMeant(by: selector) { return true }
    return isDestination(selector)
  }

  /// The address of the device. Nil if blectl does not know the address yet.
  var peer: PeerAddress? {
    if let peer = connection?.peer ?? destination?.peer ?? lastPeer { return peer }
    if case .address(let address, let type?) = selector { return PeerAddress(address, type) }
    return nil
  }

  func isOf(_ peer: PeerAddress) -> Bool { destination?.peer == peer || connection?.peer == peer }

  /// The `SessionDevice` that this instance joined, directly or through further ones. This instance if it joined none.
  package var present: SessionDevice { successor?.present ?? self }

  /// Joins another `SessionDevice` of the same physical device. The commands in `queue` then wait in the queue of `other`.
  func join(_ other: SessionDevice) {
    queue.join(other.queue)
    other.otherSelectors += otherSelectors + [selector]
    detach()
    successor = other
  }

  // MARK: Link

  /// Takes over a connection and watches for its loss. Keeps the background subscriptions.
  /// - Parameter whenLost: A function that receives the reason when the connection is lost. `detach` prevents the call.
  func attach(_ connection: Connection, whenLost: @escaping @LoopActor (any Error) -> Void) {
    if connection !== self.connection {
      let background = link?.background
      detach()
      values.startLink()
      link = SessionLink(connection)
      link?.background = background
    }
    link?.stopWatching()
    lastPeer = connection.peer
    problem = nil
    let client = connection.client
    var link = link ?? SessionLink(connection)
    link.observer = client.observeValues(onExhaustion: { [weak values] in values?.wake() }) { [weak values, weak client] event in
      values?.add((event, client?.table?.attribute(at: event.handle).uuid))
    }
    link.loss = EventLoop.shared.spawn { [weak self] in
      guard let reason = try? await client.untilClosed(), !Task.isCancelled else { return }
      self?.problem = reason
      whenLost(reason)
    }
    self.link = link
  }

  /// Reports the loss of the connection. Nil if it is reported, or if the connection is not lost.
  private var loss: (() -> Void)?

  /// Reports a loss as soon as the commands that it interrupts have had time to fail, unless one of them reports it.
  func reportSoon(_ loss: @escaping () -> Void) {
    self.loss = loss
    EventLoop.shared.schedule(after: .milliseconds(50)) { [weak self] in self?.reportLoss() }
  }

  /// Reports the loss now if it is not reported. With `byCommand`, the error of a command is the report.
  func reportLoss(byCommand: Bool = false) {
    if !byCommand { loss?() }
    loss = nil
  }

  func detach() {
    reportLoss()
    link?.stopWatching()
    giveUp()
    link = nil
  }

  /// Starts a task that runs `body` to restore the connection. `body` must call `endRestoration` at its end.
  func restore(_ body: @escaping @LoopActor () async -> Void) { link?.restoration = EventLoop.shared.spawn(body) }

  /// Ends the restoration of the connection. `error` is the reason why it failed, or nil after a success.
  func endRestoration(_ error: (any Error)?) {
    if let error { problem = error }
    link?.restoration = nil
  }

  /// Cancels the restoration of a lost connection.
  func giveUp() {
    link?.restoration?.cancel()
    link?.restoration = nil
  }

  var isBeingRestored: Bool { link?.restoration != nil }

  /// Whether a command restores the connection.
  var isReconnecting = false
  /// Whether the connection is open, or may return because the session restores it.
  var mayComeBack: Bool { problem == nil || isBeingRestored }

  func fail(_ error: any Error) { problem = error }

  /// Returns the background subscriptions of the device. Creates them with `make` at the first call.
  func backgroundValues(_ make: () -> BackgroundValues) -> BackgroundValues {
    if let background = link?.background { return background }
    let values = make()
    link?.background = values
    return values
  }

  /// Removes and returns the first value since the last command that satisfies `fits`.
  /// - Parameter isNeeded: Whether to throw if no value can arrive because a recording has ended.
  /// - Returns: Nil at `deadline`.
  /// - Throws: The reason for a lost connection; the reason why no value can arrive, if `isNeeded` is true; CancellationError.
  package func value(
    until deadline: LoopClock.Instant, isNeeded: Bool, where fits: (ValueEvent) -> Bool
  ) async throws -> ReceivedValues.Value? {
    var position = 0
    while true {
      if let value = values.take(after: &position, where: { fits($0.event) }) { return value }
      guard let client = connection?.client else { throw CancellationError() }
      if let reason = client.closed ?? (isNeeded ? client.exhausted : nil) { throw reason }
      let hasNext = try await race({ try await self.values.untilNext(until: deadline) }, { throw try await client.untilClosed() })
      if !hasNext { return nil }
    }
  }
}

/// A connection that a session keeps to a device, with the tasks that watch and restore it.
@LoopActor
struct SessionLink {
  let connection: Connection
  var background: BackgroundValues?
  var observer: ValueObserver?
  /// The task that waits for the loss of the connection. Nil before `attach` starts the task.
  var loss: Task<Void, Never>?
  /// The task that restores the lost connection. Nil while no task restores it.
  var restoration: Task<Void, Never>?

  init(_ connection: Connection) { self.connection = connection }

  func stopWatching() {
    observer?.cancel()
    loss?.cancel()
  }
}

extension Failure {
  /// Returns the failure of a command without a PEER if the current device is not connected.
  @LoopActor package static func notConnected(_ device: SessionDevice?) -> Failure {
    guard let device, let problem = device.problem else {
      return Failure(
        .notFound, "No device is connected. Connect one: `connect PEER`. Or name it in the line, as in `read name:Band-7 2a19`")
    }
    var failure = Failure(problem)
    if failure.message.hasPrefix("Not connected: ") { return failure }
    // A device that never connected is not the current one, so name it.
    let again = device.lastPeer == nil ? "connect \(ShellWords.quote("\(device.selector)"))" : "connect"
    failure.message = "Not connected: \(failure.message.asSentence) To try again: \(DisplayText.escape(again))"
    return failure
  }

  /// The failure of `connect` without a PEER if the session has no current device.
  static var nothingToConnect: Failure {
    Failure(
      .notFound,
      "There is no current device. Name one, as in `connect Band-7` or `connect @last`. List devices: `scan`, `peers`")
  }
}
