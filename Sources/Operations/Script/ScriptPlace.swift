/// Where something stands in a script.
package struct ScriptPlace: Sendable, Hashable {
  /// As it was named.
  package var file: String
  /// Counted from 1.
  package var line: Int
  /// Counted from 1, in characters; nil: the whole line.
  package var column: Int?

  package init(file: String, line: Int, column: Int? = nil) {
    self.file = file
    self.line = line
    self.column = column
  }
}

/// What is wrong with a script.
package struct ScriptError: Error, Sendable, Equatable {
  package let place: ScriptPlace
  package let reason: String
  /// A file that it names is missing or cannot be read.
  package var isOfFile = false

  package init(_ place: ScriptPlace, _ reason: String) {
    self.place = place
    self.reason = reason
  }
}
