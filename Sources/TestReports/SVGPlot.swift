import ATT

/// A plot of numbers over time as SVG. All series have the same unit.
package struct SVGPlot {
  /// A finite number and its time.
  package typealias Point = (at: Duration, number: Double)

  package struct Series {
    let name: String
    let unit: String?
    /// The points in the order of their times.
    let points: [Point]
    /// The number of values, which is larger than the number of points if points stand for several values.
    let count: Int

    package init(name: String, unit: String?, points: [Point], count: Int) {
      (self.name, self.unit, self.points, self.count) = (name, unit, points, count)
    }

    /// The name, the number of values, and their range, as HTML.
    fileprivate var summary: String {
      let (numbers, measured) = (points.map(\.number), unit.map { " " + HTMLReport.text($0) } ?? "")
      let range = "from \(SVGScale.number(numbers.min() ?? 0)) to \(SVGScale.number(numbers.max() ?? 0))\(measured)"
      return "\(HTMLReport.text(name))\(measured.isEmpty ? "" : ",\(measured)"): \(count) values \(range)"
    }
  }

  private let series: [Series]
  /// The times at the ends of the horizontal axis.
  private let (begin, end): (Duration, Duration)
  private let height: Double

  private static let (width, left) = (800.0, 60.0)
  /// The maximum number of points that a plot draws as circles. A plot with more points draws only the line.
  private static let circles = 200
  private static let colors = ["#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bf3989"]

  /// Creates a plot of series, which each need a point.
  init(_ series: [Series], height: Double = 150) {
    (self.series, self.height) = (series, height)
    begin = series.compactMap { $0.points.first?.at }.min() ?? .zero
    end = series.compactMap { $0.points.last?.at }.max() ?? .zero
  }

  /// The plot as a figure in HTML. Empty without points.
  var text: String {
    guard let first = series.first, !first.points.isEmpty else { return "" }
    var drawing = "<figure>\n<figcaption>\(first.summary)</figcaption>\n<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(height))\" "
    drawing += "role=\"img\" aria-label=\"\(HTMLReport.text(first.name)) over time\">\n"
    return drawing + area + "</svg>\n</figure>\n"
  }

  /// Returns a standalone SVG file with a plot for each unit, one below the other. Each series needs a point.
  package static func document(title: String, _ series: [Series]) -> String {
    var (units, drawing, y): ([String?], String, Double) = ([], "", 30)
    for unit in series.map(\.unit) where !units.contains(unit) { units.append(unit) }
    let all = SVGPlot(series)
    for unit in units {
      let plot = SVGPlot(series.filter { $0.unit == unit }, begin: all.begin, end: all.end)
      for (index, series) in plot.series.enumerated() {
        let place = "<path class=\"line\(color(index))\" d=\"M\(Int(left)) \(y + 10)h24\"/>"
        drawing += place + "<text x=\"\(Int(left) + 30)\" y=\"\(y + 14)\">\(series.summary)</text>\n"
        y += 18
      }
      let sign = unit.map { "<text x=\"\(Int(left) - 6)\" y=\"-4\" text-anchor=\"end\">\(HTMLReport.text($0))</text>" } ?? ""
      drawing += "<g transform=\"translate(0 \(y))\">\(sign)\n\(plot.area)</g>\n"
      y += plot.height + 12
    }
    let styles = colors.enumerated().map {
      "\(color($0).isEmpty ? ".line" : ".s\($0)"){stroke:\($1)}circle\(color($0).isEmpty ? "" : ".s\($0)"){fill:\($1);stroke:none}"
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(y))" font-family="sans-serif" font-size="12" role="img" aria-label="\(HTMLReport.text(title))">
      <style>.line{fill:none;stroke-width:1.5}.axis{stroke:#d0d7de}\(styles.joined())</style>
      <rect width="100%" height="100%" fill="#fff"/>
      <text x="\(Int(left))" y="20" font-weight="bold">\(HTMLReport.text(title))</text>
      \(drawing)</svg>

      """
  }

  private init(_ series: [Series], begin: Duration, end: Duration) {
    (self.series, self.begin, self.end, height) = (series, begin, end, 200)
  }

  /// Returns the class of a series, after a space. The first series has none.
  private static func color(_ index: Int) -> String { index % colors.count == 0 ? "" : " s\(index % colors.count)" }

  /// The axes and the lines.
  private var area: String {
    let numbers = series.flatMap { $0.points.map(\.number) }
    let span = end.inSeconds - begin.inSeconds
    let (unit, seconds) = span > 7200 ? ("h", 3600.0) : span > 120 ? ("min", 60) : ("s", 1)
    let x = SVGScale(begin.inSeconds / seconds, end.inSeconds / seconds, from: Self.left, to: Self.width - 10)
    let y = SVGScale(numbers.min() ?? 0, numbers.max() ?? 0, from: height - 24, to: 8)
    var drawing = ""
    for tick in y.ticks {
      let place = SVGScale.coordinate(y.place(tick))
      drawing += "<path class=\"axis\" d=\"M\(Int(Self.left)) \(place)H\(Int(Self.width - 10))\"/>"
      drawing += "<text x=\"\(Int(Self.left) - 6)\" y=\"\(place)\" dy=\"4\" text-anchor=\"end\">\(SVGScale.number(tick))</text>"
    }
    for tick in x.ticks {
      let place = SVGScale.coordinate(x.place(tick))
      drawing += "<text x=\"\(place)\" y=\"\(Int(height) - 6)\" text-anchor=\"middle\">\(SVGScale.number(tick)) \(unit)</text>"
    }
    drawing += "\n"
    for (index, series) in series.enumerated() {
      func place(_ point: Point) -> (Double, Double) { (x.place(point.at.inSeconds / seconds), y.place(point.number)) }
      drawing += "<polyline class=\"line\(Self.color(index))\" points=\"\(Self.line(series.points.map(place)))\"/>\n"
      guard series.points.count <= Self.circles else { continue }
      let kind = Self.color(index).isEmpty ? "" : "class=\"\(Self.color(index).dropFirst())\" "
      for point in series.points {
        let (x, y) = place(point)
        let title = "\(ReportText.offset(point.at)) \(SVGScale.number(point.number))\(series.unit.map { " " + HTMLReport.text($0) } ?? "")"
        drawing +=
          "<circle \(kind)cx=\"\(SVGScale.coordinate(x))\" cy=\"\(SVGScale.coordinate(y))\" r=\"2.5\"><title>\(title)</title></circle>\n"
      }
    }
    return drawing
  }

  /// Returns the points of the polyline. For points less than half a unit apart, keeps only the lowest and the highest.
  private static func line(_ places: [(x: Double, y: Double)]) -> String {
    var line: [String] = []
    var column: (x: Double, low: Double, high: Double)?
    func end() {
      guard let (x, low, high) = column else { return }
      line.append("\(SVGScale.coordinate(x)),\(SVGScale.coordinate(low))")
      if high != low { line.append("\(SVGScale.coordinate(x)),\(SVGScale.coordinate(high))") }
    }
    for point in places {
      let place = ((point.x * 2).rounded() / 2, point.y)
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
