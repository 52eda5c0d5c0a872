package import BluetoothLE

/// The values that a device sent since the start of the last command. Commands such as `wait` remove the values that they accept.
@LoopActor
package final class ReceivedValues {
  package typealias Value = (event: ValueEvent, uuid: UUID?)

  /// The values that no command has removed yet, the latest last.
  package private(set) var recent: [Value] = []
  /// The number of values that `add` always keeps. `add` may drop older values.
  package var limit = 1024
  /// The name of the last command on the current connection, except `wait`. Nil before the first command.
  private(set) var lastCommand: String?
  /// The number of values per attribute that arrived before the last command. `wait` ignores these values and reports their number once.
  private var earlier: [AttributeHandle: Int] = [:]
  /// The total number of values that `add` has dropped.
  private var dropped = 0
  /// The number of values that `add` has dropped since the last command, until a command reports the number.
  private var unreported = 0
  private var arrival: Wait<Void>?

  package init() {}

  func add(_ event: ValueEvent, _ uuid: UUID?) {
    // Drop values in batches, because each removal moves all others.
    if recent.count >= limit + 256 {
      recent.removeFirst(256)
      dropped += 256
      unreported += 256
    }
    recent.append((event, uuid))
    wake()
  }

  /// Resumes the commands that wait for a value, because a value has arrived or no value can arrive.
  func wake() {
    arrival?.resume(returning: ())
    arrival = nil
  }

  /// Forgets the last command of the previous connection, and the values that it received earlier.
  func startLink() { (earlier, lastCommand) = ([:], nil) }

  /// Discards the values that arrived before a command, because they cannot answer the command. `command` is nil for `connect`.
  package func forget(for command: String? = nil) {
    lastCommand = command
    for value in recent { earlier[value.event.handle, default: 0] += 1 }
    recent.removeAll(keepingCapacity: true)
    unreported = 0
  }

  /// Returns the number of values of an attribute that arrived before the last command. Nil if there were none, or in a second call.
  func takeEarlier(_ handle: AttributeHandle) -> Int? { earlier.removeValue(forKey: handle) }

  /// Returns the number of values that `add` dropped since the last command. Nil if there were none, or in a second call.
  package func takeDropped() -> Int? {
    defer { unreported = 0 }
    return unreported > 0 ? unreported : nil
  }

  /// Removes and returns the first value that satisfies `fits`. Nil if no value does.
  /// - Parameter position: The number of values that earlier calls have checked, which this call skips. 0 for the first call.
  func take(after position: inout Int, where fits: (ValueEvent) -> Bool) -> Value? {
    let start = min(max(0, position - dropped), recent.count)
    guard let index = recent[start...].firstIndex(where: { fits($0.event) }) else {
      position = dropped + recent.count
      return nil
    }
    return recent.remove(at: index)
  }

  /// Waits for the next value. Returns false if no value arrives before the deadline.
  func untilNext(until deadline: LoopClock.Instant) async throws -> Bool {
    let wait = arrival ?? Wait<Void>()
    arrival = wait
    return try await wait.value(until: deadline) != nil
  }
}
