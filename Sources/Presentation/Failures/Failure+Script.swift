import ScriptLanguage
import Text

extension Failure {
  /// Creates the failure of a script. A missing file has its own exit code, unless the script also has mistakes.
  init(_ error: ScriptErrors) {
    let failures = error.errors.map { Failure($0) }
    let more = failures.count > 1 ? " (and \(failures.count - 1) more mistakes)" : ""
    self.init(failures.contains { $0.kind == .usage } ? .usage : .input, (failures.first?.message ?? "") + more)
  }

  init(_ error: ShellWordsError) {
    switch error {
    case .unterminated(let mark): self.init(.usage, "A quote \(mark) is not closed. Add the closing \(mark)")
    case .endsInBackslash: self.init(.usage, "The line ends in \\, but no line follows.")
    case .notAVariable(let name): self.init(.usage, "${\(DisplayText.escape(name))} is not a valid variable.")
    case .severalCommands: self.init(.usage, "Write one command per line. Put the command after the ; on a new line, or quote the ;.")
    }
  }

  init(_ error: ScriptError) { self.init(error.isOfFile ? .input : .usage, "\(error.place.text): \(error.reason)") }
}

extension ScriptPlace {
  /// The place in the form of compilers, `FILE:LINE:COLUMN`, which editors understand.
  var text: String { "\(DisplayText.escape(file)):\(line)" + (column.map { ":\($0)" } ?? "") }
}
