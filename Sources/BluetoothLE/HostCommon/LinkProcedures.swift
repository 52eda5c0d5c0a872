// SPDX-License-Identifier: Apache-2.0
/// The interface to a controller through which `LinkProcedures` sends commands.
@LoopActor
package protocol LinkController: AnyObject {
  /// The name of the controller in messages to the user.
  var name: String { get }

  /// Returns whether the controller supports a command. Returns true if the support is unknown, so that the host tries the command.
  func supports<C: Command>(_ command: C.Type) async throws -> Bool

  /// Sends a command and waits for the controller's answer.
  /// - Throws: the error that prevented an answer, or the controller's status if it is not Success.
  @discardableResult
  func perform<C: Command>(_ command: C) async throws -> C.Return
}

/// The link layer procedures for one link (Vol 6 Part B §5.1), and the link's state from the controller's events.
/// The host must pass on the events of the link, and report when the link is down.
@LoopActor
package final class LinkProcedures {
  package let peer: PeerAddress
  package let handle: ConnectionHandle
  package private(set) var state: LinkState
  /// The policy for a peripheral's requests to change the connection parameters.
  package private(set) var policy = ParameterRequestPolicy()
  /// The event that fires with the status of LE Read Remote Features Complete.
  package let remoteFeaturesRead = PendingEvent<ControllerErrorCode>()

  /// The handler of the link's known parameters, which runs after each change until the link is down.
  package var onParameters: (@LoopActor (LinkParameters) -> Void)?

  /// The reason why the link is down. Nil while it is up.
  package private(set) var ended: (any Error)?

  private unowned let controller: any LinkController
  private let intervalUpdated = PendingEvent<ControllerErrorCode>()
  private let phyUpdated = PendingEvent<ControllerErrorCode>()
  private let dataLengthChanged = PendingEvent<Void>()

  package init(_ peer: PeerAddress, handle: ConnectionHandle, _ state: LinkState, _ controller: any LinkController) {
    (self.peer, self.handle, self.state, self.controller) = (peer, handle, state, controller)
  }

  // MARK: From the host

  /// Updates the state with an event, and ends the procedure that waits for the event. Ignores events of other links.
  package func receive(_ event: Event) {
    guard event.connectionHandle == handle else { return }
    let before = state.parameters
    state.update(with: event)
    if state.parameters != before { onParameters?(state.parameters) }
    switch event {
    case .leConnectionUpdateComplete(let status, _, _, _, _): intervalUpdated.fire(status)
    case .leReadRemoteFeaturesComplete(let status, _, _): remoteFeaturesRead.fire(status)
    case .lePHYUpdateComplete(let status, _, _, _): phyUpdated.fire(status)
    case .leDataLengthChange: dataLengthChanged.fire(())
    default: break
    }
  }

  /// Ends all waiting procedures with the error that explains why the link is down.
  package func end(_ error: any Error) {
    guard ended == nil else { return }
    ended = error
    onParameters = nil
    for event in [remoteFeaturesRead, intervalUpdated, phyUpdated] { event.fail(error) }
    dataLengthChanged.fail(error)
  }

  // MARK: Procedures

  /// Reads the parameters of the link, including the RSSI. Parameters that the controller does not report are nil.
  /// - Throws: the error with which the link went down, CancellationError.
  package func parameters() async throws -> LinkParameters {
    if let rssi = try await attempt(ReadRSSI(handle: handle))?.rssi, rssi != 127 { state.note(rssi: rssi) }
    try await learnPHY()
    return state.parameters
  }

  private func learnPHY() async throws {
    guard state.parameters.phy == nil else { return }
    // A controller without the command has only one PHY.
    guard try await controller.supports(LEReadPHY.self) else { return state.note(phy: .le1M) }
    if let phys = try await attempt(LEReadPHY(handle: handle)) { state.note(phy: PHY(rawValue: phys.tx)) }
  }

  /// Performs a command and returns the controller's answer. Returns nil if the controller refuses the command or does not answer.
  private func attempt<C: Command>(_ command: C) async throws -> C.Return? {
    if let ended { throw ended }
    do {
      return try await controller.perform(command)
    } catch {
      if error is CancellationError { throw error }
      if let ended { throw ended }
      return nil
    }
  }

  /// Performs the Connection Update Procedure (Vol 6 Part B §5.1.1).
  /// - Parameters:
  ///   - interval: the requested connection interval, 7.5 ms to 4 s.
  ///   - ask: asks the central for the parameters, and returns a wait for whether it accepts. Nil requests them from the controller.
  /// - Throws: GAPError, the error with which the controller refused the command or the link went down, CancellationError.
  /// - Returns: the requested parameters, which the link now uses.
  @discardableResult
  package func requestInterval(
    _ interval: Duration, asking ask: (@LoopActor (ConnectionParameters) -> Wait<Bool>)? = nil
  ) async throws -> ConnectionParameters {
    let wanted = try ConnectionParameters(interval: interval)
    if let ended { throw ended }
    let change = intervalUpdated.next()
    let procedure = LinkProcedure.connectionInterval(interval)
    if let ask {
      guard let isAccepted = try await ask(wanted).value(until: limit()) else { throw GAPError.noAnswer(peer, procedure) }
      guard isAccepted else { throw GAPError.notAgreed(peer, procedure, .unacceptableParameters) }
      // Nothing would change, and no event would follow.
      if state.parameters.interval == wanted.intervalMax.duration { return wanted }
    } else {
      try await controller.perform(LEConnectionUpdate(handle: handle, wanted))
    }
    try await agreed(change, procedure)
    policy.pinnedInterval = wanted.intervalMax
    return wanted
  }

  /// Performs the PHY Update Procedure (Vol 6 Part B §5.1.10) for the transmitter and the receiver of this link.
  /// - Throws: the errors of `requestInterval`.
  package func requestPHY(_ phy: PHY) async throws {
    if let ended { throw ended }
    guard try await controller.supports(LESetPHY.self) else { throw GAPError.unsupported(adapter: controller.name, .phy(phy)) }
    let change = phyUpdated.next()
    try await controller.perform(LESetPHY(handle: handle, tx: PHYMask(phy), rx: PHYMask(phy)))
    try await agreed(change, .phy(phy))
  }

  /// Performs the Data Length Update Procedure (Vol 6 Part B §5.1.9).
  /// - Parameter bytes: the requested payload, 27 to 251 bytes. A smaller payload in effect is not an error.
  /// - Throws: the errors of `requestInterval`.
  package func requestDataLength(_ bytes: Int) async throws {
    // Check this before sending a command.
    _ = try DataLength(bytes: bytes, on: nil)
    if let ended { throw ended }
    guard try await controller.supports(LESetDataLength.self) else {
      throw GAPError.unsupported(adapter: controller.name, .dataLength(bytes))
    }
    try await learnPHY()
    let wanted = try DataLength(bytes: bytes, on: state.parameters.phy)
    // Nothing would change, and no event would follow.
    if state.parameters.maxTxOctets == bytes || !(state.remoteFeatures?.contains(.dataLengthExtension) ?? true) { return }
    let change = dataLengthChanged.next()
    try await controller.perform(LESetDataLength(handle: handle, txOctets: wanted.txOctets, txTime: wanted.txTime))
    // The event follows only a change.
    _ = try await change.value(until: limit(atMost: .seconds(2)))
  }

  private func agreed(_ change: Wait<ControllerErrorCode>, _ procedure: LinkProcedure) async throws {
    guard let status = try await change.value(until: limit()) else { throw GAPError.noAnswer(peer, procedure) }
    guard status == .success else { throw GAPError.notAgreed(peer, procedure, status) }
  }

  /// The longest time limit of a link layer procedure. 5 s plus 10 connection intervals of 4 s are as long.
  package nonisolated static let longestLimit = Duration.seconds(45)

  /// Returns the deadline of a link layer procedure: 5 s plus 10 connection intervals from now, but at most `atMost` from now.
  private func limit(atMost: Duration = longestLimit) -> LoopClock.Instant {
    EventLoop.shared.now.advanced(by: min(atMost, .seconds(5) + (state.parameters.interval ?? .zero) * 10))
  }
}
