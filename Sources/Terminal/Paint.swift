/// When to colour; `auto` is on a terminal that can, and where NO_COLOR is not set.
package enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// ANSI colours, used sparingly: names of things, not whole lines.
package enum Paint: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// Between the escape sequences that switch it on and everything off.
  package func apply(_ text: String) -> String { begin + text + Self.end }

  var begin: String { "\u{1B}[\(rawValue)m" }
  static let end = "\u{1B}[0m"
}
