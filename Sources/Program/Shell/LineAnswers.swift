import CommandLine

/// The answers to the lines of a session. With `--json`, an answer is a `done` record. Without `--json`, it is the message of a failure.
@LoopActor
final class LineAnswers {
  private let shell: Shell
  private let output: Output
  /// The line number, counted from 1, and the exit status of the first line that failed. Nil if no line has failed.
  private var firstFailure: (line: Int, status: ExitStatus)?

  /// Whether the session answers each line with a JSON record.
  var areRecords: Bool { output.style.json }

  init(_ shell: Shell) {
    self.shell = shell
    output = shell.process.output
  }

  /// Writes the answer to a line.
  /// - Parameters:
  ///   - number: The line number, counted from 1. 0 for a command that is not from a line.
  ///   - error: The failure of the line. Nil after a success.
  /// - Throws: OutputFailure.
  func write(_ id: CommandIdentifier, _ number: Int, _ error: (any Error)?, of device: SessionDevice? = nil) async throws {
    if let error = error as? OutputFailure { throw error }
    // The command already reported an ExitStatus.
    let failure = error is ExitStatus ? nil : error.map { Failure($0) }
    let status = error as? ExitStatus ?? failure?.exitStatus ?? .done
    if status != .done, number < firstFailure?.line ?? .max { firstFailure = (number, status) }
    guard areRecords else {
      guard var failure, !failure.isTold else { return }
      if number > 0 { failure.message = "line \(number): \(failure.message)" }
      return output.failure(failure.message)
    }
    let answer = Output(output.style, sharing: output)
    shell.tag(answer, device)
    try await answer.record {
      $0.string("event", "done")
      id.write(&$0)
      $0.integer("status", status.rawValue)
      if let failure { $0.object("error") { failure.write(&$0) } }
    }
  }

  /// Throws the ExitStatus of the first line that failed. Does nothing if no line failed.
  func finish() throws { if let firstFailure { throw firstFailure.status } }
}
