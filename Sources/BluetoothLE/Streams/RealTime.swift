// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
import SystemPackage

/// Reads the machine's clock and waits in real time, even while the event loop runs in virtual time.
@LoopActor
package enum RealTime {
  /// The current time in nanoseconds since 1970-01-01T00:00:00Z.
  package nonisolated static var now: Int64 { EventLoop.realTime }

  /// Suspends the task for a number of milliseconds of real time.
  /// - Throws: Errno or CancellationError.
  package static func sleep(milliseconds: Int) async throws {
    let timer = OwnedDescriptor(try SystemCall.call { timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)) })
    var time = itimerspec()
    time.it_value = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    let descriptor = timer.rawValue
    try SystemCall.call { unsafe timerfd_settime(descriptor, 0, &time, nil) }
    _ = try await EventLoop.shared.wait(for: descriptor, .readable)
    _ = timer.rawValue
  }
}

/// Converts UTC to local time. The C library takes the time zone from TZ or /etc/localtime.
package enum LocalTime {
  /// Returns the nanoseconds to add to a time in UTC to get local time. 0 if the time zone is unknown.
  /// - Parameter nanoseconds: Nanoseconds since 1970-01-01T00:00:00Z.
  package static func offset(at nanoseconds: Int64) -> Int64 {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var fields = unsafe tm()
    // Unlike localtime(3), localtime_r(3) need not read TZ.
    tzset()
    guard unsafe localtime_r(&seconds, &fields) != nil else { return 0 }
    return Int64(unsafe fields.tm_gmtoff) * 1_000_000_000
  }
}
