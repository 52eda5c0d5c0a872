package import Text

/// What a value shall be.
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

    /// Whether it says which is the larger one, which only numbers can be.
    package var isOrder: Bool { self != .equal && self != .unequal }
  }

  /// The words that a predicate begins with.
  package static let words = Comparison.allCases.map(\.rawValue) + ["in", "starts", "ends", "contains", "matches", "length", "is"]

  /// What `is` takes besides the formats.
  package static let sorts = ["number", "text", "true", "false", "null", "empty"]
}

extension Predicate {
  /// The words whose variables are replaced.
  package var operands: [ShellWord] {
    switch self {
    case .compares(_, let words), .starts(let words), .ends(let words), .contains(let words): words
    case .range(let word), .isOf(let word): [word]
    case .matches: []
    case .length(let predicate): predicate.operands
    }
  }
}
