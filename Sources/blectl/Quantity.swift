/// Amounts as users read them: one word and one unit for each.
enum Quantity {
  static func octets(_ count: Int) -> String { count == 1 ? "1 octet" : "\(count) octets" }

  static func segments(_ count: Int) -> String { count == 1 ? "1 segment" : "\(count) segments" }

  /// Thousands of octets a second, with one digit after the point, with two below one.
  static func rate(_ octets: Int, in seconds: Double) -> String {
    guard seconds > 0 else { return "- kB/s" }
    let rate = Double(octets) / seconds / 1000
    let digits: Double = rate < 1 ? 100 : 10
    return "\((rate * digits).rounded() / digits) kB/s"
  }

  /// `0:07`, `12:30`.
  static func time(_ seconds: Double) -> String {
    // More than that nobody waits for, and a number must not overflow.
    let whole = Int(min(max(0, seconds), 359_999).rounded(.up))
    return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
  }
}
