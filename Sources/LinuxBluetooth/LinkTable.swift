import Bluetooth
import GAP
import HCI
import HostCommon

/// What the controller's events have told about each link since the raw socket was opened.
struct LinkTable: Equatable {
  struct Entry: Equatable {
    var state = LinkState()
    /// Counts up over all connections: says whether a link is younger than an attempt.
    var number = 0
  }

  private(set) var entries: [ConnectionHandle: Entry] = [:]
  /// The number of the latest connection.
  private(set) var latest = 0
  /// Status of the latest attempt to connect to each peer that failed. Several may be made at once: the kernel looks for all of the peers.
  private var failures: [Address: ControllerErrorCode] = [:]

  mutating func attemptStarts(_ peer: PeerAddress) { failures[peer.address] = nil }

  func failure(_ peer: PeerAddress) -> ControllerErrorCode? { failures[peer.address] }

  mutating func handle(_ event: HCI.Event) {
    if case .leConnectionComplete(let complete) = event {
      guard complete.status == .success else {
        failures[complete.peer.address] = complete.status
        return
      }
      latest += 1
      entries[complete.handle] = Entry(state: LinkState(complete), number: latest)
    } else if let handle = event.connectionHandle {
      entries[handle, default: Entry()].state.update(with: event)
    }
  }
}
