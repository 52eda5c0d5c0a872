// SPDX-License-Identifier: Apache-2.0
/// A converter that makes text from devices safe for a terminal (CWE-150), and measures its width in columns.
///
/// Escapes look like `\xNN` or `\u{…}`. They replace bytes that are not strict UTF-8, unsafe characters, and line and paragraph separators.
/// Unsafe characters are control, format, unassigned and private-use ones. `escape` doubles backslashes, so no text can imitate an escape.
package enum DisplayText {
  /// Escapes a text, clips it to 60 columns and adds double quotes, for a message.
  package static func quote(_ text: String) -> String { "\"" + clip(escape(text), to: 60) + "\"" }

  package static func escape(_ bytes: [UInt8]) -> String { escape(bytes[...]) }

  package static func escape(_ text: String) -> String { escape(Array(text.utf8)[...]) }

  package static func escape(_ bytes: ArraySlice<UInt8>) -> String {
    if bytes.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x5C }) { return String(decoding: bytes, as: UTF8.self) }
    var text = ""
    var rest = bytes
    while let first = rest.first {
      guard let (scalar, count) = scalar(rest) else {
        text += "\\x" + Hex.encode(first)
        rest = rest.dropFirst()
        continue
      }
      if scalar == "\\" {
        text += "\\\\"
      } else if isSafe(scalar) {
        text.unicodeScalars.append(scalar)
      } else if scalar.isASCII {
        text += "\\x" + Hex.encode(first)
      } else {
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
      rest = rest.dropFirst(count)
    }
    return text
  }

  /// Returns whether the bytes are non-empty strict UTF-8 without characters that need an escape. Backslashes count as printable.
  package static func isPrintable(_ bytes: [UInt8]) -> Bool { isPrintable(bytes[...]) }

  package static func isPrintable(_ bytes: ArraySlice<UInt8>) -> Bool {
    // Check this first: most values are not text, and end here.
    if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return false }
    var rest = bytes
    while !rest.isEmpty {
      guard let (scalar, count) = scalar(rest), isSafe(scalar) else { return false }
      rest = rest.dropFirst(count)
    }
    return !bytes.isEmpty
  }

  /// Returns the bytes without trailing zeros, which fixed-length C strings have.
  package static func withoutTrailingNULs(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes.prefix((bytes.lastIndex { $0 != 0 } ?? -1) + 1)
  }

  /// Returns whether the bytes are UTF-8 without overlong forms, surrogates and values above U+10FFFF (Unicode 15 §3.9, table 3-7).
  package static func isUTF8(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let (_, count) = scalar(rest) else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Replaces line drawing characters, typographic quotes and unit symbols with ASCII. Only unit symbols may take more columns afterwards.
  package static func asciiLines(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var plain = ""
    for character in text {
      switch character {
      case "“", "”": plain.append("\"")
      case "├", "│": plain.append("|")
      case "└": plain.append("`")
      case "─": plain.append("-")
      case "█": plain.append("#")
      case "░": plain.append(".")
      case "…": plain.append("~")
      case "≠": plain.append("!")
      case "→": plain.append(">")
      case "·": plain.append(",")
      case "×", "✗": plain.append("x")
      case "✓": plain.append("+")
      case "–": plain.append("-")
      // Units.
      case "°": plain.append("deg")
      case "µ", "μ": plain.append("u")
      case "Ω": plain.append("Ohm")
      case "²": plain.append("^2")
      case "³": plain.append("^3")
      default: plain.append(character)
      }
    }
    return plain
  }

  /// Returns the width of a text in terminal columns. Wide East Asian characters and emoji take two columns, combining marks none.
  package static func width(_ text: String) -> Int {
    var width = 0
    for scalar in text.unicodeScalars { width += columns(scalar) }
    return width
  }

  /// Clips a text to `limit` columns. Returns the whole text if it fits, otherwise its first characters and an ellipsis.
  package static func clip(_ text: String, to limit: Int, ellipsis: String = "…") -> String {
    if text.utf8.count <= limit || width(text) <= limit { return text }
    let room = limit - width(ellipsis)
    return room < 0 ? "" : head(text, room) + ellipsis
  }

  /// Replaces the middle of a text with an ellipsis to fit `limit` columns. Keeps the end, because similar names often differ there.
  package static func clipMiddle(_ text: String, to limit: Int, ellipsis: String = "…") -> String {
    if text.utf8.count <= limit || width(text) <= limit { return text }
    let room = limit - width(ellipsis)
    guard room > 0 else { return clip(text, to: limit, ellipsis: ellipsis) }
    let end = String(head(text.reversed(), room / 2).reversed())
    return head(text, room - width(end)) + ellipsis + end
  }

  /// Splits a text at spaces into lines of at most `limit` columns. A word longer than a line stays whole.
  package static func wrap(_ text: String, to limit: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, width(last) < limit, width(last) + 1 + width(String(word)) <= limit {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// Returns as many whole characters from the front of a text as fit into `room` columns.
  private static func head(_ text: some Sequence<Character>, _ room: Int) -> String {
    var head = ""
    var used = 0
    for character in text {
      used += character.unicodeScalars.reduce(0) { $0 + columns($1) }
      if used > room { break }
      head.append(character)
    }
    return head
  }

  /// Converts text for a terminal that shows only ASCII. Other characters become `\u{…}`.
  package static func ascii(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var ascii = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII { ascii.unicodeScalars.append(scalar) } else { ascii += "\\u{" + String(scalar.value, radix: 16) + "}" }
    }
    return ascii
  }

  // MARK: Scalars

  /// Decodes the first scalar, and returns it with its length in bytes. Returns nil if the bytes do not start with strict UTF-8.
  private static func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
    guard let first = bytes.first else { return nil }
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0x00...0x7F: return (Unicode.Scalar(first), 1)
    case 0xC2...0xDF: count = 2
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: count = 3
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: count = 4
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: return nil
    }
    let following = bytes.dropFirst().prefix(count - 1)
    guard following.count == count - 1, let next = following.first, second.contains(next) else { return nil }
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for byte in following {
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    return Unicode.Scalar(value).map { ($0, count) }
  }

  static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    return switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    switch scalar.value {
    // Vowels and final consonants of Hangul are drawn into the cell of the first consonant.
    case 0x1160...0x11FF: return 0
    // Wide and fullwidth blocks of UAX #11.
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
      0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }

  /// Escapes characters that are unsafe on a terminal, but keeps backslashes. Escaping the result again does not change it.
  /// The result suits lines that users copy, and text that may already have escapes.
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

  /// Splits a text into lines of at most `limit` columns, and breaks words longer than a line between characters. Drops only spaces at
  /// line ends. A broken word starts on its own line. Empty text has no lines.
  /// - Parameters:
  ///   - limit: The width in columns, at least 2, so that wide characters have room. Smaller values count as 2.
  ///   - later: The width of the lines after the first, in columns. Nil means `limit` for all lines.
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
