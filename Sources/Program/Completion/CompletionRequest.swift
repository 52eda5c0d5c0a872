package import CommandLine

/// A request of a completion script, such as `blectl ---complete bash …`. After an error, the answer has no candidates.
package struct CompletionRequest {
  static let word = "---complete"

  let dialect: ShellDialect
  let question: ShellDialect.Question

  /// Returns whether the command line is a request of a completion script.
  /// - Parameter arguments: All words, including the program's name.
  package static func isAsked(by arguments: [String]) -> Bool { arguments.count > 1 && arguments[1] == word }

  /// Parses the words of a request. Nil for an invalid request.
  package init?(_ arguments: [String]) {
    guard Self.isAsked(by: arguments), arguments.count > 2, let dialect = ShellDialect(rawValue: arguments[2]),
      let question = dialect.question(Array(arguments.dropFirst(3)))
    else { return nil }
    self.dialect = dialect
    self.question = question
  }

  package func run(_ commands: CommandSet, _ environment: [String: String]) {
    let question = question
    let answer = try? EventLoop.shared.run {
      CommandLineCompletion(commands, environment, now: RealTime.now / 1_000_000_000).answer(question.words, question.last)
    }
    guard let answer else { return }
    _ = Output.writeWaiting(.output, dialect.text(of: answer, to: question))
  }
}
