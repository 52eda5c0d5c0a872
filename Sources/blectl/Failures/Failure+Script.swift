import Operations
import Text

extension Failure {
  /// A file that is missing has its own exit code, unless a script is wrong besides.
  init(_ error: ScriptErrors) {
    let failures = error.errors.map { Failure($0) }
    let more = failures.count > 1 ? " (and \(failures.count - 1) more mistakes)" : ""
    self.init(failures.contains { $0.kind == .usage } ? .usage : .input, (failures.first?.message ?? "") + more)
  }

  init(_ error: ScriptError) { self.init(error.isOfFile ? .input : .usage, "\(error.place.text): \(error.reason)") }
}

extension ScriptPlace {
  /// As compilers write it, so that editors find it.
  var text: String { "\(DisplayText.escape(file)):\(line)" + (column.map { ":\($0)" } ?? "") }
}
