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
}

extension BinaryInteger {
  /// Returns the number with a noun, which gets a plural `s` unless the number is 1: `1 device`, `2 devices`.
  package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}
