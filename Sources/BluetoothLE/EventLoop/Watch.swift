// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The events that a watch waits for. The loop always reports errors and hang-ups.
package struct Interest: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let readable = Self(rawValue: 1)
  package static let writable = Self(rawValue: 2)
  /// An interest in neither reading nor writing, which takes less time to create than `[]`.
  package static let nothing = Self(isReading: false, isWriting: false)

  package init(isReading: Bool, isWriting: Bool) { rawValue = (isReading ? 1 : 0) | (isWriting ? 2 : 0) }

  var pollEvents: Int16 { (rawValue & 1 != 0 ? Int16(POLLIN) : 0) | (rawValue & 2 != 0 ? Int16(POLLOUT) : 0) }
}

/// The state of a descriptor according to poll(2).
package struct Readiness: Sendable {
  package let readable: Bool
  package let writable: Bool
  /// Whether poll(2) returned POLLERR, POLLHUP or POLLNVAL.
  package let failed: Bool

  init(revents: Int16) {
    readable = revents & Int16(POLLIN) != 0
    writable = revents & Int16(POLLOUT) != 0
    failed = revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }
}

extension EventLoop {
  /// Waits until `descriptor` is ready, has failed, or has hung up.
  /// - Returns: The state of the descriptor. Nil at `deadline`.
  /// - Throws: CancellationError.
  @LoopActor
  package func wait(for descriptor: Int32, _ interest: Interest, until deadline: LoopClock.Instant? = nil) async throws -> Readiness? {
    let ready = Wait<Readiness>()
    let watch = watch(descriptor, interest) { ready.resume(returning: $0) }
    defer { watch.cancel() }
    return try await ready.value(until: deadline)
  }
}

/// The registration of a descriptor with the event loop. Without an interest, the loop does not poll the descriptor.
package final class Watch {
  let descriptor: Int32
  private(set) var interest: Interest
  private(set) var isActive = true
  let handler: (Readiness) -> Void
  private let changed: (Watch) -> Void
  /// The index in the list of polled descriptors. Index 0 is the loop's own pipe.
  var position = 0

  init(_ descriptor: Int32, _ interest: Interest, handler: @escaping (Readiness) -> Void, changed: @escaping (Watch) -> Void) {
    self.descriptor = descriptor
    self.interest = interest
    self.handler = handler
    self.changed = changed
  }

  /// The entry for poll(2). Without an interest, its descriptor is −1, which poll(2) skips.
  var pollEntry: pollfd { pollfd(fd: interest.rawValue == 0 ? -1 : descriptor, events: interest.pollEvents, revents: 0) }

  package func setInterest(_ new: Interest) {
    guard isActive, new.rawValue != interest.rawValue else { return }
    interest = new
    changed(self)
  }

  /// Ends the watch. Idempotent.
  package func cancel() {
    guard isActive else { return }
    isActive = false
    changed(self)
  }
}
