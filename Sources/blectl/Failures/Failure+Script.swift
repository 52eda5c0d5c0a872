import Operations
import Text

extension Failure {
  /// A missing file has its own exit code, unless a script has mistakes as well.
  init(_ error: ScriptErrors) {
    let failures = error.errors.map { Failure($0) }
    let more = failures.count > 1 ? " (and \(failures.count - 1) more mistakes)" : ""
    self.init(failures.contains { $0.kind == .usage } ? .usage : .input, (failures.first?.message ?? "") + more)
  }

  init(_ error: ScriptError) { self.init(error.isOfFile ? .input : .usage, "\(error.place.text): \(error.reason)") }
}

extension ScriptPlace {
  /// The place in the form of compilers, `FILE:LINE:COLUMN`, so that editors find it.
  var text: String { "\(DisplayText.escape(file)):\(line)" + (column.map { ":\($0)" } ?? "") }
}
