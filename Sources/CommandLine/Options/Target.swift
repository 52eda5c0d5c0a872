package import Operations

/// The device that a command connects to, and the options for the connection.
package struct Target: Sendable {
  package let peer: PeerArgument
  package var takesFirst = false
  package var demandsOne = false
  /// The number of retries if a connection fails or the device closes it before it answers, 0…100. Nil for the default.
  package var retries: Int?
  /// Whether to wait until the device appears.
  package var waits = false
  package var requested = LinkParameterRequest()

  package init(peer: PeerArgument, takesFirst: Bool, demandsOne: Bool, link: LinkOptions) {
    self.peer = peer
    self.takesFirst = takesFirst
    self.demandsOne = demandsOne
    retries = link.retries
    waits = link.wait
    requested = link.requested
  }
}
