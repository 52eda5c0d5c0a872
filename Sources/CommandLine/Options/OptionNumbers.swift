import Scripts

/// A number as the value of an option or argument.
package protocol OptionNumber: Comparable {
  /// The number as text, without the `.0` of a whole number.
  var plainText: String { get }
}

extension Int: OptionNumber { package var plainText: String { "\(self)" } }

extension Double: OptionNumber {}

/// Range checks for `validate()`, which accept nil for an omitted option.
extension ParsableArguments {
  /// Checks that a number is in a range.
  /// - Throws: `ValidationError` such as `--mtu takes 23 to 517 bytes, not 5`.
  package func limit<Number: OptionNumber>(
    _ option: String, _ number: Number?, to range: ClosedRange<Number>, _ unit: String = "", unitFirst: Bool = false
  ) throws {
    guard let number, !range.contains(number) else { return }
    let (low, high) = (range.lowerBound.plainText, range.upperBound.plainText)
    let numbers = unitFirst ? "\(unit) from \(low) to \(high)" : "\(low) to \(high)" + (unit.isEmpty ? "" : " \(unit)")
    throw ValidationError("\(option) takes \(numbers), not \(number.plainText).")
  }

  /// Checks that a number is not below the least value of a range.
  /// - Throws: `ValidationError` that names the least value.
  package func limit(_ option: String, _ number: Int?, to range: PartialRangeFrom<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw ValidationError("\(option) takes \(range.lowerBound) or more, not \(number).")
  }

  /// Checks that a time is from 0 to 31,536,000 seconds (a year).
  /// - Throws: `ValidationError` that names the range.
  package func limit(_ option: String, seconds: Double?) throws {
    try limit(option, seconds, to: 0...31_536_000, "seconds", unitFirst: true)
  }

  /// Checks that a time limit is more than 0 and at most 86,400 seconds (a day).
  /// - Throws: `ValidationError` that names the range.
  func limit(_ option: String, timeout seconds: Double?) throws {
    guard let seconds, !(seconds > 0 && seconds <= 86_400) else { return }
    throw ValidationError("\(option) takes seconds, more than 0 and up to 86400, not \(seconds.plainText).")
  }
}

extension NameSpecification {
  /// Specifies the long name of an option, and a letter whose value may follow without a space, as in `-n3`.
  package static func short(_ letter: Character) -> Self { [.customShort(letter, allowingJoined: true), .long] }
}

/// An argument that takes `auto` or a number in `range`.
package protocol AutomaticNumber: ExpressibleByArgument, Sendable {
  static var range: ClosedRange<Int> { get }

  /// Creates the argument. `number` is nil for `auto`.
  init(number: Int?)
  var number: Int? { get }
}

extension AutomaticNumber {
  package static var auto: Self { Self(number: nil) }

  package init?(argument: String) {
    let number = Int(argument)
    guard argument == "auto" || number.map(Self.range.contains) ?? false else { return nil }
    self.init(number: number)
  }

  package var defaultValueDescription: String { number.map(String.init) ?? "auto" }
}

/// The value of `--window`, which is the number of segments in flight.
package struct WindowArgument: AutomaticNumber {
  package static let range = 1...10_000
  package let number: Int?

  package init(number: Int?) { self.number = number }
}

/// The value of `--chunk`, which is the number of bytes per segment.
package struct ChunkArgument: AutomaticNumber {
  package static let range = 1...512
  package let number: Int?

  package init(number: Int?) { self.number = number }
}

/// The parser of times. A time is a number in the option's unit, or a number with its own unit, such as `500ms`, `2s` or `1m`.
package enum TimeText {
  /// Parses a time and returns seconds. A number without a unit is in seconds. The caller checks the range.
  /// - Throws: `ValidationError` if `text` is not a time.
  package static func seconds(_ text: String) throws -> Double { try parse(text, second: 1) }

  /// Parses a time and returns milliseconds. A number without a unit is in milliseconds. The caller checks the range.
  /// - Throws: `ValidationError` if `text` is not a time.
  package static func milliseconds(_ text: String) throws -> Double { try parse(text, second: 1000) }

  /// Parses a time and returns a number in a unit that the caller chooses. `second` is the length of one second in this unit.
  private static func parse(_ text: String, second: Double) throws -> Double {
    if let number = Double(text) { return number }
    guard let time = ScriptTime.parse(text) else { throw ValidationError("not a time") }
    return time.inSeconds * second
  }
}
