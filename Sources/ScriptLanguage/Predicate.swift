package import Text

/// A condition for a value.
package indirect enum Predicate: Sendable {
  case compares(Comparison, [ShellWord])
  case range(ShellWord)
  case starts([ShellWord])
  case ends([ShellWord])
  case contains([ShellWord])
  case matches(RegularExpression)
  case length(Predicate)
  case isOf(ShellWord)

  package enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case atMost = "<="
    case greater = ">"
    case atLeast = ">="

    /// Whether it orders its operands, which must be numbers.
    package var isOrder: Bool { self != .equal && self != .unequal }
  }

  /// The words that start a predicate.
  package static let words = Comparison.allCases.map(\.rawValue) + ["in", "starts", "ends", "contains", "matches", "length", "is"]

  /// The words that `is` accepts in addition to formats.
  package static let sorts = ["number", "text", "true", "false", "null", "empty"]
}

extension Predicate {
  /// The words that may contain variables.
  package var operands: [ShellWord] {
    switch self {
    case .compares(_, let words), .starts(let words), .ends(let words), .contains(let words): words
    case .range(let word), .isOf(let word): [word]
    case .matches: []
    case .length(let predicate): predicate.operands
    }
  }
}
