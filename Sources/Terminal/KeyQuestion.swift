package import BluetoothLE
import Glibc

/// A question on the terminal that the user answers with single keys, and that shows the remaining time.
@LoopActor
package final class KeyQuestion {
  private let output: Output
  private let deadline: LoopClock.Instant
  private let text: (_ typed: String, _ secondsLeft: Int64) -> String
  private var typed = ""
  /// The typed text that a terminal without control sequences shows.
  private var shown: String?

  private init(_ output: Output, _ deadline: LoopClock.Instant, _ text: @escaping (String, Int64) -> String) {
    (self.output, self.deadline, self.text) = (output, deadline, text)
  }

  /// Shows the question until a key answers it.
  /// - Parameters:
  ///   - limit: The time that the question shows as remaining. It does not end the question.
  ///   - terminal: The descriptor of the terminal where the user types. Nil for standard input.
  ///   - text: The line, from the typed text and the remaining seconds.
  ///   - answer: Receives each key, and returns the answer. Nil waits for another key.
  /// - Returns: Nil if the descriptor is not that of a terminal, or at Ctrl-D.
  /// - Throws: CancellationError.
  package static func ask<Answer: Sendable>(
    _ output: Output, limit: Duration, on terminal: Int32? = nil, _ text: @escaping (_ typed: String, _ secondsLeft: Int64) -> String,
    answer: (inout String, Character) -> Answer?
  ) async throws -> Answer? {
    let terminal = terminal ?? STDIN_FILENO
    guard let mode = TerminalMode(terminal) else { return nil }
    let loop = EventLoop.shared
    let question = KeyQuestion(output, loop.now.advanced(by: limit), text)
    mode.enter(undoing: "")
    // The user types in real time.
    let stoodStill = loop.virtualTime.standsStill
    loop.virtualTime.standsStill = loop.isVirtual
    let clock = loop.spawn {
      repeat { question.show() } while (try? await EventLoop.shared.sleep(for: .seconds(1))) != nil
    }
    defer {
      clock.cancel()
      loop.virtualTime.standsStill = stoodStill
      mode.leave()
      output.clearTransient()
    }
    while true {
      _ = try await loop.wait(for: terminal, .readable)
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = unsafe read(terminal, &buffer, buffer.count)
      guard count > 0 else { return nil }
      for byte in buffer[..<count] {
        let key = Character(UnicodeScalar(byte))
        switch key {
        case "\u{4}": return nil
        case "\u{7F}", "\u{8}": question.typed = String(question.typed.dropLast())
        default: if let answer = answer(&question.typed, key) { return answer }
        }
      }
      question.show()
    }
  }

  private func show() {
    let line = text(typed, max(0, EventLoop.shared.now.duration(to: deadline).components.seconds))
    if output.canAnimateErr { return output.progress(line) }
    if shown != typed { output.message(line) }
    shown = typed
  }
}
