import BluetoothLELinux
import CommandLine
import Scripts

/// The numbers that `notify` received: as plots on the terminal, as a sparkline in each line, and as an SVG file.
@LoopActor
final class NotifyPlots {
  private let context: Context
  private let isLive: Bool
  private let path: String?
  private var series: [NumberSeries] = []
  /// The positions in `series` by handle and name of a field.
  private var positions: [AttributeHandle: [String: Int]] = [:]
  /// The latest numbers of each characteristic for its sparkline.
  private var latest: [AttributeHandle: [Double]] = [:]
  private var values = 0
  private var isFull = false
  private var title: String?
  private let live = LiveView()

  /// The maximum number of fields with a plot.
  private static let limit = 16
  private static let sparks = 16

  private var output: Output { context.output }

  /// Creates empty plots. `path` is the SVG file, or nil for none.
  init(isLive: Bool, svg path: String?, _ context: Context) { (self.isLive, self.path, self.context) = (isLive, path, context) }

  func show(_ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from connection: Connection) async throws {
    let meaning = context.process.memory.meaning(of: event.value, at: event.handle, uuid, on: connection)
    if title == nil {
      title = "\(connection.name.map { "\($0)" } ?? "\(connection.peer)"), from \(Timestamp.text(event.wallClock))"
    }
    values += 1
    add(event, meaning, format)
    let formats = meaning.description.formats
    guard isLive else {
      let number = output.style.verbosity > 0 ? ValueNumbers.main(event.value, of: meaning.uuid, formats: formats, as: format) : nil
      if let number { latest[event.handle] = (latest[event.handle] ?? []).suffix(Self.sparks - 1) + [number] }
      let spark = number == nil || !output.canAnimateOut ? "" : Plot.spark(latest[event.handle] ?? [], isUTF8: output.isUTF8)
      return try await NotificationRecord.show(event, uuid, format, from: connection, context, after: spark)
    }
    try ValueText.check(event.value, format)
    context.observer?.didReceive(event, uuid, connection.client)
    try live.redraw(on: output) { [weak self] in self?.lines() ?? [] }
  }

  private func add(_ event: ValueEvent, _ meaning: ValueMeaning, _ format: ValueFormat) {
    guard isLive || path != nil else { return }
    for (index, field) in ValueNumbers.fields(event.value, of: meaning.uuid, formats: meaning.description.formats, as: format).enumerated()
    {
      let key = field.name.isEmpty ? "[\(index + 1)]" : field.name
      if field.numbers.isEmpty {
        if let position = positions[event.handle]?[key] { series[position].interrupt() }
        continue
      }
      if positions[event.handle]?[key] == nil {
        guard series.count < Self.limit else {
          if !isFull { output.note("Plotting only the first \(Self.limit) fields.") }
          isFull = true
          continue
        }
        var name = field.name.isEmpty ? "\(title(of: meaning) ?? event.handle.description)\(index > 0 ? " \(key)" : "")" : field.name
        if let own = meaning.description.userDescription {
          name = "\(own): \(name)"
        } else if let index = meaning.index {
          name += "[\(index)]"
        }
        if series.contains(where: { $0.name == name }) { name += " (\(event.handle))" }
        positions[event.handle, default: [:]][key] = series.count
        series.append(NumberSeries(name: name, unit: field.unit))
      }
      guard let position = positions[event.handle]?[key] else { continue }
      for number in field.numbers { series[position].add(number, at: event.wallClock) }
    }
  }

  /// Returns the name of the characteristic. For a UUID without a name, returns the UUID.
  private func title(of meaning: ValueMeaning) -> String? { meaning.uuid.map { AssignedNumbers.name(of: $0) ?? $0.description } }

  // MARK: The terminal

  private func lines() -> [LiveView.Line] {
    guard !series.isEmpty else { return [line([("No numbers in \(values.counted("value")). Name their format, as in --as u16le", nil)])] }
    // The last line is for the cursor.
    let room = max(1, output.height - 2)
    let height = min(16, room / series.count)
    var lines: [LiveView.Line] = []
    for series in series.prefix(room) {
      let sign = series.unit.map { " \($0)" } ?? ""
      let range = "  min \(Plot.number(series.low))  max \(Plot.number(series.high))"
      let last = "  \(Plot.number(series.latest))\(sign)"
      let plot = Plot(isUTF8: output.isUTF8, width: output.width - 1, height: height - 1).rows(
        series, now: EventLoop.shared.wallClock)
      let spark = plot == nil ? "  " + Plot.spark(series.samples.suffix(Self.sparks).map(\.mean), isUTF8: output.isUTF8) : ""
      lines.append(line([(DisplayText.escape(series.name), .bold), (last + range, nil), (spark, .cyan)]))
      guard let plot else { continue }
      for row in plot.rows { lines.append(line([(row.label + (output.isUTF8 ? "│" : "|"), .dim), (row.drawing, .cyan)])) }
      let gap = max(1, output.width - 1 - plot.ages.first.count - plot.ages.last.count)
      lines.append(line([(plot.ages.first + String(repeating: " ", count: gap) + plot.ages.last, .dim)]))
    }
    return lines
  }

  private func line(_ parts: [(text: String, paint: TerminalStyle?)]) -> LiveView.Line {
    var (text, columns) = ("", 0)
    for part in parts {
      let clipped = DisplayText.clip(output.displayText(part.text), to: max(0, output.width - 1 - columns), ellipsis: "")
      columns += DisplayText.width(clipped)
      text += part.paint.map { output.paint(clipped, $0) } ?? clipped
    }
    return LiveView.Line(text, columns: columns)
  }

  // MARK: The end

  /// Draws the last plots, and writes the file.
  /// - Throws: FileError for a file that cannot be written; Failure(.notFound) if no value had a number.
  func finish() async throws {
    if isLive, live.drawnAt != nil { try await live.finish(lines(), on: output) }
    guard let path else { return }
    let drawn = series.filter { $0.count > 0 }
    guard !drawn.isEmpty else {
      let advice = values == 0 ? "" : " Name the format of the values, as in --as u16le"
      throw Failure(.notFound, "Cannot draw \(DisplayText.quote(path)): received no number in \(values.counted("value")).\(advice)")
    }
    try await OutputFile.write(Array(SVGPlot.document(title: title ?? "", drawn).utf8), to: path, for: .everybody)
  }
}
