// SPDX-License-Identifier: Apache-2.0
/// The state of one link, as far as the controller's events show it.
package struct LinkState: Sendable, Equatable {
  /// The known parameters of the link. All are nil until an event reports them, if the host missed the start of the link.
  package private(set) var parameters = LinkParameters()
  /// The LE features of the peer. Nil until the peer reports them.
  package private(set) var remoteFeatures: LEFeatures?
  /// The controller's reason for the disconnection. Nil while the link is up.
  package private(set) var reason: ControllerErrorCode?

  package init() {}

  /// Creates the state of a new link, with its timing and a data length of 27 bytes.
  /// - Parameter complete: a Connection Complete event with status Success.
  package init(_ complete: Event.ConnectionComplete) {
    setTiming(complete.interval, complete.latency, complete.supervisionTimeout)
    // Every link starts with these until an event changes them (Vol 6 Part B §4.5.10).
    parameters.maxTxOctets = DataLength.range.lowerBound
    parameters.maxRxOctets = DataLength.range.lowerBound
  }

  /// Updates the state with an event. Ignores failed procedures.
  /// - Parameter event: an event whose `connectionHandle` is that of this link.
  package mutating func update(with event: BluetoothLE.Event) {
    switch event {
    case .leConnectionUpdateComplete(.success, _, let interval, let latency, let supervisionTimeout):
      setTiming(interval, latency, supervisionTimeout)
    case .leDataLengthChange(_, let maxTxOctets, _, let maxRxOctets, _):
      parameters.maxTxOctets = Int(maxTxOctets)
      parameters.maxRxOctets = Int(maxRxOctets)
    case .lePHYUpdateComplete(.success, _, let tx, _): parameters.phy = PHY(rawValue: tx)
    case .leReadRemoteFeaturesComplete(.success, _, let features): remoteFeatures = features
    case .disconnectionComplete(.success, _, let reason): self.reason = reason
    default: break
    }
  }

  /// Stores the PHY on which the local controller sends, which the controller reports only on request.
  package mutating func note(phy: PHY?) { parameters.phy = phy }
  package mutating func note(rssi: Int8?) { parameters.rssi = rssi }

  private mutating func setTiming(_ interval: ConnectionInterval, _ latency: UInt16, _ supervisionTimeout: Centiseconds) {
    parameters.interval = LinkParameters.interval(interval)
    parameters.latency = Int(latency)
    parameters.supervisionTimeout = supervisionTimeout.duration
  }
}

extension LinkParameters {
  /// Converts a connection interval to a duration. Returns nil outside 6–3200 units of 1.25 ms (Vol 4 Part E §7.7.65.1).
  package static func interval(_ interval: ConnectionInterval) -> Duration? { (6...3200).contains(interval) ? interval.duration : nil }
}

extension BluetoothLE.Event {
  /// The connection handle of an event. Nil for events without a link, and for LE Connection Complete, which creates a link.
  package var connectionHandle: ConnectionHandle? {
    switch self {
    case .leConnectionUpdateComplete(_, let handle, _, _, _), .leDataLengthChange(let handle, _, _, _, _),
      .lePHYUpdateComplete(_, let handle, _, _), .leReadRemoteFeaturesComplete(_, let handle, _), .disconnectionComplete(_, let handle, _):
      handle
    default: nil
    }
  }
}
