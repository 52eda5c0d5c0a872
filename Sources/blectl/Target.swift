import EventLoop
import Operations

/// Whom a command connects to, and how.
struct Target: Sendable {
  let peer: PeerArgument
  var takesFirst = false
  var demandsOne = false
  /// Nil: the largest.
  var mtu: Int?
  var retries: Int?
  /// Until it turns up.
  var waits = false
  var wishes = LinkWishes()

  init(peer: PeerArgument, takesFirst: Bool, demandsOne: Bool, link: LinkOptions) {
    self.peer = peer
    self.takesFirst = takesFirst
    self.demandsOne = demandsOne
    mtu = link.mtu
    retries = link.retries
    waits = link.wait
    wishes = link.wishes
  }
}
