/// Whom a command connects to, and how.
struct Target: Sendable {
  let peer: PeerArgument
  var takesFirst = false
  var demandsOne = false
  /// ATT_MTU to offer, 23…517 octets; nil: the largest. A link that is there keeps its own.
  var mtu: Int?
  /// How often a connection is tried again that fails, or that the device closes before it answers, 0…100; nil: as usual.
  var retries: Int?
  /// Until it turns up.
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
