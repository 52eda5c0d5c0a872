package import BluetoothLE

/// A plot of numbers over time as SVG. All series have the same unit. Where a column of pixels has several numbers, a band goes from the
/// lowest to the highest, and a line connects their means.
package struct SVGPlot {
  private let series: [NumberSeries]
  /// The times at the ends of the horizontal axis, and its zero, in nanoseconds.
  private let (begin, end, zero): (Int64, Int64, Int64)
  private let height: Double

  private static let (width, left) = (800.0, 60.0)
  /// The maximum number of points that a plot draws as circles. A plot with more points draws only the line.
  private static let circles = 200
  private static let colors = ["#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bf3989"]

  /// Creates a plot of series, which each need a point.
  init(_ series: [NumberSeries], height: Double = 150) { self.init(series, among: series, zero: 0, height) }

  private init(_ series: [NumberSeries], among all: [NumberSeries], zero: Int64, _ height: Double) {
    (self.series, self.zero, self.height) = (series, zero, height)
    begin = all.compactMap { $0.samples.first?.time }.min() ?? zero
    end = all.compactMap { $0.samples.last?.end }.max() ?? zero
  }

  /// The plot as a figure in HTML. Empty without points.
  var text: String {
    guard let first = series.first, first.count > 0 else { return "" }
    var drawing =
      "<figure>\n<figcaption>\(Self.summary(first))</figcaption>\n<svg viewBox=\"0 -16 \(Int(Self.width)) \(Int(height) + 16)\" "
    drawing += "role=\"img\" aria-label=\"\(HTMLReport.text(first.name)) over time\">\n"
    return drawing + area + "</svg>\n</figure>\n"
  }

  /// Returns a standalone SVG file with a plot for each unit, one below the other. Each series needs a point.
  package static func document(title: String, _ series: [NumberSeries]) -> String {
    var (units, drawing, y): ([String?], String, Double) = ([], "", 30)
    for unit in series.map(\.unit) where !units.contains(unit) { units.append(unit) }
    let zero = series.compactMap { $0.samples.first?.time }.min() ?? 0
    for unit in units {
      let plot = SVGPlot(series.filter { $0.unit == unit }, among: series, zero: zero, 200)
      for (index, series) in plot.series.enumerated() {
        let place = "<path class=\"line\(color(index))\" d=\"M\(Int(left)) \(y + 10)h24\"/>"
        drawing += place + "<text x=\"\(Int(left) + 30)\" y=\"\(y + 14)\">\(summary(series))</text>\n"
        y += 18
      }
      drawing += "<g transform=\"translate(0 \(y))\">\n\(plot.area)</g>\n"
      y += plot.height + 12
    }
    let styles = colors.enumerated().map {
      "\(color($0).isEmpty ? ".line" : ".s\($0)"){stroke:\($1)}.band\(color($0).isEmpty ? "" : ".s\($0)"){fill:\($1)}circle\(color($0).isEmpty ? "" : ".s\($0)"){fill:\($1);stroke:none}"
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(y))" font-family="sans-serif" font-size="12" role="img" aria-label="\(HTMLReport.text(title))">
      <style>.line{fill:none;stroke-width:1.5;stroke-linecap:round}.band{stroke:none;opacity:.3}.axis{stroke:#d0d7de}\(styles.joined())</style>
      <rect width="100%" height="100%" fill="#fff"/>
      <text x="\(Int(left))" y="20" font-weight="bold">\(HTMLReport.text(title))</text>
      \(drawing)</svg>

      """
  }

  /// Returns the name, the number of values, and their range, as HTML.
  private static func summary(_ series: NumberSeries) -> String {
    let measured = series.unit.map { " " + HTMLReport.text($0) } ?? ""
    let range = "from \(SVGScale.number(series.low)) to \(SVGScale.number(series.high))\(measured)"
    return "\(HTMLReport.text(series.name))\(measured.isEmpty ? "" : ",\(measured)"): \(series.count) values \(range)"
  }

  /// Returns the class of a series, after a space. The first series has none.
  private static func color(_ index: Int) -> String { index % colors.count == 0 ? "" : " s\(index % colors.count)" }

  /// The axes and the lines.
  private var area: String {
    func time(_ time: Int64) -> Double { (Double(time) - Double(zero)) / 1e9 }
    let span = time(end) - time(begin)
    let (unit, seconds) = span > 7200 ? ("h", 3600.0) : span > 120 ? ("min", 60) : ("s", 1)
    let x = SVGScale(time(begin) / seconds, time(end) / seconds, from: Self.left, to: Self.width - 10)
    let y = SVGScale(series.map(\.low).min() ?? 0, series.map(\.high).max() ?? 0, from: height - 24, to: 8)
    var drawing =
      series.first?.unit.map { "<text x=\"\(Int(Self.left) - 6)\" y=\"-4\" text-anchor=\"end\">\(HTMLReport.text($0))</text>" } ?? ""
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
      drawing += Self.lines(series.columns { Int((2 * x.place(time($0) / seconds)).rounded()) }, y, Self.color(index))
      guard series.count <= Self.circles else { continue }
      let kind = Self.color(index).isEmpty ? "" : "class=\"\(Self.color(index).dropFirst())\" "
      for point in series.samples {
        let (across, down) = (x.place(time(point.time) / seconds), y.place(point.mean))
        let number = "\(SVGScale.number(point.mean))\(series.unit.map { " " + HTMLReport.text($0) } ?? "")"
        let title = "\(ReportText.offset(.nanoseconds(point.time - zero))) \(number)"
        drawing +=
          "<circle \(kind)cx=\"\(SVGScale.coordinate(across))\" cy=\"\(SVGScale.coordinate(down))\" r=\"2.5\"><title>\(title)</title></circle>\n"
      }
    }
    return drawing
  }

  /// Draws columns half a unit wide: for each run of numbers without a gap, a band if a column has several numbers, and the line of means.
  private static func lines(_ columns: [(column: Int, sample: NumberSample)], _ y: SVGScale, _ color: String) -> String {
    var drawing = ""
    var rest = columns[...]
    while let first = rest.popFirst() {
      let run = [first] + rest.prefix { !$0.sample.followsGap }
      rest = rest.dropFirst(run.count - 1)
      // A band or a line needs two places to be visible.
      let places =
        run.count > 1
        ? run.map { (Double($0.column) / 2, $0.sample) } : [-0.25, 0.25].map { (Double(first.column) / 2 + $0, first.sample) }
      func points(_ places: some Sequence<(x: Double, sample: NumberSample)>, _ number: (NumberSample) -> Double) -> String {
        places.map { "\(SVGScale.coordinate($0.x)),\(SVGScale.coordinate(y.place(number($0.sample))))" }.joined(separator: " ")
      }
      if run.contains(where: { $0.sample.count > 1 }) {
        drawing += "<polygon class=\"band\(color)\" points=\"\(points(places, \.high)) \(points(places.reversed(), \.low))\"/>\n"
      }
      drawing += "<polyline class=\"line\(color)\" points=\"\(points(places, \.mean))\"/>\n"
    }
    return drawing
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
  private func ticks(_ direction: PDUDirection, _ scale: SVGScale, y: Int) -> String {
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
