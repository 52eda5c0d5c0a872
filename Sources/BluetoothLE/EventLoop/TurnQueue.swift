// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// A queue that gives one task at a time its turn, in the order of arrival.
@LoopActor
package final class TurnQueue {
  /// The place of one task in a turn queue. The task must call `leave` on every path.
  @LoopActor
  package final class Place {
    fileprivate var turn = Wait<Void>()
    fileprivate unowned var queue: TurnQueue

    fileprivate init(_ queue: TurnQueue) { self.queue = queue }

    /// Waits until all earlier places have left the queue.
    /// - Parameter deadline: The time limit of the wait. Nil means no limit.
    /// - Returns: False if the deadline passed first.
    /// - Throws: CancellationError.
    package func untilTurn(until deadline: LoopClock.Instant?) async throws -> Bool {
      try Task.checkCancellation()
      return try await turn.value(until: deadline) != nil
    }

    /// Waits until all earlier places have left the queue.
    /// - Throws: CancellationError.
    package func untilTurn() async throws {
      try Task.checkCancellation()
      try await turn.value()
    }

    /// Whether all earlier places have left the queue.
    package var hasTurn: Bool { turn.isSettled }

    /// Leaves the queue. If this place was the first, the next place gets its turn. Idempotent.
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

  /// Moves all places to the end of another queue, in order. A place that has the turn must wait for its turn again.
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
