/// All time limits of the library. Each wait ends at its limit with an error, and a cancellation of the task ends it sooner.
///
/// | wait | limit | error |
/// | --- | --- | --- |
/// | ``stream``: a stream to a controller opens | 10 s | ``BluetoothError/Reason/timeout`` |
/// | ``command``: a controller answers a command | 2 s, a reset 5 s | ``BluetoothError/Reason/adapter`` |
/// | ``search``: a device advertises | 11 s | ``BluetoothError/Reason/notFound`` |
/// | ``connection``: a device accepts a connection | 20 s | ``BluetoothError/Reason/timeout`` |
/// | ``transaction``: a device answers a request (Vol 3 Part F §3.3.3) | 30 s | ``BluetoothError/Reason/timeout`` |
/// | ``pairing``: a device continues a pairing (Vol 3 Part H §3.4) | 30 s | ``BluetoothError/Reason/pairing`` |
/// | ``report``: a device reports the end of a transfer | 30 s | ``BluetoothError/Reason/verification`` |
/// | ``unsubscribing``: a device confirms the end of subscriptions | 1 s | none: the link ends |
///
/// A person who answers a question of a pairing has no limit here: cancel the task.
public enum TimeLimits {
  /// The limit for opening a stream to a controller.
  public static let stream = Duration.seconds(10)
  /// The limit for a controller's answer to a command.
  public static let command = Duration.seconds(2)
  /// The limit of a search for a device. It exceeds the longest advertising interval, 10.24 s (Vol 6 Part B §4.4.2.2).
  public static let search = PeerSearch.usualLimit
  /// The limit of a connection attempt.
  public static let connection = Session.Limits().connecting
  /// The limit of an ATT transaction.
  public static let transaction = Session.Limits().transaction
  /// The longest silence of a device in a pairing.
  public static let pairing = PairingFailure.longestSilence
  /// The limit for the report with which a device confirms a transfer.
  public static let report = Duration.seconds(30)
  /// The limit for ending all subscriptions before a disconnection.
  public static let unsubscribing = Duration.seconds(1)
}
