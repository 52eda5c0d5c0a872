package import BluetoothLE

/// A bar chart of the rates of transfer trials as a standalone SVG file. The red part of a bar is the lost part of the sent bytes.
package struct TransferPlot {
  private let results: [TransferTrial.Result]

  package init(_ results: [TransferTrial.Result]) { self.results = results }

  private static let (width, left, row) = (800, 300, 22)

  package var document: String {
    let height = Self.row * results.count + 50
    var drawing = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="13" role="img" aria-label="bytes per second of each trial">
      <rect width="100%" height="100%" fill="#fff"/>

      """
    let scale = SVGScale(0, max(1, results.map { Self.sent($0) / 1000 }.max() ?? 1), from: Double(Self.left), to: Double(Self.width - 60))
    let bottom = Self.row * results.count + 10
    for tick in scale.ticks {
      let x = SVGScale.coordinate(scale.place(tick))
      drawing +=
        "<path d=\"M\(x) 6V\(bottom)\" stroke=\"#ddd\"/><text x=\"\(x)\" y=\"\(bottom + 16)\" text-anchor=\"middle\">\(SVGScale.number(tick))</text>\n"
    }
    for (index, result) in results.enumerated() {
      let y = Self.row * index + 10
      let (arrived, sent) = (scale.place(result.rate / 1000), scale.place(Self.sent(result) / 1000))
      drawing += "<text x=\"\(Self.left - 8)\" y=\"\(y + 13)\" text-anchor=\"end\">\(HTMLReport.text(Self.name(result.trial)))</text>"
      drawing += bar(y, Double(Self.left), arrived, "#2a7") + bar(y, arrived, sent, "#d44")
      drawing +=
        "<text x=\"\(SVGScale.coordinate(sent + 6))\" y=\"\(y + 13)\">\(SVGScale.number((result.rate / 100).rounded() / 10))</text>\n"
    }
    drawing += "<text x=\"\(Self.left)\" y=\"\(bottom + 34)\">kB/s received. Red: sent but lost.</text>\n"
    return drawing + "</svg>\n"
  }

  private static func sent(_ result: TransferTrial.Result) -> Double { result.seconds > 0 ? Double(result.sent) / result.seconds : 0 }

  private static func name(_ trial: TransferTrial) -> String {
    guard trial.mode == .command else { return "request, \(trial.segment)" }
    let gap = trial.gap.map { "\(SVGScale.number($0.inMilliseconds)) ms" } ?? "auto pause"
    return "command, \(trial.segment), \(trial.window.map { "\($0) in flight" } ?? "auto"), \(gap)"
  }

  private func bar(_ y: Int, _ from: Double, _ to: Double, _ colour: String) -> String {
    guard to - from >= 0.5 else { return "" }
    return
      "<rect x=\"\(SVGScale.coordinate(from))\" y=\"\(y)\" width=\"\(SVGScale.coordinate(to - from))\" height=\"16\" fill=\"\(colour)\"/>"
  }
}
