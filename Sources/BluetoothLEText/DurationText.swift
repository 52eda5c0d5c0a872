// SPDX-License-Identifier: Apache-2.0
/// The text form of a time with a unit, such as `500ms`, `2s`, `1m` or `1h`.
package enum DurationText {
  /// The longest time in seconds, which is one day.
  private static let longest = 86_400.0

  /// Parses a time with a unit. Returns nil for other text and for more than one day.
  package static func parse(_ text: String) -> Duration? {
    let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
    let digits = text.dropLast(unit.count)
    guard !digits.isEmpty, digits.utf8.count < 16, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
      let number = Double(digits)
    else { return nil }
    let seconds = number * factor
    guard seconds <= longest else { return nil }
    // Round to microseconds, so that 0.1 s is exactly 100 ms.
    return .microseconds(Int64((seconds * 1_000_000).rounded()))
  }
}
