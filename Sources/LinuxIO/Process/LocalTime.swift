import Glibc

/// Converts UTC to local time. `Timestamp` in Text knows UTC only. The C library determines the zone from TZ and /etc/localtime at
/// the first conversion.
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
