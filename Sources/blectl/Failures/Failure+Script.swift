import Operations
import Text

extension Failure {
  init(_ error: ScriptError) { self.init(error.isOfFile ? .input : .usage, "\(error.place.text): \(error.reason)") }
}

extension ScriptPlace {
  /// As compilers write it, so that editors find it.
  var text: String { "\(DisplayText.escape(file)):\(line)" + (column.map { ":\($0)" } ?? "") }
}
