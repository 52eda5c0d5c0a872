import EventLoop

/// The watch over a descriptor that is read while someone listens, and written to while something waits.
@LoopActor
struct DescriptorWatch {
  private var watch: Watch?

  /// - Parameters:
  ///   - flush: there is room.
  ///   - receive: there is something to read, or the end.
  mutating func update(
    _ descriptor: Int32, isReading: Bool, isWriting: Bool, flush: @escaping @LoopActor () -> Void, receive: @escaping @LoopActor () -> Void
  ) {
    var interest: Interest = isWriting ? .writable : []
    if isReading { interest.insert(.readable) }
    if let watch {
      watch.setInterest(interest)
    } else if interest != [] {
      watch = EventLoop.shared.watch(descriptor, interest) { ready in
        if ready.writable { flush() }
        if ready.readable || ready.failed { receive() }
      }
    }
  }

  /// Before the descriptor is closed. Idempotent.
  mutating func cancel() {
    watch?.cancel()
    watch = nil
  }
}
