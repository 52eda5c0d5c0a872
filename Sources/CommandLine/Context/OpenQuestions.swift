/// The questions of running commands. In a session for programs, the line `answer ID TEXT` answers them.
@LoopActor
package final class OpenQuestions {
  private struct Question {
    let wanted: String
    let accepts: (String) -> Bool
    let answer: Wait<String>
  }

  /// Gives the terminal to a question. Nil unless a session with a line editor runs.
  package var releaseTerminal: (@LoopActor () -> Void)?
  private var open: [String: Question] = [:]

  package nonisolated init() {}

  package var areOpen: Bool { !open.isEmpty }

  /// Waits for the answer to the question of a command.
  /// - Parameters:
  ///   - id: The identifier of the command.
  ///   - wanted: The permitted answers, for the error message of another answer.
  /// - Throws: CancellationError.
  func ask(_ id: String, _ wanted: String, accepts: @escaping (String) -> Bool) async throws -> String {
    let question = Question(wanted: wanted, accepts: accepts, answer: Wait())
    open[id] = question
    // The program answers in real time.
    EventLoop.shared.virtualTime.standsStill = EventLoop.shared.isVirtual
    defer {
      open[id] = nil
      EventLoop.shared.virtualTime.standsStill = areOpen && EventLoop.shared.isVirtual
    }
    return try await question.answer.value()
  }

  /// Answers the question of a command.
  /// - Returns: Nil after a valid answer.
  package func answer(_ id: String, _ text: String) -> Failure? {
    guard let question = open[id] else { return Failure(.notFound, "The command with the ID \(DisplayText.quote(id)) asks nothing.") }
    // The wrong answer may be a secret.
    guard question.accepts(text) else { return Failure(.usage, "The answer must be \(question.wanted).") }
    question.answer.resume(returning: text)
    return nil
  }
}
