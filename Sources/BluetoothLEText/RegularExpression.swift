// SPDX-License-Identifier: Apache-2.0
/// A regular expression that matches in time and memory proportional to its length times the text's length.
///
/// The matcher follows all alternatives in parallel (K. Thompson, "Regular Expression Search Algorithm", 1968). The syntax has neither
/// references to groups nor lookahead.
package struct RegularExpression: Sendable, CustomStringConvertible {
  // The standard library tries alternatives one after another, which can take exponential time.
  /// The pattern between slashes, followed by `i` if the expression ignores case.
  package let description: String
  /// The maximum number of characters in a pattern, and of steps in the compiled expression.
  static let limit = 4096
  /// The maximum depth of nested groups.
  static let maximumDepth = 32

  package struct Failure: Error, Equatable {
    /// The number of Unicode scalars in the pattern before the error.
    package let offset: Int
    package let reason: String
  }

  enum Step {
    case scalar(Scalars)
    /// A fork, after which the matcher continues at both step indices.
    case fork(Int, Int)
    case jump(Int)
    case begins, ends
    /// A condition on the position: a word boundary (true) or no word boundary (false).
    case edge(Bool)
    case matches
  }

  /// A set of Unicode scalars, given by ranges or by the complement of ranges.
  struct Scalars {
    var ranges: [ClosedRange<UInt32>] = []
    var isInverted = false

    /// The only scalar of the set. Nil if the set has no scalar or several.
    var only: UInt32? { !isInverted && ranges.count == 1 && ranges[0].count == 1 ? ranges[0].lowerBound : nil }

    func contains(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } != isInverted }
  }

  private let steps: [Step]

  /// Parses a regular expression.
  /// - Parameter ignoresCase: Whether upper and lower case ASCII letters match each other.
  package init(_ pattern: String, ignoresCase: Bool = false) throws(Failure) {
    var parser = RegularExpressionParser(pattern, ignoresCase)
    steps = try parser.parsed()
    description = "/\(pattern.replacing("/", with: "\\/"))/" + (ignoresCase ? "i" : "")
  }

  /// Returns whether any part of the text matches.
  package func matches(_ text: String) -> Bool {
    let scalars = text.unicodeScalars.map(\.value)
    // The step at an index is in `next` if `marks` has this position: each step is followed once.
    var marks = [Int](repeating: -1, count: steps.count)
    var (present, next): ([Int], [Int]) = ([], [])
    for position in 0...scalars.count {
      // A match may start anywhere.
      if follow(0, position, scalars, &marks, &present) { return true }
      guard position < scalars.count else { return false }
      next.removeAll(keepingCapacity: true)
      for index in present {
        if case .scalar(let set) = steps[index], set.contains(scalars[position]),
          follow(index + 1, position + 1, scalars, &marks, &next)
        {
          return true
        }
      }
      swap(&present, &next)
    }
    return false
  }

  /// Adds to `list` the steps reachable from step `start` that consume the scalar at `position`. Returns whether a match ends there.
  private func follow(_ start: Int, _ position: Int, _ scalars: [UInt32], _ marks: inout [Int], _ list: inout [Int]) -> Bool {
    var open = [start]
    while let index = open.popLast() {
      guard marks[index] != position else { continue }
      marks[index] = position
      switch steps[index] {
      case .matches: return true
      case .scalar: list.append(index)
      case .jump(let to): open.append(to)
      case .fork(let one, let other): open += [one, other]
      case .begins: if position == 0 { open.append(index + 1) }
      case .ends: if position == scalars.count { open.append(index + 1) }
      case .edge(let wanted):
        let before = position > 0 && Self.word.contains(scalars[position - 1])
        let after = position < scalars.count && Self.word.contains(scalars[position])
        if (before != after) == wanted { open.append(index + 1) }
      }
    }
    return false
  }

  static let digit = Scalars(ranges: [0x30...0x39])
  static let word = Scalars(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  static let space = Scalars(ranges: [0x09...0x0D, 0x20...0x20])
}
