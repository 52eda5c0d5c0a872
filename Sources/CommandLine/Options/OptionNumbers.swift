package import ArgumentParser
import EventLoop
import Presentation
import ScriptLanguage

/// A number as the value of an option or argument.
package protocol OptionNumber: Comparable {
  /// The number without an empty fraction.
  var plainText: String { get }
}

extension Int: OptionNumber {
  package var plainText: String { "\(self)" }
}

extension Double: OptionNumber {}

/// Checks the numbers that the parser accepted, for `validate()`. Nil is valid.
extension ParsableArguments {
  /// Checks the range of a number: `--mtu takes 23 to 517 bytes, not 5`.
  /// - Throws: `ValidationError`.
  package func limit<Number: OptionNumber>(
    _ option: String, _ number: Number?, to range: ClosedRange<Number>, _ unit: String = "", unitFirst: Bool = false
  ) throws {
    guard let number, !range.contains(number) else { return }
    let (low, high) = (range.lowerBound.plainText, range.upperBound.plainText)
    let numbers = unitFirst ? "\(unit) from \(low) to \(high)" : "\(low) to \(high)" + (unit.isEmpty ? "" : " \(unit)")
    throw ValidationError("\(option) takes \(numbers), not \(number.plainText)")
  }

  /// Checks the least value of a number.
  /// - Throws: `ValidationError`.
  package func limit(_ option: String, _ number: Int?, to range: PartialRangeFrom<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw ValidationError("\(option) takes \(range.lowerBound) or more, not \(number)")
  }

  /// Checks a time of up to a year, which may be 0.
  /// - Throws: `ValidationError`.
  package func limit(_ option: String, seconds: Double?) throws {
    try limit(option, seconds, to: 0...31_536_000, "seconds", unitFirst: true)
  }

  /// Checks a time limit of up to a day, which must not be 0.
  /// - Throws: `ValidationError`.
  func limit(_ option: String, timeout seconds: Double?) throws {
    guard let seconds, !(seconds > 0 && seconds <= 86_400) else { return }
    throw ValidationError("\(option) takes seconds, more than 0 and up to 86400, not \(seconds.plainText)")
  }
}

extension NameSpecification {
  /// The long name, and a letter whose value may follow without a space: `-n3`.
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

/// The value of `--window`: segments in flight.
package struct WindowArgument: AutomaticNumber {
  package static let range = 1...10_000
  package let number: Int?

  package init(number: Int?) { self.number = number }
}

/// The value of `--chunk`: bytes per segment.
package struct ChunkArgument: AutomaticNumber {
  package static let range = 1...512
  package let number: Int?

  package init(number: Int?) { self.number = number }
}

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
