import ATT
package import Bluetooth
package import EventLoop
package import GATT

/// The values that a device sent since the start of the last command. `wait` and the expectations of scripts take them.
@LoopActor
package final class ReceivedValues {
  package typealias Value = (event: ValueEvent, uuid: UUID?)

  /// The values that no command has taken yet, the latest last.
  package private(set) var recent: [Value] = []
  /// The number of values to keep.
  package var limit = 1024
  /// The last command on the current link, except `wait`.
  private(set) var lastCommand: String?
  /// The number of values per attribute that preceded the last command. `wait` ignores them and reports their number once.
  private var earlier: [AttributeHandle: Int] = [:]
  /// The number of dropped values.
  private var dropped = 0
  /// The number of dropped values since the last command that no command has reported yet.
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

  /// Resumes the waiting commands, because no more values may arrive.
  func wake() {
    arrival?.resume(returning: ())
    arrival = nil
  }

  /// Forgets what it knows about the commands of another link.
  func startLink() { (earlier, lastCommand) = ([:], nil) }

  /// Forgets the earlier values when a command starts. They cannot be its answers.
  package func forget(for command: String? = nil) {
    lastCommand = command
    for value in recent { earlier[value.event.handle, default: 0] += 1 }
    recent.removeAll(keepingCapacity: true)
    unreported = 0
  }

  /// Returns the number of values of an attribute before the last command. Nil if there were none, or after the first call.
  func takeEarlier(_ handle: AttributeHandle) -> Int? { earlier.removeValue(forKey: handle) }

  /// Returns the number of dropped values since the last command. Nil if there were none, or after the first call.
  package func takeDropped() -> Int? {
    defer { unreported = 0 }
    return unreported > 0 ? unreported : nil
  }

  /// Removes and returns the first value that satisfies `fits`.
  /// - Parameter position: The number of values to skip, because an earlier call checked them. 0 for the first call.
  func take(after position: inout Int, where fits: (ValueEvent) -> Bool) -> Value? {
    let start = min(max(0, position - dropped), recent.count)
    guard let index = recent[start...].firstIndex(where: { fits($0.event) }) else {
      position = dropped + recent.count
      return nil
    }
    return recent.remove(at: index)
  }

  /// Waits for the next value. Returns false at the deadline.
  func untilNext(until deadline: LoopClock.Instant) async throws -> Bool {
    let wait = arrival ?? Wait<Void>()
    arrival = wait
    return try await wait.value(until: deadline) != nil
  }
}
