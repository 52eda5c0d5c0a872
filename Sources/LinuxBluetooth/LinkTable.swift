import Bluetooth
import GAP
import HCI

/// What the controller's events have told about each link since the raw socket was opened.
struct LinkTable: Equatable {
  struct Entry: Equatable {
    var parameters = LinkParameters()
    /// Counts up over all connections: says whether a link is younger than an attempt.
    var number = 0
    /// Set when it is down.
    var reason: ControllerErrorCode?
  }

  private(set) var entries: [ConnectionHandle: Entry] = [:]
  /// The number of the latest connection.
  private(set) var latest = 0
  /// Status of the latest connection attempt that failed.
  private(set) var failure: ControllerErrorCode?

  mutating func attemptStarts() { failure = nil }

  mutating func handle(_ event: HCI.Event) {
    switch event {
    case .leConnectionComplete(let complete):
      guard complete.status == .success else {
        failure = complete.status
        return
      }
      latest += 1
      var entry = Entry(number: latest)
      entry.parameters.setTiming(
        interval: complete.interval, latency: complete.latency, supervisionTimeout: complete.supervisionTimeout)
      // Until an event says otherwise (Vol 6 Part B §4.5.10).
      entry.parameters.maxTxOctets = 27
      entry.parameters.maxRxOctets = 27
      entries[complete.handle] = entry
    case .leConnectionUpdateComplete(.success, let handle, let interval, let latency, let supervisionTimeout):
      entries[handle, default: Entry()].parameters
        .setTiming(interval: interval, latency: latency, supervisionTimeout: supervisionTimeout)
    case .leDataLengthChange(let handle, let maxTxOctets, _, let maxRxOctets, _):
      entries[handle, default: Entry()].parameters.maxTxOctets = Int(maxTxOctets)
      entries[handle, default: Entry()].parameters.maxRxOctets = Int(maxRxOctets)
    case .lePHYUpdateComplete(.success, let handle, let tx, _):
      entries[handle, default: Entry()].parameters.phy = PHY(rawValue: tx)
    case .disconnectionComplete(.success, let handle, let reason):
      entries[handle, default: Entry()].reason = reason
    default: break
    }
  }
}

extension LinkParameters {
  /// In the units of HCI: 1.25 ms, connection events, 10 ms.
  mutating func setTiming(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    self.interval = Self.interval(interval)
    self.latency = Int(latency)
    self.supervisionTimeout = .milliseconds(10 * Int(supervisionTimeout))
  }
}
