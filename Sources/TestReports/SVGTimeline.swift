import ATT

/// A timeline of the steps and packets of a test.
struct SVGTimeline {
  let packets: [TestPacket]
  let steps: [StepResult]
  let duration: Duration

  private static let (width, left) = (800.0, 60.0)

  /// The drawing. Empty without packets.
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

  /// Draws packets as ticks. Packets at the same position share one.
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
