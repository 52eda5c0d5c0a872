import Operations

/// The device that a command connects to, and the options for the connection.
struct Target: Sendable {
  let peer: PeerArgument
  var takesFirst = false
  var demandsOne = false
  /// The number of retries if a connection fails or the device closes it before it answers, 0…100; nil: the default.
  var retries: Int?
  /// Whether to wait until the device appears.
  var waits = false
  var requested = LinkParameterRequest()

  init(peer: PeerArgument, takesFirst: Bool, demandsOne: Bool, link: LinkOptions) {
    self.peer = peer
    self.takesFirst = takesFirst
    self.demandsOne = demandsOne
    retries = link.retries
    waits = link.wait
    requested = link.requested
  }
}
