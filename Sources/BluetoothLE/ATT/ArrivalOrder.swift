// SPDX-License-Identifier: Apache-2.0
/// A queue that delivers channel events in order of arrival to the tasks that wait for responses and values.
/// Without the queue, these independent tasks could show a value before an earlier response.
struct ArrivalOrder {
  /// The task that acts on an event.
  private enum Taker: Equatable {
    case requester
    case listener(AttributeHandle)
    case everybody
  }

  /// The maximum number of waiting events. If more wait, the bearer delivers all of them in order, but in one turn of the event loop.
  static let limit = 512

  /// The task that acts on an event in this turn of the event loop. Nil if no task does.
  private var busy: Taker?
  private var held: [ChannelEvent] = []

  /// Returns whether to deliver `event` now. Otherwise, stores the event until `take`, which runs after this turn of the event loop.
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

  /// Whether the bearer must call `take` after the jobs of this turn of the event loop.
  var isWaiting: Bool { busy != nil }
  var isFull: Bool { held.count >= Self.limit }

  /// Ends the turn of the event loop, after all tasks have run.
  /// - Returns: the stored events, in order. Deliver them like newly arrived events.
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
    switch bytes.first.map(ATTOpcode.init(rawValue:)) {
    case .response?, .error?: return isAsking ? .requester : nil
    case .unsolicited(.multipleNotification)?: return .listener(0)
    case .unsolicited?: return bytes.count > 2 ? .listener(AttributeHandle(rawValue: UInt16(bytes[1]) | UInt16(bytes[2]) << 8)) : nil
    default: return nil
    }
  }
}
