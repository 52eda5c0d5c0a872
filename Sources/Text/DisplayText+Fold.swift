extension DisplayText {
  /// As `escape`, but a backslash stays one: for lines that somebody wrote and wants to copy, and for what may have been escaped before.
  /// Doing it twice changes nothing.
  package static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    var visible = ""
    for scalar in text.unicodeScalars {
      if isSafe(scalar) {
        visible.unicodeScalars.append(scalar)
      } else if scalar.isASCII {
        visible += "\\x" + Hex.encode(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        visible += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
    return visible
  }

  /// Lines of at most `limit` columns, with nothing left out but the blanks where a line ends. A word that fits no line begins one of its own and
  /// is broken between its characters. No text is no line.
  /// - Parameters:
  ///   - limit: at least 2, so that wide characters have room; less counts as that.
  ///   - later: of the lines after the first; nil: the same.
  package static func fold(_ text: String, to limit: Int, later: Int? = nil) -> [String] {
    var limit = max(2, limit)
    if text.utf8.count <= limit { return text.isEmpty ? [] : [text] }
    var lines: [String] = []
    var (line, used) = ("", 0)
    func end() {
      lines.append(line)
      (line, used) = ("", 0)
      if let later { limit = max(2, later) }
    }
    func add(_ part: Substring) {
      for character in part {
        let more = character.unicodeScalars.reduce(0) { $0 + columns($1) }
        if used + more > limit, used > 0 { end() }
        line.append(character)
        used += more
      }
    }
    var rest = text[...]
    while !rest.isEmpty {
      let gap = rest.prefix { $0 == " " }
      let word = rest[gap.endIndex...].prefix { $0 != " " }
      rest = rest[word.endIndex...]
      guard !word.isEmpty else { break }
      if used > 0, used + gap.count + width(String(word)) > limit { end() } else { add(gap) }
      add(word)
    }
    if used > 0 { end() }
    return lines
  }
}
