package import Text

/// The variables of a script and their known values.
package struct ScriptVariables: Sendable {
  /// The values by variable name. Nil for a variable whose value is only known while the script runs.
  private var values: [String: String?] = [:]
  /// The values from `--set` by variable name, which override the script's `set` lines.
  private let fixed: [String: String]

  package init(_ fixed: [String: String] = [:]) {
    self.fixed = fixed
    for (name, value) in fixed { values[name] = value }
  }

  static let nameRule = "Use letters, digits and _. Do not start with a digit."

  package static func isName(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && !(text.first?.isNumber ?? true) && text.utf8.count <= 64
      && text.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  package mutating func set(_ name: String, _ value: String?) { if fixed[name] == nil { values[name] = value } }

  /// Sets a variable to a result, even if `--set` has given the variable a value.
  package mutating func capture(_ name: String, _ value: String?) { values.updateValue(value, forKey: name) }

  package func isKnown(_ name: String) -> Bool { values[name] != nil }

  /// Returns the value of a variable. Returns nil for an unknown variable and for a variable that has no value yet.
  package func value(_ name: String) -> String? { values[name] ?? nil }

  package var names: [String] { values.keys.sorted() }

  /// Returns the text of a word, in which values replace variables.
  /// - Throws: MissingVariable with the first name that has no value.
  package func text(of word: ShellWord) throws(MissingVariable) -> String {
    try word.replaced { name throws(MissingVariable) in
      guard let value = value(name) else { throw MissingVariable(name: name) }
      return value
    }
  }
}

package struct MissingVariable: Error, Equatable { package let name: String }
