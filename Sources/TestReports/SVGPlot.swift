/// A plot of numbers over time.
struct SVGPlot {
  struct Point {
    let at: Duration
    /// The value of the point, which is finite.
    let number: Double
  }

  let name: String
  let unit: String?
  /// The points in their order, at least one.
  let points: [Point]

  private static let (width, height, left) = (800.0, 150.0, 60.0)
  /// The maximum number of points with a circle. More points have only the line.
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

  /// Returns the polyline. For the points in one column, draws only the lowest and the highest.
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
