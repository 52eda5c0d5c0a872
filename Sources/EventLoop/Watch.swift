import Glibc

/// What a watch waits for. Errors and hang-ups are always reported.
package struct Interest: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let readable = Self(rawValue: 1)
  package static let writable = Self(rawValue: 2)
  /// `[]` without the standard library's generic way to it, which looks conformances up.
  package static let nothing = Self(isReading: false, isWriting: false)

  package init(isReading: Bool, isWriting: Bool) { rawValue = (isReading ? 1 : 0) | (isWriting ? 2 : 0) }

  var pollEvents: Int16 {
    (rawValue & 1 != 0 ? Int16(POLLIN) : 0) | (rawValue & 2 != 0 ? Int16(POLLOUT) : 0)
  }
}

/// What poll(2) said about a descriptor.
package struct Readiness: Sendable {
  package let readable: Bool
  package let writable: Bool
  /// POLLERR, POLLHUP or POLLNVAL.
  package let failed: Bool

  init(revents: Int16) {
    readable = revents & Int16(POLLIN) != 0
    writable = revents & Int16(POLLOUT) != 0
    failed = revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }
}

extension EventLoop {
  /// Waits until `descriptor` is ready, has failed or was hung up.
  /// - Returns: nil when it was not until `deadline`.
  /// - Throws: CancellationError.
  @LoopActor
  package func wait(for descriptor: Int32, _ interest: Interest, until deadline: LoopClock.Instant? = nil) async throws -> Readiness? {
    let ready = Wait<Readiness>()
    let watch = watch(descriptor, interest) { ready.resume(returning: $0) }
    defer { watch.cancel() }
    return try await ready.value(until: deadline)
  }
}

/// One watched descriptor. With no interest left it stays registered but is not polled.
package final class Watch {
  let descriptor: Int32
  private(set) var interest: Interest
  private(set) var isActive = true
  let handler: (Readiness) -> Void
  private let changed: (Watch) -> Void
  /// Its place in what is polled.
  var position = 0

  init(_ descriptor: Int32, _ interest: Interest, handler: @escaping (Readiness) -> Void, changed: @escaping (Watch) -> Void) {
    self.descriptor = descriptor
    self.interest = interest
    self.handler = handler
    self.changed = changed
  }

  /// poll(2) passes over a negative descriptor; of others it reports errors whatever is asked for.
  var pollEntry: pollfd { pollfd(fd: interest.rawValue == 0 ? -1 : descriptor, events: interest.pollEvents, revents: 0) }

  package func setInterest(_ new: Interest) {
    guard isActive, new.rawValue != interest.rawValue else { return }
    interest = new
    changed(self)
  }

  /// Idempotent.
  package func cancel() {
    guard isActive else { return }
    isActive = false
    changed(self)
  }
}
