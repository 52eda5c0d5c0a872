/// Maps values to positions in a drawing.
struct SVGScale {
  private let low: Double
  private let high: Double
  private let from: Double
  private let to: Double

  /// Creates a scale from a range of values to a range of positions.
  /// - Parameters:
  ///   - low, high: The finite ends of the value range. If they are equal, the scale maps each value to the middle.
  ///   - from, to: The positions of `low` and `high`.
  init(_ low: Double, _ high: Double, from: Double, to: Double) { (self.low, self.high, self.from, self.to) = (low, high, from, to) }

  func place(_ value: Double) -> Double {
    // Use halves, because the difference of two finite numbers can overflow.
    let span = high / 2 - low / 2
    let part = span > 0 ? (value / 2 - low / 2) / span : 0.5
    return from + (to - from) * min(max(part, 0), 1)
  }

  /// At most six round numbers between the ends. Their distance is 1, 2 or 5 times a power of ten.
  var ticks: [Double] {
    let span = high - low
    guard span > 0, span.isFinite, span > abs(high) * 1e-9 else { return [low] }
    var step = 1.0
    while step * 10 <= span { step *= 10 }
    while step > span { step /= 10 }
    // One to ten steps fit now. Aim for two to five.
    if span / step >= 5 { step *= 2 } else if span / step < 2 { step /= 2 }
    var ticks: [Double] = []
    var tick = (low / step).rounded(.up) * step
    while tick <= high, ticks.count < 12 {
      ticks.append(tick)
      tick += step
    }
    return ticks
  }

  /// Formats a coordinate, rounded to tenths.
  static func coordinate(_ value: Double) -> String {
    let tenths = Int((min(max(value, -100_000), 100_000) * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(Double(tenths) / 10)"
  }

  /// Formats a number with six significant digits and no trailing zeros.
  static func number(_ value: Double) -> String {
    guard value != 0, abs(value) >= 1e-4, abs(value) < 1e9 else { return value == 0 ? "0" : "\(value)" }
    var unit = 1e-6
    while abs(value) / unit >= 1e7 { unit *= 10 }
    let rounded = unit < 1 ? (value / unit).rounded() / (1 / unit).rounded() : (value / unit).rounded() * unit
    return rounded == rounded.rounded() ? String(Int(rounded)) : "\(rounded)"
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
