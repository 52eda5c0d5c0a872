/// A time of a script: `500ms`, `2s`, `1.5s`, `1m`.
package enum ScriptTime {
  /// When nothing else is said.
  package static let standard = Duration.seconds(5)
  /// A day: what is longer is a mistake.
  private static let longest = 86_400.0

  /// - Returns: nil for what is none.
  package static func parse(_ text: String) -> Duration? {
    let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
    let digits = text.dropLast(unit.count)
    guard !digits.isEmpty, digits.utf8.count < 16, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
      let number = Double(digits)
    else { return nil }
    let seconds = number * factor
    guard seconds <= longest else { return nil }
    // Whole microseconds: 0.1 s is 100 ms, and not a little more.
    return .microseconds(Int64((seconds * 1_000_000).rounded()))
  }
}
