/// Delivers events in order of arrival. The tasks that wait for an answer and for values run later than the packets arrive,
/// and independently. Without this order, a value can appear before an earlier answer.
struct ArrivalOrder {
  /// The task that acts on an event.
  private enum Taker: Equatable {
    case requester
    case listener(AttributeHandle)
    case everybody
  }

  /// The maximum number of waiting events. Beyond it, the bearer delivers them in order, but not one by one.
  static let limit = 512

  /// The task that handles an event in this turn of the loop. Nil if there is none.
  private var busy: Taker?
  private var held: [ChannelEvent] = []

  /// Returns whether to deliver `event` now. Otherwise, stores it. Deliver the result of `take` after the jobs of this turn.
  /// - Parameters:
  ///   - isAsking: whether a request is outstanding.
  ///   - isShared: whether values have several listeners.
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

  /// Whether the bearer must call `take` after the jobs of this turn.
  var isWaiting: Bool { busy != nil }
  var isFull: Bool { held.count >= Self.limit }

  /// Ends the turn, after all tasks have run.
  /// - Returns: the stored events. Deliver them as if they arrived now.
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
