package import ArgumentParser
import Presentation

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
