// SPDX-License-Identifier: Apache-2.0
/// A case-insensitive shell pattern for names. `*` is any text, `?` a character, `[a-c]` and `[!a-c]` a character of a set. A backslash
/// quotes the next character.
package struct Glob: Sendable {
  // fnmatch(3) tries every way to split a name among many stars.
  private enum Element: Equatable {
    case any
    case one
    case set([ClosedRange<Character>], isNegated: Bool)
    case character(Character)

    func matches(_ character: Character) -> Bool {
      switch self {
      case .any: false
      case .one: true
      case .set(let ranges, let isNegated): ranges.contains { $0.contains(character) } != isNegated
      case .character(let own): own == character
      }
    }
  }

  private let elements: [Element]

  /// Returns the pattern that matches only the given text.
  package static func literal(_ text: String) -> String { String(text.flatMap { "*?[\\".contains($0) ? "\\\($0)" : "\($0)" }) }

  package init(_ pattern: String) {
    var elements: [Element] = []
    var rest = Substring(pattern.lowercased())
    while let first = rest.popFirst() {
      switch first {
      case "*": if elements.last != .any { elements.append(.any) }
      case "?": elements.append(.one)
      case "\\": elements.append(.character(rest.popFirst() ?? "\\"))
      case "[":
        if let set = Self.set(&rest) { elements.append(set) } else { elements.append(.character("[")) }
      default: elements.append(.character(first))
      }
    }
    self.elements = elements
  }

  package static func matches(_ pattern: String, _ text: String) -> Bool { Glob(pattern).matches(text) }

  /// Whether the pattern has no wildcard, so that it matches a single text.
  package var isLiteral: Bool { elements.allSatisfy { if case .character = $0 { true } else { false } } }

  /// Returns the pattern for a name without its padding. `?` stands for each character that people cannot type.
  package static func typable(_ name: String) -> String {
    name.unpadded.map { $0.unicodeScalars.allSatisfy { DisplayText.isSafe($0) && $0 != "\u{FFFD}" } ? literal("\($0)") : "?" }.joined()
  }

  /// Returns whether the pattern matches the whole name, or the name without its padding.
  /// The time is at most proportional to the pattern's length times the text's length.
  package func matches(_ name: String) -> Bool {
    if matches(whole: name) { return true }
    let unpadded = name.unpadded
    return unpadded.utf8.count < name.utf8.count && matches(whole: unpadded)
  }

  private func matches(whole text: String) -> Bool {
    let text = Array(text.lowercased())
    var (element, position) = (0, 0)
    var retry: (element: Int, position: Int)?
    while position < text.count {
      if element < elements.count, elements[element] == .any {
        retry = (element + 1, position)
        element += 1
      } else if element < elements.count, elements[element].matches(text[position]) {
        element += 1
        position += 1
      } else if let (next, taken) = retry {
        retry = (next, taken + 1)
        (element, position) = (next, taken + 1)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .any }
  }

  /// Parses a set in brackets and consumes it. Returns nil and consumes nothing without a closing bracket.
  private static func set(_ rest: inout Substring) -> Element? {
    var inside = rest
    var isNegated = false
    if let first = inside.first, first == "!" || first == "^" {
      isNegated = true
      inside.removeFirst()
    }
    var ranges: [ClosedRange<Character>] = []
    while let low = inside.popFirst() {
      // A bracket at the start belongs to the set.
      if low == "]", !ranges.isEmpty {
        rest = inside
        return .set(ranges, isNegated: isNegated)
      }
      var high = low
      if inside.first == "-", let end = inside.dropFirst().first, end != "]" {
        high = end
        inside = inside.dropFirst(2)
      }
      ranges.append(min(low, high)...max(low, high))
    }
    return nil
  }
}
