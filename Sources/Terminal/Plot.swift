package import BluetoothLEText

/// A plot of numbers over time. Draws Braille dots, or asterisks on an ASCII terminal. Where a column has several numbers, a lighter band
/// goes from the lowest to the highest, and a line connects their means.
package struct Plot {
  /// A number and its time, in nanoseconds since 1970-01-01T00:00:00Z.
  package typealias Sample = (time: Int64, value: Double)

  private let isUTF8: Bool
  private let width: Int
  private let height: Int

  package init(isUTF8: Bool, width: Int, height: Int) { (self.isUTF8, self.width, self.height) = (isUTF8, width, height) }

  /// The number of dots in a character cell, horizontally and vertically.
  private var dots: (x: Int, y: Int) { isUTF8 ? (2, 4) : (1, 1) }

  /// Returns the rows of a plot of samples, from top to bottom: the label of the axis, and the drawing. The last row has the ages of the
  /// first sample and of the last one. Returns nil without samples, or if the plot has no room.
  /// - Parameter now: The current time, in nanoseconds since 1970-01-01T00:00:00Z.
  package func rows(_ samples: [Sample], now: Int64) -> (rows: [(label: String, drawing: String)], ages: (first: String, last: String))? {
    var series = NumberSeries(name: "", unit: nil)
    for sample in samples { series.add(sample.value, at: sample.time) }
    return rows(series, now: now)
  }

  /// Returns the rows of a plot of a series. The label of the highest number has the unit.
  package func rows(
    _ series: NumberSeries, now: Int64
  ) -> (rows: [(label: String, drawing: String)], ages: (first: String, last: String))? {
    guard let first = series.samples.first?.time, let last = series.samples.last?.end, height >= 3, width >= 16 else { return nil }
    var (low, high) = (series.low, series.high)
    // The margin counts even where two neighboring numbers are more than 1 apart.
    if high / 2 - low / 2 < 1e-9 * max(1, abs(high)) {
      let margin = max(1, abs(high) * 1e-6)
      (low, high) = (max(low - margin, -.greatestFiniteMagnitude), min(high + margin, .greatestFiniteMagnitude))
    }
    let unit = series.unit.map { DisplayText.clip(" \(DisplayText.escape($0))", to: width / 4) } ?? ""
    let labels = (Self.number(high) + unit, Self.number(high / 2 + low / 2), Self.number(low))
    let margin = [labels.0, labels.1, labels.2].map(DisplayText.width).max() ?? 0
    let (columns, rows) = (max(1, width - margin - 1), height - 1)
    var canvas = Canvas(columns: columns * dots.x, rows: rows * dots.y)
    let span = Double(max(1, last - first))
    // Use halves, because the difference of two finite numbers can overflow.
    func y(_ value: Double) -> Int { Int(((high / 2 - value / 2) / (high / 2 - low / 2) * Double(rows * dots.y - 1)).rounded()) }
    var before: (x: Int, y: Int)?
    for (x, sample) in series.columns({ Int((Double($0 - first) / span * Double(columns * dots.x - 1)).rounded()) }) {
      if sample.count > 1 { canvas.shade(x, y(sample.high), y(sample.low)) }
      let place = (x: x, y: y(sample.mean))
      canvas.draw(from: sample.followsGap ? place : before ?? place, to: place)
      before = place
    }
    let drawn = (0..<rows).map { row in
      let label = row == 0 ? labels.0 : row == rows - 1 ? labels.2 : row == rows / 2 ? labels.1 : ""
      return (
        String(repeating: " ", count: max(0, margin - DisplayText.width(label))) + label,
        String((0..<columns).map { cell(canvas, $0, row) })
      )
    }
    let since = now - last > 2_000_000_000 ? "-" + Self.duration(Double(now - last) / 1e9) : "now"
    return (drawn, (String(repeating: " ", count: margin + 1) + "-" + Self.duration(Double(now - first) / 1e9), since))
  }

  private func cell(_ canvas: Canvas, _ column: Int, _ row: Int) -> Character {
    guard isUTF8 else { return canvas.isSet(column, row) ? "*" : canvas.isShaded(column, row) ? "." : " " }
    // Unicode 15 §21.1: bits 0–2 are the upper three dots on the left, 3–5 on the right, 6 and 7 the lowest two.
    let bits: [(Int, Int)] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    let value = bits.enumerated().reduce(UInt32(0)) { sum, item in
      let place = (x: column * 2 + item.element.0, y: row * 4 + item.element.1)
      // Every second dot of a band.
      let isDot = canvas.isSet(place.x, place.y) || (place.x + place.y) % 2 == 0 && canvas.isShaded(place.x, place.y)
      return isDot ? sum | 1 << UInt32(item.offset) : sum
    }
    return value == 0 ? " " : Unicode.Scalar(0x2800 + value).map { Character($0) } ?? " "
  }

  private static let steps = (utf8: Array("▁▂▃▄▅▆▇█"), ascii: Array(".:-=+*##"))

  /// Returns a bar chart with one character for each number. The smallest number has the lowest of eight bars.
  package static func spark(_ values: [Double], isUTF8: Bool = true) -> String {
    let steps = isUTF8 ? steps.utf8 : steps.ascii
    guard let low = values.min(), let high = values.max() else { return "" }
    let span = high / 2 - low / 2
    return String(values.map { span > 0 ? steps[max(0, min(7, Int(($0 / 2 - low / 2) / span * 7.99)))] : steps[3] })
  }

  /// Formats a number for an axis label, with at most four decimal places from 0.001 to 10,000,000.
  package static func number(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e7 { return "\(Int(value))" }
    if abs(value) >= 1e7 || abs(value) < 1e-3 { return "\(value)" }
    let scale = abs(value) >= 100 ? 10.0 : abs(value) >= 1 ? 100 : 10_000
    let rounded = (value * scale).rounded() / scale
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  static func duration(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e9)).rounded())
    if whole < 120 { return "\(whole) s" }
    return whole < 7200 ? "\(whole / 60) min" : "\(whole / 3600) h"
  }

  private struct Canvas {
    let columns: Int
    let rows: Int
    private var dots: [Bool]
    private var band: [Bool]

    init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
      dots = Array(repeating: false, count: max(0, columns * rows))
      band = dots
    }

    private func contains(_ x: Int, _ y: Int) -> Bool { (0..<columns).contains(x) && (0..<rows).contains(y) }
    func isSet(_ x: Int, _ y: Int) -> Bool { contains(x, y) && dots[y * columns + x] }
    func isShaded(_ x: Int, _ y: Int) -> Bool { contains(x, y) && band[y * columns + x] }

    /// Shades a column between two dots, including both dots. `top` is at most `bottom`.
    mutating func shade(_ x: Int, _ top: Int, _ bottom: Int) {
      for y in top...max(top, bottom) where contains(x, y) { band[y * columns + x] = true }
    }

    /// Draws a straight line between two dots, including both dots.
    mutating func draw(from a: (x: Int, y: Int), to b: (x: Int, y: Int)) {
      let steps = max(abs(b.x - a.x), abs(b.y - a.y))
      for step in 0...steps {
        let part = steps == 0 ? 0 : Double(step) / Double(steps)
        let x = a.x + Int((Double(b.x - a.x) * part).rounded())
        let y = a.y + Int((Double(b.y - a.y) * part).rounded())
        if contains(x, y) { dots[y * columns + x] = true }
      }
    }
  }
}
