package import BluetoothLE

/// The latest events of a source. Commands and expectations remove those that they accept.
@LoopActor
package class RecentEvents<Event> {
  /// The events that no command has removed yet, the latest last.
  package private(set) var recent: [Event] = []
  /// The number of events that `add` always keeps. `add` may drop older events.
  package var limit = 1024
  /// The total number of events that `add` has dropped.
  private var dropped = 0
  /// The number of events that `add` has dropped since the last command, until a command reports the number.
  private var unreported = 0
  private var arrival: Wait<Void>?

  package init() {}

  func add(_ event: Event) {
    // Drop events in batches, because each removal moves all others.
    if recent.count >= limit + 256 {
      recent.removeFirst(256)
      dropped += 256
      unreported += 256
    }
    recent.append(event)
    wake()
  }

  /// Resumes the commands that wait for an event, because one has arrived or none can arrive.
  func wake() {
    arrival?.resume(returning: ())
    arrival = nil
  }

  /// Discards all events, because they cannot answer the next command.
  package func removeAll() {
    recent.removeAll(keepingCapacity: true)
    unreported = 0
  }

  /// Returns the number of events that `add` dropped since the last command. Nil if there were none, or in a second call.
  package func takeDropped() -> Int? {
    defer { unreported = 0 }
    return unreported > 0 ? unreported : nil
  }

  /// Removes and returns the first event that satisfies `fits`. Nil if no event does.
  /// - Parameter position: The number of events that earlier calls have checked, which this call skips. 0 for the first call.
  func take(after position: inout Int, where fits: (Event) -> Bool) -> Event? {
    let start = min(max(0, position - dropped), recent.count)
    guard let index = recent[start...].firstIndex(where: fits) else {
      position = dropped + recent.count
      return nil
    }
    return recent.remove(at: index)
  }

  /// Waits for the next event. Returns false if no event arrives before the deadline.
  func untilNext(until deadline: LoopClock.Instant) async throws -> Bool {
    let wait = arrival ?? Wait<Void>()
    arrival = wait
    return try await wait.value(until: deadline) != nil
  }
}
