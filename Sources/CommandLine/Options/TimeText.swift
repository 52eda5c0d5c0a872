import ArgumentParser
import EventLoop
import ScriptLanguage

/// Parses times: a bare number in the unit of its option, or a number with a unit, as in scripts (`500ms`, `2s`, `1m`).
package enum TimeText {
  /// Parses a time in seconds. The caller checks the range.
  /// - Throws: `ValidationError` if `text` is not a time.
  package static func seconds(_ text: String) throws -> Double { try parse(text, second: 1) }

  /// Parses a time in milliseconds. The caller checks the range.
  /// - Throws: `ValidationError` if `text` is not a time.
  package static func milliseconds(_ text: String) throws -> Double { try parse(text, second: 1000) }

  /// Parses a time. `second` is the length of one second in the unit of a bare number.
  private static func parse(_ text: String, second: Double) throws -> Double {
    if let number = Double(text) { return number }
    guard let time = ScriptTime.parse(text) else { throw ValidationError("not a time") }
    return time.inSeconds * second
  }
}
