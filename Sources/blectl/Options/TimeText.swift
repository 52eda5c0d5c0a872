import ArgumentParser
import EventLoop
import Operations

/// A time as users type it: a bare number in the unit of its option, or one with its unit, as in scripts (`500ms`, `2s`, `1m`).
enum TimeText {
  /// - Returns: seconds, which may be out of the option's range.
  /// - Throws: ValidationError when it is no time.
  static func seconds(_ text: String) throws -> Double { try parse(text, second: 1) }

  /// As `seconds`, in milliseconds.
  static func milliseconds(_ text: String) throws -> Double { try parse(text, second: 1000) }

  private static func parse(_ text: String, second: Double) throws -> Double {
    if let number = Double(text) { return number }
    guard let time = ScriptTime.parse(text) else { throw ValidationError("it is no time") }
    return time.inSeconds * second
  }
}
