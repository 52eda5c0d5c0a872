import EventLoop

/// The watch over a descriptor that is read while someone listens, and written to while something waits.
@LoopActor
struct DescriptorWatch {
  private var watch: Watch?

  /// - Returns: false when there is no watch yet, and one has to be opened.
  func set(_ interest: Interest) -> Bool {
    guard let watch else { return interest == .nothing }
    watch.setInterest(interest)
    return true
  }

  /// - Parameters:
  ///   - flush: there is room.
  ///   - receive: there is something to read, or the end.
  mutating func open(
    _ descriptor: Int32, _ interest: Interest, flush: @escaping @LoopActor () -> Void, receive: @escaping @LoopActor () -> Void
  ) {
    watch = EventLoop.shared.watch(descriptor, interest) { ready in
      if ready.writable { flush() }
      if ready.readable || ready.failed { receive() }
    }
  }

  /// Before the descriptor is closed. Idempotent.
  mutating func cancel() {
    watch?.cancel()
    watch = nil
  }
}
