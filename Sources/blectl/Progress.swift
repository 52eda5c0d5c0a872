import Bluetooth
import EventLoop
import Terminal

/// The progress of a transfer: a bar on the terminal, records with `--json`, four times a second at most.
@LoopActor
final class Progress {
  private let total: Int
  private let offset: Int
  private let output: Output
  private let start = EventLoop.shared.now
  private var shownAt: LoopClock.Instant?
  private var shown: Int?

  init(_ total: Int, _ offset: Int, _ output: Output) {
    self.total = total
    self.offset = offset
    self.output = output
  }

  func update(_ done: Int) throws {
    let now = EventLoop.shared.now
    if done < total, let shownAt, shownAt.duration(to: now) < .milliseconds(250) { return }
    guard done != shown else { return }
    shownAt = now
    shown = done
    if output.style.json {
      guard !output.style.quiet else { return }
      try output.record {
        $0.string("event", "progress")
        $0.integer("bytes", done + offset)
        $0.integer("total", total + offset)
      }
    } else if output.canAnimateErr {
      let seconds = start.duration(to: now).inSeconds
      let rate = seconds > 0 ? Double(done) / seconds / 1000 : 0
      let cells = min(30, max(0, done * 30 / max(1, total)))
      let bar = String(repeating: "█", count: cells) + String(repeating: "░", count: 30 - cells)
      let line =
        "\(bar) \(done * 100 / max(1, total)) %  \(done + offset)/\(total + offset) octets  \((rate * 10).rounded() / 10) kB/s"
      output.progress(DisplayText.clip(line, to: output.width))
    }
  }

  func end() { output.clearTransient() }
}
