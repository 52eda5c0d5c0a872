// SPDX-License-Identifier: Apache-2.0
/// A watch that calls functions when a descriptor is readable or writable.
@LoopActor
package struct DescriptorWatch {
  private var watch: Watch?

  /// Changes the events that the watch waits for. Returns false if the caller must open a watch first.
  package func set(_ interest: Interest) -> Bool {
    guard let watch else { return interest == .nothing }
    watch.setInterest(interest)
    return true
  }

  /// Opens the watch.
  /// - Parameter flush: The callback when the descriptor is writable.
  /// - Parameter receive: The callback when there is data to read, or when the input has ended or failed.
  package mutating func open(
    _ descriptor: Int32, _ interest: Interest, flush: @escaping @LoopActor () -> Void, receive: @escaping @LoopActor () -> Void
  ) {
    watch = EventLoop.shared.watch(descriptor, interest) { ready in
      if ready.writable { flush() }
      if ready.readable || ready.failed { receive() }
    }
  }

  /// Ends the watch. The caller must end the watch before closing the descriptor. Idempotent.
  package mutating func cancel() {
    watch?.cancel()
    watch = nil
  }
}
