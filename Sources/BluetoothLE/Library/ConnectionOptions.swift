/// What a connection demands and asks for.
public struct ConnectionOptions: Sendable {
  /// The limit of the connection attempt.
  public var timeout = TimeLimits.connection
  /// The limit of each request.
  public var transactionTimeout = TimeLimits.transaction
  /// The number of further attempts if the link fails to be established.
  public var retries = 1
  /// The ATT_MTU to ask for, 23…517 bytes. Nil asks for the largest. ``ConnectedDevice/mtu`` is what the device granted.
  public var mtu: Int?
  /// The connection interval to ask for, 7.5 ms…4 s. Nil asks for none.
  public var interval: Duration?
  /// The PHY to ask for. Nil asks for none.
  public var phy: PHY?
  /// The payload of a link-layer packet to ask for, 27…251 bytes. Nil asks for none.
  public var dataLength: Int?
  /// The least security of the link, without which it carries no request.
  public var security = SecurityLevel.unencrypted
  /// Whoever answers the questions of a pairing. With it, the link pairs when the device demands it. Nil never pairs unasked.
  public var pairing: (any PairingDelegate)?
  /// What happens after the link is lost.
  public var reconnect = ReconnectPolicy.never

  public init() {}

  var parameters: LinkParameterRequest {
    var parameters = LinkParameterRequest(mtu: mtu, phy: phy, interval: interval)
    parameters.dataLength = dataLength
    return parameters
  }
}

/// The policy for restoring a lost link: number of attempts, and pauses between them.
///
/// A restored link has the same MTU, subscriptions and security. Requests that were open when the link was lost still fail, because
/// nobody knows whether the device acted on them. Later ones wait for the new link.
public struct ReconnectPolicy: Sendable, Hashable {
  /// The number of attempts. Nil means no limit.
  public var attempts: Int?
  /// The pause before the first attempt. It doubles with each attempt.
  public var firstPause = Duration.milliseconds(500)
  /// The longest pause.
  public var longestPause = Duration.seconds(30)

  public init(attempts: Int?) { self.attempts = attempts }

  /// No attempt: a lost link ends the connection.
  public static let never = ReconnectPolicy(attempts: 0)
  /// Attempts without a limit.
  public static let forever = ReconnectPolicy(attempts: nil)
  /// Up to `count` attempts.
  public static func times(_ count: Int) -> ReconnectPolicy { ReconnectPolicy(attempts: count) }

  var policy: RetryPolicy {
    var policy = RetryPolicy()
    policy.attempts = attempts.map { max(0, $0) }
    (policy.firstPause, policy.longestPause) = (max(.milliseconds(1), firstPause), max(.milliseconds(1), longestPause))
    return policy
  }
}
