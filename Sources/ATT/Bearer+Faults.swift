extension Bearer {
  /// PDUs that were ignored, by reason; none of them ended anything.
  package struct Faults: Equatable, Sendable {
    package var empty = 0
    package var malformed = 0
    package var stray = 0
    package var unknownCommands = 0
    /// Lost by the transport below: a full socket buffer.
    package var lost = 0
    /// Requests and indications that got no answer: the peer did not take the many answers before.
    package var unanswered = 0

    package var total: Int { empty + malformed + stray + unknownCommands + lost + unanswered }

    mutating func count(_ fault: BearerState.Fault) {
      switch fault {
      case .empty: empty &+= 1
      case .malformed: malformed &+= 1
      case .stray: stray &+= 1
      case .unknownCommand: unknownCommands &+= 1
      case .lost(let count): lost &+= max(0, count)
      }
    }
  }
}
