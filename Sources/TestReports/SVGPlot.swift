import ATT

/// A plot of numbers over time as an SVG figure in HTML.
struct SVGPlot {
  struct Point {
    let at: Duration
    /// The number to plot, which must be finite.
    let number: Double
  }

  let name: String
  let unit: String?
  /// The points in the order of their times. The plot is empty without points.
  let points: [Point]

  private static let (width, height, left) = (800.0, 150.0, 60.0)
  /// The maximum number of points that a plot draws as circles. A plot with more points draws only the line.
  private static let circles = 200

  var text: String {
    let numbers = points.map(\.number)
    guard let low = numbers.min(), let high = numbers.max(), let first = points.first, let last = points.last else { return "" }
    let x = SVGScale(first.at.inSeconds, last.at.inSeconds, from: Self.left, to: Self.width - 10)
    let y = SVGScale(low, high, from: Self.height - 24, to: 8)
    let measured = unit.map { " " + HTMLReport.text($0) } ?? ""
    var drawing = "<figure>\n<figcaption>\(HTMLReport.text(name))\(measured.isEmpty ? "" : ",\(measured)"): "
    drawing += "\(points.count) values from \(SVGScale.number(low)) to \(SVGScale.number(high))\(measured)</figcaption>\n"
    drawing +=
      "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(HTMLReport.text(name)) over time\">\n"
    for tick in y.ticks {
      let place = SVGScale.coordinate(y.place(tick))
      drawing += "<path class=\"axis\" d=\"M\(Int(Self.left)) \(place)H\(Int(Self.width - 10))\"/>"
      drawing += "<text x=\"\(Int(Self.left) - 6)\" y=\"\(place)\" dy=\"4\" text-anchor=\"end\">\(SVGScale.number(tick))</text>"
    }
    for tick in x.ticks {
      let place = SVGScale.coordinate(x.place(tick))
      drawing += "<text x=\"\(place)\" y=\"\(Int(Self.height) - 6)\" text-anchor=\"middle\">\(SVGScale.number(tick)) s</text>"
    }
    drawing += "\n<polyline class=\"line\" points=\"\(line(x, y))\"/>\n"
    if points.count <= Self.circles {
      for point in points {
        let place = "cx=\"\(SVGScale.coordinate(x.place(point.at.inSeconds)))\" cy=\"\(SVGScale.coordinate(y.place(point.number)))\""
        let title = "\(ReportText.offset(point.at)) \(SVGScale.number(point.number))\(measured)"
        drawing += "<circle \(place) r=\"2.5\"><title>\(title)</title></circle>\n"
      }
    }
    return drawing + "</svg>\n</figure>\n"
  }

  /// Returns the points of the polyline. For points less than half a unit apart, keeps only the lowest and the highest.
  private func line(_ x: SVGScale, _ y: SVGScale) -> String {
    var line: [String] = []
    var column: (x: Double, low: Double, high: Double)?
    func end() {
      guard let (x, low, high) = column else { return }
      line.append("\(SVGScale.coordinate(x)),\(SVGScale.coordinate(low))")
      if high != low { line.append("\(SVGScale.coordinate(x)),\(SVGScale.coordinate(high))") }
    }
    for point in points {
      let place = ((x.place(point.at.inSeconds) * 2).rounded() / 2, y.place(point.number))
      if let before = column, before.x == place.0 {
        column = (before.x, min(before.low, place.1), max(before.high, place.1))
      } else {
        end()
        column = (place.0, place.1, place.1)
      }
    }
    end()
    return line.joined(separator: " ")
  }
}

/// A timeline of the steps and packets of a test as an SVG figure in HTML.
struct SVGTimeline {
  let packets: [TestPacket]
  let steps: [StepResult]
  let duration: Duration

  private static let (width, left) = (800.0, 60.0)

  /// The figure as HTML. Empty if the test has no packets.
  var text: String {
    guard let first = packets.first, let last = packets.last else { return "" }
    let begin = min(0, first.at.inSeconds)
    let end = max(duration.inSeconds, last.at.inSeconds, begin + 0.001)
    let scale = SVGScale(begin, end, from: Self.left, to: Self.width - 10)
    var drawing = "<figure>\n<svg viewBox=\"0 0 \(Int(Self.width)) 84\" role=\"img\" aria-label=\"packets over time\">\n"
    for (name, y) in [("steps", 16), ("sent", 36), ("received", 56)] { drawing += "<text x=\"0\" y=\"\(y)\">\(name)</text>" }
    drawing += "\n"
    for tick in scale.ticks {
      let x = SVGScale.coordinate(scale.place(tick))
      drawing += "<path class=\"axis\" d=\"M\(x) 2V64\"/><text x=\"\(x)\" y=\"78\" text-anchor=\"middle\">\(SVGScale.number(tick)) s</text>"
    }
    drawing += "\n"
    for step in steps { drawing += self.step(step, scale) }
    drawing += ticks(.sent, scale, y: 25) + ticks(.received, scale, y: 45)
    return drawing + "</svg>\n</figure>\n"
  }

  private func step(_ step: StepResult, _ scale: SVGScale) -> String {
    let x = scale.place(step.at.inSeconds)
    let width = max(1, scale.place(step.at.inSeconds + step.duration.inSeconds) - x - 1)
    let place = "x=\"\(SVGScale.coordinate(x))\" y=\"7\" width=\"\(SVGScale.coordinate(width))\" height=\"11\""
    let title = "\(HTMLReport.text(step.text)) (\(ReportText.seconds(step.duration)) s)"
    return "<rect class=\"step\(step.failed ? " failed" : "")\" \(place)><title>\(title)</title></rect>\n"
  }

  /// Draws the packets of one direction as ticks. Packets at the same position share one tick.
  private func ticks(_ direction: Direction, _ scale: SVGScale, y: Int) -> String {
    var path = ""
    var before: String?
    for packet in packets where packet.direction == direction {
      let x = SVGScale.coordinate(scale.place(packet.at.inSeconds))
      if x != before { path += "M\(x) \(y)v13" }
      before = x
    }
    return path.isEmpty ? "" : "<path class=\"\(direction == .sent ? "sent" : "received")\" d=\"\(path)\"/>\n"
  }
}

/// A linear scale that maps values to positions in a drawing.
struct SVGScale {
  private let low: Double
  private let high: Double
  private let from: Double
  private let to: Double

  /// Creates a scale from a range of values and the range of positions that shows the values.
  /// - Parameters:
  ///   - low, high: The finite ends of the value range. If they are equal, the scale maps each value to the middle.
  ///   - from, to: The positions of `low` and `high` in SVG units.
  init(_ low: Double, _ high: Double, from: Double, to: Double) { (self.low, self.high, self.from, self.to) = (low, high, from, to) }

  func place(_ value: Double) -> Double {
    // Use halves, because the difference of two finite numbers can overflow.
    let span = high / 2 - low / 2
    let part = span > 0 ? (value / 2 - low / 2) / span : 0.5
    return from + (to - from) * min(max(part, 0), 1)
  }

  /// At most six round values between the ends of the scale. The distance between two ticks is 1, 2 or 5 times a power of ten.
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

  /// Formats a coordinate in SVG units, rounded to tenths.
  static func coordinate(_ value: Double) -> String {
    let tenths = Int((min(max(value, -100_000), 100_000) * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(Double(tenths) / 10)"
  }

  /// Formats a number with up to seven significant digits and no trailing zeros.
  static func number(_ value: Double) -> String {
    guard value != 0, abs(value) >= 1e-4, abs(value) < 1e9 else { return value == 0 ? "0" : "\(value)" }
    var unit = 1e-6
    while abs(value) / unit >= 1e7 { unit *= 10 }
    let rounded = unit < 1 ? (value / unit).rounded() / (1 / unit).rounded() : (value / unit).rounded() * unit
    return rounded == rounded.rounded() ? String(Int(rounded)) : "\(rounded)"
  }
}

extension Duration { var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 } }
