import CLinux
package import EventLoop
import Glibc
import SystemPackage

/// Reads the machine's clock, for waits for other programs and for dates in files. These ignore virtual time.
@LoopActor
package enum RealTime {
  /// The current time in nanoseconds since 1970-01-01T00:00:00Z.
  package nonisolated static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Suspends for a real time in milliseconds. Virtual time stands still during the wait, unless it has something to do.
  /// - Throws: Errno; CancellationError.
  static func sleep(milliseconds: Int) async throws {
    let timer = OwnedDescriptor(try SystemCall.call { timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)) })
    var time = itimerspec()
    time.it_value = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    let descriptor = timer.rawValue
    try SystemCall.call { unsafe timerfd_settime(descriptor, 0, &time, nil) }
    _ = try await EventLoop.shared.wait(for: descriptor, .readable)
    _ = timer.rawValue
  }
}
