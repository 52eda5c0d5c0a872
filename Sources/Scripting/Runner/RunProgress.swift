import BluetoothLE
import Terminal

/// The line that shows the running test and its time on a terminal. Other messages replace it.
@LoopActor
final class RunProgress {
  private let output: Output
  private let test: String
  private let start = EventLoop.shared.now
  private var shown: String?
  private var timer: LoopTimer?

  /// Shows the line.
  /// - Parameters:
  ///   - number: The number of the test in the run, from 1.
  ///   - total: The number of tests in the run.
  init(_ output: Output, _ name: String, _ number: Int, of total: Int) {
    self.output = output
    test = "  … \(number)/\(max(number, total)) \(DisplayText.escape(name))"
    if output.canAnimateErr { update() }
  }

  private func update() {
    let seconds = start.duration(to: EventLoop.shared.now).components.seconds
    let time = seconds > 0 ? "  \(seconds) s" : ""
    let text = DisplayText.clip(test, to: max(1, output.width - 2 - time.utf8.count)) + time
    output.progress(text, replacing: shown)
    shown = text
    timer = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.update() }
  }

  /// Erases the line.
  func end() {
    timer?.cancel()
    output.clearTransient()
  }
}
