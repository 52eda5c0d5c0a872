/// The device that a command connects to, and the options for the connection.
struct Target: Sendable {
  let peer: PeerArgument
  var takesFirst = false
  var demandsOne = false
  /// The ATT_MTU to offer, 23…517; nil: the largest. An existing link keeps its own.
  var mtu: Int?
  /// The number of retries if a connection fails or the device closes it before it answers, 0…100; nil: the default.
  var retries: Int?
  /// Whether to wait until the device appears.
  var waits = false
  var requested = RequestedParameters()

  init(peer: PeerArgument, takesFirst: Bool, demandsOne: Bool, link: LinkOptions) {
    self.peer = peer
    self.takesFirst = takesFirst
    self.demandsOne = demandsOne
    mtu = link.mtu
    retries = link.retries
    waits = link.wait
    requested = link.requested
  }
}
