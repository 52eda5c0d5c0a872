/// A place in a script.
package struct ScriptPlace: Sendable, Hashable {
  /// The name of the file as the user gave it.
  package var file: String
  /// The line number, from 1.
  package var line: Int
  /// The column in characters, from 1. Nil for the whole line.
  package var column: Int?

  package init(file: String, line: Int, column: Int? = nil) {
    self.file = file
    self.line = line
    self.column = column
  }
}

/// A mistake in a script.
package struct ScriptError: Error, Sendable, Hashable {
  package let place: ScriptPlace
  package let reason: String
  /// Whether a named file is missing or cannot be read.
  package var isOfFile = false

  package init(_ place: ScriptPlace, _ reason: String) {
    self.place = place
    self.reason = reason
  }
}

/// All mistakes of the scripts of a run, in the order of their places.
package struct ScriptErrors: Error, Sendable, Equatable {
  package private(set) var errors: [ScriptError]

  /// Sorts the mistakes and removes duplicates, which a file causes that a script includes twice.
  /// - Parameter file: The script. Its mistakes precede those of included files.
  package init(_ mistakes: [ScriptError] = [], of file: String = "") {
    func key(_ error: ScriptError) -> (String, Int, Int) {
      (error.place.file == file ? "" : error.place.file, error.place.line, error.place.column ?? 0)
    }
    errors = Set(mistakes).sorted { key($0) == key($1) ? $0.reason < $1.reason : key($0) < key($1) }
  }

  package mutating func add(_ other: Self) { errors += other.errors.filter { !errors.contains($0) } }

  /// Throws this error if it contains mistakes.
  package func check() throws(ScriptErrors) { if !errors.isEmpty { throw self } }
}
