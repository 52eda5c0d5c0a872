import ArgumentParser

/// An argument that takes `auto` or a number in `range`.
protocol AutomaticNumber: ExpressibleByArgument, Sendable {
  static var range: ClosedRange<Int> { get }

  /// - Parameter number: nil for `auto`.
  init(number: Int?)
  var number: Int? { get }
}

extension AutomaticNumber {
  static var auto: Self { Self(number: nil) }

  init?(argument: String) {
    let number = Int(argument)
    guard argument == "auto" || number.map(Self.range.contains) ?? false else { return nil }
    self.init(number: number)
  }

  var defaultValueDescription: String { number.map(String.init) ?? "auto" }
}

/// The value of `--window`: segments in flight.
struct WindowArgument: AutomaticNumber {
  static let range = 1...10_000
  let number: Int?
}

/// The value of `--chunk`: bytes per segment.
struct ChunkArgument: AutomaticNumber {
  static let range = 1...512
  let number: Int?
}
