/// The format of amounts with their units, which all output shares.
package enum Quantity {
  package static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

  package static func segments(_ count: Int) -> String { count == 1 ? "1 segment" : "\(count) segments" }

  /// Formats a rate in kB/s with one decimal place, or with two if the rate is below 1 kB/s.
  package static func rate(_ bytes: Int, in seconds: Double) -> String {
    guard seconds > 0 else { return "- kB/s" }
    let rate = Double(bytes) / seconds / 1000
    let digits: Double = rate < 1 ? 100 : 10
    return "\((rate * digits).rounded() / digits) kB/s"
  }

  /// Formats a number of seconds as minutes and seconds, such as `0:07` or `12:30`.
  static func time(_ seconds: Double) -> String {
    // Limit to 100 hours to avoid overflow.
    let whole = Int(min(max(0, seconds), 359_999).rounded(.up))
    return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
  }
}
