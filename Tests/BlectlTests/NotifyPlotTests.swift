import Foundation
import Glibc
import Terminal
import TestSupport

/// The plots of `notify`: as SVG and on a terminal.
@Suite(.timeLimit(.minutes(15))) struct NotifyPlotTests {
  private static let band = ["notify", "name:Band-7", "2a37"]

  @Test func anHourIsDrawn() throws {
    let file = TemporaryPath()
    let result = try Blectl.run(Self.band + ["-d", "60m", "--svg", file.path])
    #expect(result.status == 0 && !result.text.isEmpty, "\(result.errors)")
    let drawing = try String(contentsOfFile: file.path, encoding: .utf8)
    for part in [">Band-7, from 2", ">Heart Rate, bpm: 3", " values from 7", ">40 min<", ">bpm<", "<polyline class=\"line\""] {
      #expect(drawing.contains(part), "\(part) in \(drawing.prefix(1500))")
    }
    #expect(drawing.utf8.count < 100_000)
  }

  @Test func controlCDoesNotPreventIt() throws {
    let file = TemporaryPath()
    let running = try Blectl.start(Self.band + ["--svg", file.path])
    #expect(running.waitForOutput(containing: "2a37", times: 3))
    #expect(running.end(by: SIGINT).status == 130)
    #expect(try String(contentsOfFile: file.path, encoding: .utf8).contains(">Heart Rate, bpm: "))
  }

  @Test func valuesWithoutNumbersAreAnError() throws {
    let file = TemporaryPath()
    let command = ["notify", "name:Band-7", "ff01", "--write", "ff02=1b9902", "-d", "2", "--svg", file.path]
    let result = try Blectl.run(command)
    #expect(
      result.status == 2 && result.errors.contains("received no number in ") && result.errors.contains("--as u16le"), "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(try Blectl.run(command + ["--as", "u8"]).status == 0)
    #expect(try String(contentsOfFile: file.path, encoding: .utf8).contains("ff01 [2]: "))
  }

  @Test func standardOutputHasTheValues() throws {
    let result = try Blectl.run(Self.band + ["-n", "1", "--svg", "-"])
    #expect(result.status == 64 && result.errors.contains("--svg takes the name of a file"), "\(result.errors)")
  }

  @Test(arguments: [[], ["--json"], ["--csv"], ["--format", "{value}"]]) func aPlotNeedsATerminal(_ options: [String]) throws {
    let result = try Blectl.run(Self.band + ["--plot", "-n", "1"] + options)
    #expect(result.status == 64 && result.output.isEmpty && result.errors.contains("--svg FILE"), "\(result.errors)")
  }

  private func screen(_ options: [String], columns: Int, rows: Int, locale: String = "C.UTF-8") throws -> (Int32, TerminalScreen) {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim"] + Self.band + options, columns: columns, rows: rows,
      environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1"], locale: locale)
    let (status, text) = terminal.finish()
    return (status, TerminalScreen(Array(text.utf8), columns: columns))
  }

  @Test(arguments: [(40, 10), (100, 30)], ["C.UTF-8", "C"]) func thePlotFitsTheTerminal(_ size: (Int, Int), _ locale: String) throws {
    let (status, screen) = try screen(["--plot", "-d", "20"], columns: size.0, rows: size.1, locale: locale)
    #expect(status == 0 && screen.unknown.isEmpty, "\(screen)")
    let head = try #require(screen.lines.lastIndex { $0.hasPrefix("Heart Rate  ") && $0.contains(" bpm  min 7") && $0.contains("max 7") })
    let plot = screen.lines[head...]
    let isDrawn = plot.contains { line in
      line.unicodeScalars.contains { locale == "C" ? $0 == "*" : (0x2801...0x28FF).contains($0.value) }
    }
    #expect(plot.count < size.1 && isDrawn, "\(plot)")
    #expect(plot.contains { $0.hasSuffix("now") } && !screen.lines.contains { $0.contains("2a37 ") })
  }

  @Test func aVerboseLineHasASparkline() throws {
    let (status, screen) = try screen(["-v", "-n", "5"], columns: 100, rows: 24)
    #expect(
      status == 0 && screen.lines.contains { $0.contains(" bpm") && $0.last.map { "▁▂▃▄▅▆▇█".contains($0) } == true }, "\(screen.lines)")
  }

  /// The memory has a limit, and the peak of an early hour stays.
  @Test func thinningKeepsPeaks() {
    var series = NumberSeries(name: "x", unit: nil)
    for index in 0..<100_000 { series.add(index == 1234 ? 99 : index == 50_001 ? -99 : Double(index % 7), at: Int64(index)) }
    series.add(.infinity, at: 1)
    series.add(3, at: 5)
    #expect(series.count == 100_001 && series.samples.count <= NumberSeries.limit && series.samples.count > NumberSeries.limit / 2 - 1)
    #expect(series.samples.contains { $0.high == 99 && ($0.time...$0.end).contains(1234) } && series.latest == 3)
    #expect(series.samples.contains { $0.low == -99 && ($0.time...$0.end).contains(50_001) })
    #expect(zip(series.samples, series.samples.dropFirst()).allSatisfy { $0.end <= $1.time } && series.samples.last?.end == 99_999)
    // All samples stand for the same number of numbers, so that an hour has one resolution.
    #expect(Set(series.samples.dropLast().map(\.count)).count == 1 && series.samples.map(\.count).reduce(0, +) == 100_001)
  }

  /// A pause of more than eight usual ones is a gap, also after thinning.
  @Test func missingNumbersAreAGap() {
    var series = NumberSeries(name: "x", unit: nil)
    for index in 0..<20_000 where !(9_000..<10_000).contains(index) { series.add(Double(index % 7), at: Int64(index) * 1_000_000) }
    #expect(series.samples.count { $0.followsGap } == 1 && series.samples.first { $0.followsGap }?.time == 10_000_000_000)
    #expect(!series.samples.contains { $0.time < 9_000_000_000 && $0.end >= 10_000_000_000 })
  }

  /// On a terminal, an hour is a shaded band with a line of means inside, and a gap is empty.
  @Test func anHourIsNoSolidBlock() throws {
    var series = NumberSeries(name: "x", unit: "°C")
    for index in 0..<7200 where !(3000..<3600).contains(index) {
      series.add(index.isMultiple(of: 2) ? 10 : 30, at: Int64(index) * 500_000_000)
    }
    let plot = try #require(Plot(isUTF8: false, width: 70, height: 12).rows(series, now: 3_600_000_000_000))
    #expect(plot.rows.first?.label.hasPrefix("30 °C") == true, "\(plot.rows)")
    let drawing = plot.rows.map(\.drawing)
    #expect(drawing.first?.contains("...") == true && drawing.first?.contains("*") == false, "\(drawing)")
    #expect(drawing.contains { $0.contains("***") }, "\(drawing)")
    let columns = drawing.map { Array($0) }
    let isEmpty = (0..<(columns.map(\.count).min() ?? 0)).filter { column in columns.allSatisfy { $0[column] == " " } }
    #expect((3...7).contains(isEmpty.count), "\(drawing)")
  }

  /// A device that sends less often from some time on has one gap there.
  @Test func aSlowerDeviceHasOneGap() {
    var series = NumberSeries(name: "x", unit: nil)
    for index in 0..<5 { series.add(1, at: Int64(index) * 100_000_000) }
    for index in 1...100 { series.add(2, at: Int64(index) * 10_000_000_000) }
    #expect((1...12).contains(series.samples.count { $0.followsGap }) && series.samples.last?.followsGap == false)
  }

  /// A value that is not known leaves a gap in a plot, and an empty cell in a table.
  @Test func unknownValues() throws {
    let device = #"""
      [{"name": "Gap", "address": "D1:00:00:00:00:41/random", "advertisement": {"name": "Gap"}, "services": [{"uuid": "181a",
        "characteristics": [{"uuid": "2a6f", "properties": ["notify"], "periodic": {"every_ms": 1000,
          "values": ["8813", "ec13", "ffff", "8813", "ec13"]}}]}]}]
      """#
    let (adapter, svg) = ("sim:\(try TemporaryFolder.file(device))", TemporaryFolder.path())
    let table = try Blectl.run(["notify", "Gap", "2a6f", "-n", "5", "--csv", "--svg", svg], adapter: adapter)
    #expect(
      table.lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false).last } == ["50", "51", "", "50", "51"])
    #expect(try String(contentsOfFile: svg, encoding: .utf8).matches(of: /<polyline/).count == 2, "\(table.errors)")
  }

  /// Numbers of which the next ones are more than 1 apart.
  @Test(arguments: [Double(UInt64.max), 1e300, -1e300, .greatestFiniteMagnitude, 0x1p53]) func aHugeConstantIsDrawn(_ value: Double) {
    #expect(Plot(isUTF8: true, width: 60, height: 8).rows([(0, value), (1, value)], now: 9)?.rows.count == 7)
  }

  /// Numbers at the ends of the range of a double, whose difference overflows.
  @Test func hugeNumbersAreDrawn() {
    let samples: [Plot.Sample] = [-1.7e308, 1.7e308, 0, .leastNonzeroMagnitude].enumerated().map { (Int64($0), $1) }
    #expect(Plot(isUTF8: true, width: 40, height: 8).rows(samples, now: 9)?.rows.count == 7)
    #expect(Plot.spark(samples.map(\.value)).count == 4 && Plot.spark([0, .leastNonzeroMagnitude], isUTF8: false) == "==")
  }
}
