import EventLoop

/// Who comes first goes first, one at a time.
@LoopActor
final class TurnQueue {
  /// A place in the queue. It has to be left on every path.
  @LoopActor
  final class Place {
    fileprivate let turn = Wait<Void>()
    private unowned let queue: TurnQueue

    fileprivate init(_ queue: TurnQueue) { self.queue = queue }

    /// Returns when all before have left. - Throws: CancellationError.
    func untilTurn() async throws { try await turn.value() }

    /// Idempotent.
    func leave() { queue.remove(self) }
  }

  private var places: [Place] = []

  var isEmpty: Bool { places.isEmpty }

  func enter() -> Place {
    let place = Place(self)
    places.append(place)
    places.first?.turn.resume(returning: ())
    return place
  }

  private func remove(_ place: Place) {
    places.removeAll { $0 === place }
    places.first?.turn.resume(returning: ())
  }
}
