import Bluetooth
import EventLoop
import Operations
import Terminal
import Text

/// The progress of a transfer: a bar on the terminal, records with `--json`, four times a second at most.
@LoopActor
final class Progress {
  private let total: Int
  private let offset: Int
  private let connection: Connection
  private let output: Output
  private let start = EventLoop.shared.now
  private var shown: Int?
  /// Set by a timer: an update is asked for with every segment, and to look at the clock would cost as much as to send one.
  private var isDue = true
  private var timer: LoopTimer?

  init(_ total: Int, _ offset: Int, _ connection: Connection, _ output: Output) {
    self.total = total
    self.offset = offset
    self.connection = connection
    self.output = output
  }

  func update(_ done: Int) throws {
    guard isDue || done == total, done != shown else { return }
    isDue = false
    timer?.cancel()
    timer = EventLoop.shared.schedule(after: .milliseconds(250)) { [weak self] in self?.isDue = true }
    shown = done
    if output.style.json {
      guard !output.style.quiet else { return }
      // One that a slow reader has no room for is left out: the next says more.
      _ = try output.offerRecord {
        $0.string("event", "progress")
        $0.integer("bytes", done + offset)
        $0.integer("total", total + offset)
        connection.identify(in: &$0)
      }
    } else if output.canAnimateErr {
      let seconds = start.duration(to: EventLoop.shared.now).inSeconds
      output.progress(Self.line(done, total, offset, seconds: seconds, width: output.width))
    }
  }

  /// The bar takes what the numbers leave. The last two columns stay free for the `^C` that the terminal shows.
  nonisolated static func line(_ done: Int, _ total: Int, _ offset: Int, seconds: Double, width: Int) -> String {
    var facts = "\(done * 100 / max(1, total)) %  \(done + offset)/\(total + offset) octets  \(Quantity.rate(done, in: seconds))"
    if done > 0, done < total, seconds > 0 { facts += "  \(Quantity.time(Double(total - done) / Double(done) * seconds)) left" }
    let room = min(30, width - 3 - DisplayText.width(facts))
    guard room >= 5 else { return DisplayText.clip(facts, to: max(1, width - 2)) }
    let cells = min(room, max(0, done * room / max(1, total)))
    return String(repeating: "█", count: cells) + String(repeating: "░", count: room - cells) + " " + facts
  }

  func end() {
    timer?.cancel()
    output.clearTransient()
  }
}
