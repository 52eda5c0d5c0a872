// SPDX-License-Identifier: Apache-2.0
/// The demands and requests of a connection.
///
/// The device or the controller may refuse the MTU, the interval, the PHY and the data length, or grant less. That is no error:
/// ``ConnectedDevice/mtu`` and ``ConnectedDevice/parameters()`` tell what was granted. An interval or a data length out of range is an
/// error, ``BluetoothError/Reason/invalidArgument``.
public struct ConnectionOptions: Sendable {
  /// The limit of the connection attempt, with its retries.
  public var timeout = TimeLimits.connection
  /// The limit of each request to the device (Vol 3 Part F §3.3.3). The link ends when it passes.
  public var transactionTimeout = TimeLimits.transaction
  /// The number of further attempts after a failed one, or after a link that ends before the device answers. Less than 0 counts as 0.
  public var retries = 1
  /// The ATT_MTU to ask for, 23…517 bytes (Vol 3 Part F §3.4.2). Other values count as the nearest of these. Nil asks for 517.
  public var mtu: Int?
  /// The connection interval to ask for, 7.5 ms…4 s (Vol 6 Part B §4.5.1). Nil asks for none.
  public var interval: Duration?
  /// The PHY to ask for in both directions. Nil asks for none.
  public var phy: PHY?
  /// The payload of link-layer packets to ask for, 27…251 bytes (Vol 6 Part B §4.5.10). Nil asks for none.
  public var dataLength: Int?
  /// The least security of the link. The link is encrypted with the key of a bond, or pairs with ``pairing``, before its first request.
  /// Otherwise, the connection fails with ``BluetoothError/Reason/security``.
  public var security = SecurityLevel.unencrypted
  /// The answers to the questions of a pairing. With a delegate, the link pairs when the device demands it. Nil pairs only in
  /// ``ConnectedDevice/pair(_:level:)``.
  public var pairing: (any PairingDelegate)?
  /// The policy for a lost link.
  ///
  /// A restored link has the same subscriptions and at least the same security, and asks for the same MTU. It does not ask again for the
  /// interval, the PHY and the data length. Requests that were open when the link was lost still fail, because it is unknown whether the
  /// device acted on them. Later ones wait for the new link.
  public var reconnect = ReconnectPolicy.never

  /// Creates options that demand nothing, ask for the largest MTU and never reconnect.
  public init() {}

  /// Checks the parameters that no device may grant. Another refusal is no error.
  /// - Throws: GAPError.
  func checkRanges() throws(GAPError) {
    if let interval, !ConnectionParameters.intervals.contains(interval) { throw .intervalOutOfRange(interval) }
    if let dataLength, !DataLength.range.contains(dataLength) { throw .dataLengthOutOfRange(dataLength) }
  }

  /// Returns the request for links to a device, which pair at most once.
  /// - Throws: GAPError.
  @LoopActor package func request(for peripheral: Peripheral) throws -> LinkRequest {
    try checkRanges()
    var request = LinkRequest(.address(peripheral.peer.address, peripheral.peer.type))
    (request.limits.connecting, request.limits.transaction, request.limits.retries) = (timeout, transactionTimeout, max(0, retries))
    request.parameters = LinkParameterRequest(mtu: mtu, phy: phy, interval: interval)
    request.parameters.dataLength = dataLength
    let pairings = PairingAttempts()
    request.security = { peer, _ in
      var wish = pairing.map { PairingWish($0, with: peer, level: security, isOfCommand: false) }
      wish?.attempts = pairings
      return (wish, security)
    }
    request.looksUpName = true
    return request
  }
}
