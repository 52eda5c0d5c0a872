/// Keeps the order of what arrives in one piece until somebody has acted on it. A task that waits for an answer and one that takes values run later
/// than the packets are read, each in its own time: without this, a value can be shown before the answer that came first.
struct ArrivalOrder {
  /// The task that acts on an event.
  private enum Taker: Equatable {
    case requester
    case listener(AttributeHandle)
    case everybody
  }

  /// How many events wait at most: a peer that sends more than it is read in between gets them delivered in order, but not one by one.
  static let limit = 512

  /// The task that acts on an event in this turn of the loop; nil when there is none.
  private var busy: Taker?
  private var held: [ChannelEvent] = []

  /// Whether `event` is to be delivered now. If not, it is kept: deliver what `take` returns when the jobs of this turn are done.
  /// - Parameters:
  ///   - isAsking: a request is outstanding.
  ///   - isShared: values have several takers.
  mutating func passes(_ event: ChannelEvent, isAsking: Bool, isShared: Bool) -> Bool {
    guard held.isEmpty else {
      held.append(event)
      return false
    }
    guard busy != nil || isAsking || isShared, let taker = Self.taker(of: event, isAsking) else { return true }
    guard let busy, busy != taker else {
      self.busy = taker
      return true
    }
    held.append(event)
    return false
  }

  /// Whether `take` has to be called when the jobs of this turn are done.
  var isWaiting: Bool { busy != nil }
  var isFull: Bool { held.count >= Self.limit }

  /// Everybody has acted. - Returns: what was kept, to be delivered as if it arrived now.
  mutating func take() -> [ChannelEvent] {
    busy = nil
    defer { held = [] }
    return held
  }

  private static func taker(of event: ChannelEvent, _ isAsking: Bool) -> Taker? {
    guard case .received(let bytes) = event else {
      if case .closed = event { return .everybody }
      return nil
    }
    switch bytes.first.map(Opcode.init(rawValue:)) {
    case .response?, .error?: return isAsking ? .requester : nil
    case .unsolicited(.multipleNotification)?: return .listener(0)
    case .unsolicited?: return bytes.count > 2 ? .listener(AttributeHandle(rawValue: UInt16(bytes[1]) | UInt16(bytes[2]) << 8)) : nil
    default: return nil
    }
  }
}
