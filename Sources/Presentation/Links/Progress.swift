import BluetoothLE
import BluetoothLEText
import Terminal

/// A display of a transfer's progress, as a bar on the terminal or as records with `--json`. It changes up to four times a second.
@LoopActor
final class Progress {
  /// The JSON members that identify the device.
  let device: RecordWriter.Members
  private let output: Output
  private var shown: Int?
  /// Whether `update` may show the progress again. A timer sets this flag 250 ms after each update.
  private var isDue = true
  private var timer: LoopTimer?

  init(_ device: RecordWriter.Members, _ output: Output) { (self.device, self.output) = (device, output) }

  func update(_ transfer: FileTransfer) throws {
    let begin = transfer.use.begin
    try update(transfer.progress.sent, of: transfer.total, from: transfer.offset, inFlight: transfer.inFlight, since: begin)
  }

  /// - Parameters:
  ///   - begin: The number of bytes before the start of the transfer.
  ///   - time: The time of the start. Nil before it.
  func update(_ done: Int, of total: Int?, from begin: Int, inFlight: Int, since time: LoopClock.Instant?) throws {
    guard isDue || done == total, done != shown else { return }
    isDue = false
    timer?.cancel()
    timer = EventLoop.shared.schedule(after: .milliseconds(250)) { [weak self] in self?.isDue = true }
    shown = done
    if output.style.json {
      guard !output.style.quiet else { return }
      // Skip a record that a slow reader has no room for: the next one replaces it.
      _ = try output.offerRecord {
        $0.string("event", "progress")
        $0.integer("bytes", done)
        $0.integer("total", total)
        $0.integer("in_flight", inFlight)
        $0.members(device)
      }
    } else if output.canAnimateErr {
      let seconds = time.map { $0.duration(to: EventLoop.shared.now).inSeconds } ?? 0
      output.progress(Self.line(done, total, from: begin, inFlight: inFlight, seconds: seconds, width: output.width))
    }
  }

  /// Returns the progress line. The bar has at most 30 cells, and two columns stay free for the terminal's `^C`.
  /// - Parameters:
  ///   - total: The size of the file in bytes. Nil if unknown.
  ///   - begin: The number of bytes before this transfer's start. The percentage includes these bytes, but the rate does not.
  nonisolated static func line(_ done: Int, _ total: Int?, from begin: Int, inFlight: Int, seconds: Double, width: Int) -> String {
    let rate = Quantity.rate(done - begin, in: seconds)
    guard let total else { return DisplayText.clip("\(Quantity.bytes(done))  \(rate)  \(inFlight) in flight", to: max(1, width - 2)) }
    let share = Double(done) / Double(max(1, total))
    var facts = "\(Int(share * 100)) %  \(done)/\(total) bytes  \(rate)"
    if done > begin, done < total, seconds > 0 { facts += "  \(Quantity.time(Double(total - done) / Double(done - begin) * seconds)) left" }
    let more = "  \(inFlight) in flight"
    if DisplayText.width(facts + more) + 8 <= width { facts += more }
    let room = min(30, width - 3 - DisplayText.width(facts))
    guard room >= 5 else { return DisplayText.clip(facts, to: max(1, width - 2)) }
    let cells = min(room, max(0, Int(share * Double(room))))
    return String(repeating: "█", count: cells) + String(repeating: "░", count: room - cells) + " " + facts
  }

  func end() {
    timer?.cancel()
    output.clearTransient()
  }
}
