import Bluetooth
import EventLoop
import Terminal
import Text

/// The progress of a transfer: a bar on the terminal, records with `--json`, four times a second at most.
@LoopActor
final class Progress {
  private let total: Int
  private let offset: Int
  private let output: Output
  private let start = EventLoop.shared.now
  private var shown: Int?
  /// Set by a timer: an update is asked for with every segment, and to look at the clock would cost as much as to send one.
  private var isDue = true
  private var timer: LoopTimer?

  init(_ total: Int, _ offset: Int, _ output: Output) {
    self.total = total
    self.offset = offset
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
      }
    } else if output.canAnimateErr {
      let seconds = start.duration(to: EventLoop.shared.now).inSeconds
      let rate = seconds > 0 ? Double(done) / seconds / 1000 : 0
      let cells = min(30, max(0, done * 30 / max(1, total)))
      let bar = String(repeating: "█", count: cells) + String(repeating: "░", count: 30 - cells)
      let line =
        "\(bar) \(done * 100 / max(1, total)) %  \(done + offset)/\(total + offset) octets  \((rate * 10).rounded() / 10) kB/s"
      output.progress(DisplayText.clip(line, to: output.width))
    }
  }

  func end() {
    timer?.cancel()
    output.clearTransient()
  }
}
