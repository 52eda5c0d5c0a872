import Bluetooth
import GATT
import Presentation
import Terminal
import Values

/// A plot of numbers over time. Draws Braille dots, or asterisks on an ASCII terminal.
struct Plot {
  let renderer: LineRenderer
  let width: Int
  let height: Int

  /// The number of dots in a character cell, horizontally and vertically.
  private var dots: (x: Int, y: Int) { renderer.isUTF8 ? (2, 4) : (1, 1) }

  /// Returns the lines of a plot of samples.
  /// - Parameter now: The current time, in nanoseconds since 1970-01-01T00:00:00Z.
  func lines(_ samples: [SampleHistory.Sample], now: Int64) -> [Frame.Line] {
    guard let first = samples.first, let last = samples.last, height >= 3, width >= 16 else {
      return [renderer.line([Span("no numbers yet", .dim)], width: width)]
    }
    let values = samples.map(\.value)
    var (low, high) = (values.min() ?? 0, values.max() ?? 0)
    if high - low < 1e-9 * max(1, abs(high)) { (low, high) = (low - 1, high + 1) }
    let labels = (Self.number(high), Self.number((high + low) / 2), Self.number(low))
    let margin = [labels.0, labels.1, labels.2].map(\.utf8.count).max() ?? 0
    let (columns, rows) = (max(1, width - margin - 1), height - 1)
    var canvas = Canvas(columns: columns * dots.x, rows: rows * dots.y)
    let span = Double(max(1, last.time - first.time))
    var before: (x: Int, y: Int)?
    for sample in samples {
      let x = Int((Double(sample.time - first.time) / span * Double(columns * dots.x - 1)).rounded())
      let y = Int(((high - sample.value) / (high - low) * Double(rows * dots.y - 1)).rounded())
      canvas.draw(from: before ?? (x, y), to: (x, y))
      before = (x, y)
    }
    var lines: [Frame.Line] = []
    for row in 0..<rows {
      let label = row == 0 ? labels.0 : row == rows - 1 ? labels.2 : row == rows / 2 ? labels.1 : ""
      let text = String((0..<columns).map { cell(canvas, $0, row) })
      lines.append(
        renderer.line(
          [
            Span(String(repeating: " ", count: margin - label.utf8.count) + label, .dim), Span("│", .dim),
            Span(text, .cyan),
          ], width: width))
    }
    let ago = Self.duration(Double(now - first.time) / 1e9)
    let since = now - last.time > 2_000_000_000 ? "-" + Self.duration(Double(now - last.time) / 1e9) : "now"
    lines.append(
      renderer.line(
        [Span(String(repeating: " ", count: margin + 1) + "-" + ago, .dim)], right: [Span(since, .dim)], width: width))
    return lines
  }

  private func cell(_ canvas: Canvas, _ column: Int, _ row: Int) -> Character {
    guard renderer.isUTF8 else { return canvas.isSet(column, row) ? "*" : " " }
    // Unicode 15 §21.1: bits 0–2 are the upper three dots on the left, 3–5 on the right, 6 and 7 the lowest two.
    let bits: [(Int, Int)] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    let value = bits.enumerated().reduce(UInt32(0)) { sum, item in
      canvas.isSet(column * 2 + item.element.0, row * 4 + item.element.1) ? sum | 1 << UInt32(item.offset) : sum
    }
    return value == 0 ? " " : Unicode.Scalar(0x2800 + value).map { Character($0) } ?? " "
  }

  /// Formats a number for an axis label, with at most four decimal places from 0.001 to 10,000,000.
  static func number(_ value: Double) -> String {
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

    init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
      dots = Array(repeating: false, count: max(0, columns * rows))
    }

    func isSet(_ x: Int, _ y: Int) -> Bool { (0..<columns).contains(x) && (0..<rows).contains(y) && dots[y * columns + x] }

    /// Draws a straight line between two dots, including both dots.
    mutating func draw(from a: (x: Int, y: Int), to b: (x: Int, y: Int)) {
      let steps = max(abs(b.x - a.x), abs(b.y - a.y))
      for step in 0...steps {
        let part = steps == 0 ? 0 : Double(step) / Double(steps)
        let x = a.x + Int((Double(b.x - a.x) * part).rounded())
        let y = a.y + Int((Double(b.y - a.y) * part).rounded())
        if (0..<columns).contains(x), (0..<rows).contains(y) { dots[y * columns + x] = true }
      }
    }
  }
}

/// The latest samples of a number, for example of a value or of the signal strength, in a ring buffer.
struct SampleHistory: Equatable {
  struct Sample: Equatable {
    /// The time of the sample, in nanoseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let value: Double
  }

  private let capacity: Int
  /// The samples. After `capacity` samples, each new sample replaces the oldest.
  private var ring: [Sample] = []
  private var oldest = 0

  init(capacity: Int = 1024) { self.capacity = max(1, capacity) }

  /// Adds a sample. Ignores infinite numbers, NaN, and samples older than the latest.
  /// - Parameter interval: The shortest time between two samples, in nanoseconds. The history drops samples that arrive sooner.
  mutating func add(_ value: Double, at time: Int64, every interval: Int64 = 0) {
    guard value.isFinite, last.map({ time >= $0.time && time - $0.time >= interval }) ?? true else { return }
    let sample = Sample(time: time, value: value)
    if ring.count < capacity {
      ring.append(sample)
    } else {
      ring[oldest] = sample
      oldest = (oldest + 1) % capacity
    }
  }

  var last: Sample? { ring.isEmpty ? nil : ring[(oldest + ring.count - 1) % ring.count] }
  var count: Int { ring.count }
  /// The samples in the order of their times.
  var samples: [Sample] { Array(ring[oldest...] + ring[..<oldest]) }

  /// Returns the number to plot in a value. Reads one to four bytes of an unknown characteristic as an unsigned
  /// little-endian number. Returns nil if the value has no number.
  static func number(in octets: [UInt8], _ facts: CharacteristicFacts) -> Double? {
    if let decoded = try? DecodedValue.of(octets, type: facts.characteristic.uuid, formats: facts.formats) {
      let numbers = decoded.fields.compactMap { field in number(field).map { (value: $0, unit: field.unit) } }
      return (numbers.first { $0.unit != nil } ?? numbers.first)?.value
    }
    guard (1...4).contains(octets.count), CharacteristicDescription(facts.characteristic.uuid) == nil else { return nil }
    return Double(octets.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }

  private static func number(_ field: DecodedField) -> Double? {
    switch field.content {
    case .number(let number): Double(number.description)
    case .real(let number): number.isFinite ? number : nil
    case .choice(let raw, _): Double(raw)
    case .numbers, .noNumber, .flags, .text, .uuid, .date, .octets, .identifier: nil
    }
  }

  /// Returns the latest `count` values in the order of their times, or all values if there are fewer.
  func tail(_ count: Int) -> [Double] { (max(0, ring.count - count)..<ring.count).map { ring[(oldest + $0) % ring.count].value } }
}
