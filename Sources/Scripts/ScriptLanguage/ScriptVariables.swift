package import BluetoothLEText

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
  /// - Parameter placeholder: Returns the text for a name that has no value. If it is nil, such a name is an error.
  /// - Throws: MissingVariable with the first name that has no value; LongText.
  package func text(of word: ShellWord, else placeholder: (_ name: String) -> String? = { _ in nil }) throws -> String {
    var length = 0
    return try word.replaced { name in
      guard let value = value(name) ?? placeholder(name) else { throw MissingVariable(name: name) }
      length += value.utf8.count
      if length > LongText.limit { throw LongText() }
      return value
    }
  }
}

/// The error of a word that is too long with the values of its variables. Each `set A $A$A` doubles a value.
package struct LongText: Error, Equatable {
  /// The maximum lengths in bytes: of the values in a word, and of all words with values.
  static let (limit, limitOfScript) = (64 << 10, 16 << 20)
  package static let reason = "The values of the variables are too long: at most 64 KiB in a word, and 16 MiB in a script."
}

package struct MissingVariable: Error, Equatable { package let name: String }
