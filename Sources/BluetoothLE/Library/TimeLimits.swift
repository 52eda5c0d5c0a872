// SPDX-License-Identifier: Apache-2.0
/// All time limits of the library. Each wait ends at its limit with an error, and a cancellation of the task ends it sooner.
///
/// | wait | limit | error |
/// | --- | --- | --- |
/// | ``stream``: a stream to a controller opens | 10 s | ``BluetoothError/Reason/timeout`` |
/// | ``command``: a controller answers a command (Vol 4 Part E §4.4) | 4 s, in the kernel's stack 3 s | ``BluetoothError/Reason/adapter`` |
/// | ``search``: a device advertises | 11 s | ``BluetoothError/Reason/notFound`` |
/// | ``connection``: a device accepts a connection | 20 s | ``BluetoothError/Reason/timeout`` |
/// | ``parameters``: a device agrees to link parameters | 5 s and 10 connection intervals | ``BluetoothError/Reason/timeout`` |
/// | ``transaction``: a device answers a request (Vol 3 Part F §3.3.3) | 30 s | ``BluetoothError/Reason/timeout`` |
/// | ``pairing``: a device continues a pairing (Vol 3 Part H §3.4) | 30 s | ``BluetoothError/Reason/pairing`` |
/// | ``report``: a device reports the end of a transfer | 30 s | ``BluetoothError/Reason/verification`` |
/// | ``unsubscribing``: a device confirms the end of subscriptions | 1 s | none |
/// | ``disconnection``: a controller confirms the end of a link | 3 s | none: the link counts as ended |
///
/// The sequences of advertisements and notifications wait for the next element without a limit. A person who answers a question
/// of a pairing has no limit, but the device gives up after about 30 s. Cancel the task to end such a wait.
///
/// The limits of ``Adapter/find(_:within:)`` and ``ConnectionOptions`` are parameters. The others are fixed.
public enum TimeLimits {
  /// The limit for opening a stream to a controller.
  public static let stream = Duration.seconds(10)
  /// The limit for a controller's answer to a command. Slow serial adapters need more than the second of Vol 4 Part E §4.5.
  public static let command = Duration.nanoseconds(CommandQueue.timeout)
  /// The default limit of ``Adapter/find(_:within:)``. It exceeds the longest advertising interval, 10.24 s (Vol 6 Part B §4.4.2.2).
  public static let search = PeerSearch.usualLimit
  /// The default limit of a connection attempt, with its retries: ``ConnectionOptions/timeout``.
  public static let connection = Session.Limits().connecting
  /// The default limit of an ATT transaction: ``ConnectionOptions/transactionTimeout``.
  public static let transaction = Session.Limits().transaction
  /// The longest wait for a device's answer to a request for link parameters. It is shorter at connection intervals below 4 s.
  public static let parameters = LinkProcedures.longestLimit
  /// The longest silence of a device in a pairing.
  public static let pairing = PairingFailure.longestSilence
  /// The limit for the report with which a device confirms a transfer.
  public static let report = Duration.seconds(30)
  /// The limit for ending the subscriptions of a sequence, and all of them before a disconnection.
  public static let unsubscribing = Session.Limits.unsubscribing
  /// The limit for a disconnection.
  public static let disconnection = HostLink.disconnectionLimit
}
