import DequeModule

/// Who comes first goes first, one at a time.
@LoopActor
package final class TurnQueue {
  /// A place in the queue. It has to be left on every path.
  @LoopActor
  package final class Place {
    fileprivate var turn = Wait<Void>()
    fileprivate unowned var queue: TurnQueue

    fileprivate init(_ queue: TurnQueue) { self.queue = queue }

    /// Waits until all before have left.
    /// - Parameter deadline: nil is no limit.
    /// - Returns: false when that was not before `deadline`.
    /// - Throws: CancellationError.
    package func untilTurn(until deadline: LoopClock.Instant?) async throws -> Bool {
      try Task.checkCancellation()
      return try await turn.value(until: deadline) != nil
    }

    /// Waits until all before have left. - Throws: CancellationError.
    package func untilTurn() async throws {
      try Task.checkCancellation()
      try await turn.value()
    }

    /// All before have left.
    package var hasTurn: Bool { turn.isSettled }

    /// The next one's turn comes when this was the first. Idempotent.
    package func leave() { queue.remove(self) }
  }

  private var places: Deque<Place> = []

  package init() {}

  package var isEmpty: Bool { places.isEmpty }

  package func enter() -> Place {
    let place = Place(self)
    places.append(place)
    places.first?.turn.resume(returning: ())
    return place
  }

  /// All who are here go to the end of another queue, in their order; whoever has the turn here has to wait for it there.
  package func join(_ other: TurnQueue) {
    guard other !== self else { return }
    for place in places {
      place.queue = other
      if place.turn.isSettled { place.turn = Wait() }
    }
    other.places += places
    places = []
    other.places.first?.turn.resume(returning: ())
  }

  private func remove(_ place: Place) {
    if places.first === place { places.removeFirst() } else { places.removeAll { $0 === place } }
    places.first?.turn.resume(returning: ())
  }
}
