package import Text

/// The variables of a script, and what is known of them.
package struct ScriptVariables: Sendable {
  /// Nil: it has a value by then, which is not known yet.
  private var values: [String: String?] = [:]
  /// Those that stand above what the script sets.
  private let fixed: [String: String]

  package init(_ fixed: [String: String] = [:]) {
    self.fixed = fixed
    for (name, value) in fixed { values[name] = value }
  }

  package static func isName(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && !(text.first?.isNumber ?? true) && text.utf8.count <= 64
      && text.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  package mutating func set(_ name: String, _ value: String?) {
    if fixed[name] == nil { values[name] = value }
  }

  /// A result stands above what was given before.
  package mutating func capture(_ name: String, _ value: String?) { values.updateValue(value, forKey: name) }

  package func isKnown(_ name: String) -> Bool { values[name] != nil }

  /// Nil for one that is not known, or has no value yet.
  package func value(_ name: String) -> String? { values[name] ?? nil }

  package var names: [String] { values.keys.sorted() }

  /// - Throws: the name of the first that has no value.
  package func text(of word: ShellWord) throws(MissingVariable) -> String {
    try word.replaced { name throws(MissingVariable) in
      guard let value = value(name) else { throw MissingVariable(name: name) }
      return value
    }
  }
}

package struct MissingVariable: Error, Equatable {
  package let name: String
}
