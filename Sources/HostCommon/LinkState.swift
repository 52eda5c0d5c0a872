package import Bluetooth
package import GAP
package import HCI

/// What a controller's events have told about one link.
package struct LinkState: Sendable, Equatable {
  /// All unknown for a link whose beginning was not seen.
  package private(set) var parameters = LinkParameters()
  /// Of the peer; nil until it has said.
  package private(set) var remoteFeatures: LEFeatures?
  /// Set when the link is down.
  package private(set) var reason: ControllerErrorCode?

  package init() {}

  /// - Parameter complete: with status Success.
  package init(_ complete: Event.ConnectionComplete) {
    setTiming(complete.interval, complete.latency, complete.supervisionTimeout)
    // What every link begins with, until an event says otherwise (Vol 6 Part B §4.5.10).
    parameters.maxTxOctets = DataLength.range.lowerBound
    parameters.maxRxOctets = DataLength.range.lowerBound
  }

  /// Takes what an event says about the link.
  /// - Parameter event: of this link; see `Event.connectionHandle`. Procedures that failed change nothing.
  package mutating func update(with event: HCI.Event) {
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

  /// What no event tells, but the controller when it is asked.
  package mutating func note(phy: PHY?) { parameters.phy = phy }
  package mutating func note(rssi: Int8?) { parameters.rssi = rssi }

  private mutating func setTiming(_ interval: ConnectionInterval, _ latency: UInt16, _ supervisionTimeout: Centiseconds) {
    parameters.interval = LinkParameters.interval(interval)
    parameters.latency = Int(latency)
    parameters.supervisionTimeout = supervisionTimeout.duration
  }
}

extension LinkParameters {
  /// Returns a connection interval as a duration, or nil outside 6–3200 (Vol 4 Part E §7.7.65.1).
  package static func interval(_ interval: ConnectionInterval) -> Duration? { (6...3200).contains(interval) ? interval.duration : nil }
}

extension HCI.Event {
  /// The link that an event tells about; nil for events of another kind, and for LE Connection Complete, which makes one.
  package var connectionHandle: ConnectionHandle? {
    switch self {
    case .leConnectionUpdateComplete(_, let handle, _, _, _), .leDataLengthChange(let handle, _, _, _, _),
      .lePHYUpdateComplete(_, let handle, _, _), .leReadRemoteFeaturesComplete(_, let handle, _), .disconnectionComplete(_, let handle, _):
      handle
    default: nil
    }
  }
}
