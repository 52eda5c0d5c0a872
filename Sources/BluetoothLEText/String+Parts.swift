// SPDX-License-Identifier: Apache-2.0
extension String {
  /// Returns the text after `prefix`. Returns nil if the text does not start with `prefix`.
  package func after(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }

  /// The text without white space at both ends.
  package var trimmed: String {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text = text.dropFirst() }
    while let last = text.last, last.isWhitespace { text = text.dropLast() }
    return String(text)
  }

  /// The name of a device without padding at both ends: NULs and other control characters, and white space.
  package var unpadded: String {
    let isPadding = { (scalar: Unicode.Scalar) in scalar.value < 0x21 || scalar.value == 0x7F || scalar.properties.isWhitespace }
    guard let first = unicodeScalars.first, let last = unicodeScalars.last, isPadding(first) || isPadding(last) else { return self }
    guard let start = unicodeScalars.firstIndex(where: { !isPadding($0) }), let end = unicodeScalars.lastIndex(where: { !isPadding($0) })
    else { return "" }
    return String(unicodeScalars[start...end])
  }

  /// The text with a full stop at the end, unless the text already ends in `.`, `?`, `!` or `…`.
  package var asSentence: String { last.map { ".?!…".contains($0) } ?? true ? self : self + "." }

  /// Returns the text as a sentence. A command after a colon gets no full stop, because people copy it. `program` is its first word.
  package func asMessage(of program: String) -> String {
    // A command ends the text, also if one of its words contains a colon.
    if let command = ranges(of: ": \(program) ").last, !self[command.upperBound...].contains(". ") { return self }
    guard let colon = ranges(of: ": ").last else { return asSentence }
    let start = [". ", "? ", ".) "].compactMap { self[..<colon.lowerBound].ranges(of: $0).last?.upperBound }.max() ?? startIndex
    // The sentence may follow a place, as in `wait ff01 00: Put …`.
    let opened = self[start..<colon.lowerBound].ranges(of: ": ").last?.upperBound ?? start
    let opening = self[opened..<colon.lowerBound].drop { $0 == " " }.prefix { $0 != " " }
    let isCommand = ["\(program) ", "sudo ", "bluetoothctl ", "rfkill ", "-", "`", "'", "{"].contains {
      self[colon.upperBound...].hasPrefix($0)
    }
    let asksForMore = [" needs ", " takes ", " is missing", " has no name"].contains { self[start..<colon.lowerBound].contains($0) }
    return isCommand || asksForMore || Self.advising.contains(String(opening)) ? self : asSentence
  }

  /// Returns the text with its advice as a session takes it: `blectl unpair X && blectl pair X` becomes `unpair X; pair X`.
  /// - Parameter commands: The commands of the program, and whether the session has them. The shell has the others.
  package func atPrompt(of program: String, _ commands: [String: Bool]) -> String {
    guard !commands.isEmpty, contains("\(program) ") else { return self }
    return commands.reduce(self) { text, command in
      guard command.value else { return text.replacing(": \(program) \(command.key)", with: ": !\(program) \(command.key)") }
      return [(": ", ": "), ("`", "`"), (" && ", "; ")].reduce(text) {
        $0.replacing("\($1.0)\(program) \(command.key)", with: "\($1.1)\(command.key)")
      }
    }
  }

  /// The first words of sentences that end in a command or another text to type.
  private static let advising: Set = [
    "Add", "Connect", "Did", "Example", "Examples", "For", "If", "In", "List", "Omit", "On", "Or", "Put", "Quote", "Run", "Separate", "To",
    "Try", "Type", "Use", "Write",
  ]
}

extension [String] {
  /// The texts as a list of alternatives, such as `a, b or c`.
  package var alternatives: String { count > 1 ? dropLast().joined(separator: ", ") + " or " + self[count - 1] : first ?? "" }
}

extension BinaryInteger {
  /// Returns the number with a noun, which gets a plural `s` unless the number is 1: `1 device`, `2 devices`.
  package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}
