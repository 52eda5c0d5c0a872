package import ArgumentParser

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
