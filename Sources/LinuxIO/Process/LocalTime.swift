import Glibc

/// The clock on the wall where the user is. (`Timestamp` in Text knows UTC only: time zones are the C library's, by TZ and /etc/localtime, read when
/// the first time is shown.)
package enum LocalTime {
  /// Nanoseconds to add to a time in UTC. 0 where the time zone is not known.
  /// - Parameter nanoseconds: since 1970-01-01T00:00:00Z.
  package static func offset(at nanoseconds: Int64) -> Int64 {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var fields = unsafe tm()
    // Unlike localtime(3), localtime_r(3) need not read TZ by itself.
    tzset()
    guard unsafe localtime_r(&seconds, &fields) != nil else { return 0 }
    return Int64(unsafe fields.tm_gmtoff) * 1_000_000_000
  }
}
