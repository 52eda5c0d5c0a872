import CLinux
import EventLoop
import Glibc
import SystemPackage

/// The machine's clock, for waiting for other programs: they know nothing of virtual time.
@LoopActor
enum RealTime {
  /// Suspends for so long. Virtual time stands still meanwhile, unless there is something to do in it.
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
