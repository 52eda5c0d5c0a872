package import BluetoothLEDeviceFiles

/// The links of a command, and what its session knows of the current device.
@LoopActor
package protocol CommandLinks: DeviceLinks {
  /// The device for commands that name no device. Nil without a session.
  var currentDevice: PeerSelector? { get }
  /// The description of the device's own protocol. Nil until a command loads it.
  var device: DeviceDescription? { get set }
  /// Returns whether the session itself shows this value in the background, so that a command need not show it.
  func showsInBackground(_ event: ValueEvent) -> Bool
  /// Whether commands pair if the device demands it, also without `--pair`.
  var pairs: Bool { get }
  /// The least security of links without `--level`. Nil for the default of the device.
  var level: SecurityLevel? { get }
  /// The identifier of the command in a session for programs. Nil elsewhere.
  var commandID: String? { get }
  /// Takes down a connection whose device restarts with other handles. A session can still keep the next one instead.
  func abandon(_ connection: Connection) async
  /// Keeps a connection for later commands, with the subscriptions of the one that was abandoned. Only a session does.
  func keep(_ connection: Connection) async throws
  /// Tells a session whether the command connects again by itself after a lost connection, which then does not end the session.
  func setReconnecting(_ isReconnecting: Bool)
}

/// The links of a command on the command line.
@LoopActor
package final class OneShotCommandLinks: CommandLinks {
  package let session: Session
  package let reporter: any LinkReporter
  package let clientObserver: Session.ClientObserver?
  package var device: DeviceDescription?

  package init(_ session: Session, _ reporter: any LinkReporter, _ clientObserver: Session.ClientObserver?) {
    (self.session, self.reporter, self.clientObserver) = (session, reporter, clientObserver)
  }
}

extension CommandLinks {
  package var currentDevice: PeerSelector? { nil }
  package func showsInBackground(_ event: ValueEvent) -> Bool { false }
  package var pairs: Bool { false }
  package var level: SecurityLevel? { nil }
  package var commandID: String? { nil }
  package func abandon(_ connection: Connection) async { await session.disconnect(connection) }
  package func keep(_ connection: Connection) async throws {}
  package func setReconnecting(_ isReconnecting: Bool) {}
}
