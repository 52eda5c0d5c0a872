import Bluetooth
import GAP
import HCI
import HostCommon

/// The state of each link according to the controller's events since the raw socket was opened.
struct LinkTable: Equatable {
  struct Entry: Equatable {
    var state = LinkState()
    /// The number of the connection, from 1, counted over all links, or 0 for a link older than the socket.
    /// The number shows whether a link is newer than an attempt.
    var number = 0
  }

  private(set) var entries: [ConnectionHandle: Entry] = [:]
  /// The number of the latest connection. 0 before the first.
  private(set) var latest = 0
  /// The status of each peer's latest failed attempt. Several attempts may run at the same time, because the kernel looks for all peers.
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
