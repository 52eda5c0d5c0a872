import EventLoop
import Terminal

/// Records that come by themselves, in their order. What a slow reader has no room for is kept, up to a limit, while the link goes on.
@LoopActor
final class RecordFeed {
  private let output: Output
  /// Whether more are wanted.
  private let onShown: @LoopActor () -> Bool
  private var isOver = false
  private var kept: [[UInt8]] = []
  private var dropped = 0
  private var arrival = Wait<Void>()

  /// Records that may wait here, above those that wait in the output.
  private static let limit = 16_384

  init(_ output: Output, onShown: @escaping @LoopActor () -> Bool) {
    self.output = output
    self.onShown = onShown
  }

  /// - Throws: OutputFailure.
  func add(_ record: [UInt8]) throws {
    if isOver { return }
    if kept.isEmpty, try output.offer(record) {
      isOver = !onShown()
      return
    }
    if kept.count < Self.limit { kept.append(record) } else { dropped += 1 }
    arrival.resume(returning: ())
  }

  /// Shows what was kept as soon as there is room; until it is cancelled.
  /// - Throws: OutputFailure; CancellationError.
  func run() async throws {
    while true {
      try await arrival.value()
      arrival = Wait()
      while !kept.isEmpty {
        try await output.untilRoom()
        // Many at a time: taking them from the front one by one would move all the others each time.
        var taken = 0
        while !isOver, taken < kept.count, try output.offer(kept[taken]) {
          taken += 1
          isOver = !onShown()
        }
        kept.removeFirst(isOver ? kept.count : taken)
      }
    }
  }

  /// Tells of what was not shown.
  func end() {
    let missing = dropped + kept.count
    if missing > 0 { output.note("\(missing) value(s) were not shown, because nobody read the output") }
    (dropped, kept) = (0, [])
  }
}
