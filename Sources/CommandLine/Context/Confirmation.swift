import BluetoothLELinux

/// The question before a step that cannot be undone.
@LoopActor
package enum Confirmation {
  /// The time in which the user must answer. The connection to the device stays open during this time.
  private static let limit = Duration.seconds(60)

  /// Returns if the user agrees to the question. Asks only on a terminal.
  /// - Parameter isGiven: Whether `--yes` is the answer.
  /// - Throws: `Failure(.usage)` without an answer on the command line and without a terminal; `Failure(.interrupted)` after a no or Ctrl-C;
  ///   `Failure(.timeout)` without an answer.
  package static func demand(_ question: String, of device: String, isGiven: Bool, _ context: Context) async throws {
    if isGiven { return }
    let state = "Nothing was written to \(device)."
    guard case .terminal(let output, let release) = PairingDialogue.way(context) else {
      throw Failure(.usage, "\(state) blectl asks only on a terminal: \(question) To agree, add --yes.")
    }
    release()
    // A key that the user typed before the question is no answer.
    StandardInput.discard()
    try await ask(question, output, state)
  }

  /// - Parameters:
  ///   - state: The sentence that ends the error without a yes.
  ///   - terminal: The descriptor of the terminal where the user types. Nil for standard input.
  static func ask(_ question: String, _ output: Output, _ state: String, on terminal: Int32? = nil) async throws {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    do {
      let answer = try await withDeadline(deadline) {
        try await KeyQuestion.ask(output, limit: limit, on: terminal) { typed, left in
          "\(question) y or n: \(typed)  (\(left) s left)"
        } answer: { _, key -> Bool? in
          ["y", "n"].contains(key.lowercased()) ? key.lowercased() == "y" : nil
        }
      }
      guard let answer else { throw Failure(.timeout, "There was no answer within \(limit.secondsText) s. \(state)") }
      // Ctrl-D is a no.
      guard answer == true else { throw Failure(.interrupted, state) }
    } catch is CancellationError { throw Failure(.interrupted, state) }
  }
}
