import BluetoothLEText

/// A time in a script, such as `500ms`, `2s`, `1.5s` or `1m`.
package enum ScriptTime {
  /// The time limit of an `expect` line without `within`.
  package static let standard = Duration.seconds(5)

  /// Parses a time with a unit. Returns nil for other text and for more than one day.
  package static func parse(_ text: String) -> Duration? { DurationText.parse(text) }

  /// Returns the error message for a text that is not a valid time.
  package static func invalid(_ text: String) -> String {
    "Invalid time \(DisplayText.quote(text)). "
      + (parse(text + "s") == nil ? "Use 500ms, 2s or 1m, up to 24h." : "Add a unit: \(text)s or \(text)ms.")
  }
}
