/// A line, or a position in a line, of a script file.
package struct ScriptPlace: Sendable, Hashable {
  /// The name of the file as the user gave it.
  package var file: String
  /// The line number, from 1.
  package var line: Int
  /// The column in characters, from 1. Nil stands for the whole line.
  package var column: Int?

  package init(file: String, line: Int, column: Int? = nil) {
    self.file = file
    self.line = line
    self.column = column
  }
}

/// A mistake in a script, with its place and the reason.
package struct ScriptError: Error, Sendable, Hashable {
  package let place: ScriptPlace
  package let reason: String
  /// Whether the mistake is a named file that is missing or that blectl cannot read.
  package var isOfFile = false

  package init(_ place: ScriptPlace, _ reason: String) { (self.place, self.reason) = (place, reason) }
}

/// The mistakes in the scripts of a run. The mistakes of each script are in the order of their places.
package struct ScriptErrors: Error, Sendable, Equatable {
  package private(set) var errors: [ScriptError]

  /// The number of mistakes after which a check stops. A check that finds one more shows that more follow.
  package static let limit = 100

  /// Sorts the mistakes and removes duplicates. A script that includes a file twice produces duplicates.
  /// - Parameter file: The name of the script. Its mistakes precede those of included files.
  package init(_ mistakes: [ScriptError] = [], of file: String = "") {
    func key(_ error: ScriptError) -> (String, Int, Int) {
      (error.place.file == file ? "" : error.place.file, error.place.line, error.place.column ?? 0)
    }
    errors = Set(mistakes).sorted { key($0) == key($1) ? $0.reason < $1.reason : key($0) < key($1) }
  }

  package mutating func add(_ other: Self) { errors += other.errors.filter { !errors.contains($0) } }

  /// Throws this error if it contains at least one mistake.
  package func check() throws(ScriptErrors) { if !errors.isEmpty { throw self } }
}
