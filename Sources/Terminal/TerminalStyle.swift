/// The user's choice of when to use color. `auto` means on a terminal that supports color, unless NO_COLOR is set.
package enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// ANSI text styles, used sparingly: for names of things, not for whole lines.
package enum TerminalStyle: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// Encloses a text in the escape sequences that start the style and reset it.
  package func apply(_ text: String) -> String { begin + text + Self.end }

  var begin: String { "\u{1B}[\(rawValue)m" }
  static let end = "\u{1B}[0m"
}
