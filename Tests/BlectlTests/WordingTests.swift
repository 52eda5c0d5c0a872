import Foundation
import TestSupport

/// Countable properties of blectl's style: sentence lengths, line widths, and replaced words.
@Suite(.timeLimit(.minutes(15))) struct WordingTests {
  /// Returns the texts that new users read first.
  private static func texts() throws -> [(name: String, text: String)] {
    let readme = try String(contentsOf: ManualTests.root.appendingPathComponent("README.md"), encoding: .utf8)
    var texts = [("README", readme), ("blectl --help", try Blectl.run("--help").text)]
    for name in try HelpTests.names() { texts.append(("\(name) --help", try HelpTests.help(name, "--help"))) }
    for name in HelpTests.sessionCommands {
      texts.append(("help \(name)", try Blectl.run(["repl"], input: Array("help \(name)\n".utf8)).text))
    }
    return texts
  }

  /// Returns the sentences of running text, without code, tables, headings and lists of options.
  private static func sentences(_ text: String) -> [String] {
    var paragraphs: [String] = []
    var isCode = false
    for paragraph in text.components(separatedBy: "\n\n") {
      let fences = paragraph.components(separatedBy: "```").count - 1
      let wasCode = isCode
      if !fences.isMultiple(of: 2) { isCode.toggle() }
      guard !wasCode, fences == 0, !paragraph.hasPrefix("|"), !paragraph.hasPrefix("USAGE"), !paragraph.contains(":\n  ") else { continue }
      paragraphs.append(paragraph.replacingOccurrences(of: "\n", with: " "))
    }
    return paragraphs.flatMap { $0.components(separatedBy: ". ").flatMap { $0.components(separatedBy: " · ") } }
  }

  @Test func sentencesAreShort() throws {
    for (name, text) in try Self.texts() {
      for sentence in Self.sentences(text) {
        let count = sentence.split(separator: " ").count
        #expect(count <= 25, "\(name): \(count) words: \(sentence)")
      }
    }
    let sample = Self.sentences("One two. Three.\n\n| a | b |\n\n```\ncode. code\n```\n\nFour")
    #expect(sample.map { $0.split(separator: " ").count } == [2, 1, 1])
  }

  @Test func theREADMEIsShort() throws {
    let lines = try String(contentsOf: ManualTests.root.appendingPathComponent("README.md"), encoding: .utf8).components(separatedBy: "\n")
    #expect(lines.count <= 142, "\(lines.count - 1) lines")
    #expect(lines.allSatisfy { $0.count <= 120 || $0.hasPrefix("|") || $0.contains("](") }, "\(lines.filter { $0.count > 120 })")
  }

  /// Words that `man/`, README, help and messages once had, with their replacements.
  private static let replaced = [
    #"\boctets?\b"#: "byte", #"\banew\b"#: "again", #"\bis (told|said)\b"#: "blectl prints", #"\bwhoever\b"#: "users who",
    #"\b(no|some)body\b"#: "the actor", #"\bmeanwhile\b"#: "while", #"\bsuch a one\b"#: "the noun", #"\btells? of\b"#: "report",
    #"\bcomes? to\b"#: "the noun", #"\bso many\b"#: "N", #"\bany more\b"#: "no longer", #"\bwithout a word\b"#: "silently",
    #"\bbut for\b"#: "except", #"\bby itself\b"#: "unsolicited, automatically", #"\bat once\b"#: "immediately, at the same time",
    #"\bis (gone|there|over|none)\b"#: "exists, was removed, ended", #"\bgoes on\b"#: "continues",
  ]

  private static func findings(_ text: String) -> [String] {
    replaced.compactMap { pattern, word in
      guard let regex = try? Regex(pattern).ignoresCase(), let match = text.firstMatch(of: regex) else { return nil }
      return "\(match.0): say \(word)"
    }
  }

  @Test func replacedWordsStayReplaced() throws {
    for (name, text) in try Self.texts() { #expect(Self.findings(text).isEmpty, "\(name): \(Self.findings(text))") }
    for page in try ManualTests.pages() {
      let text = try String(contentsOf: ManualTests.root.appendingPathComponent("man/\(page)"), encoding: .utf8)
      for (number, line) in zip(1..., text.components(separatedBy: "\n")) {
        // Keys of files keep their names.
        let words = line.contains("Ic ") ? [] : Self.findings(line.replacing(/[\w.]*_octets?\w*|octets_\w+|\\\(dq\w+|"\w+"/, with: ""))
        #expect(words.isEmpty, "\(page):\(number): \(line): \(words)")
      }
    }
    #expect(Self.findings("Nobody is told of octets.").count == 3)
  }

  /// Checks literals with blanks, except text of gatttool and names of the specification.
  @Test func messagesUseTheSameWords() throws {
    let sources = ManualTests.root.appendingPathComponent("Sources")
    let allowed = ["TX octets", "RX octets", "an odd octet", "non-zero octets after"]
    var count = 0
    for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) ?? .init()
    where file.pathExtension == "swift" && !file.path.contains("+Table") && !file.path.contains("/Gatttool/") {
      for (number, line) in zip(1..., try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")) {
        guard !line.contains("//") else { continue }
        for literal in line.matches(of: /"((?:[^"\\]|\\.)*)"/) {
          let text = String(literal.1).replacing(/\\\([^()]*(?:\([^()]*\)[^()]*)*\)/, with: "X")
          guard text.contains(" "), !text.contains("\\("), !allowed.contains(where: line.contains) else { continue }
          count += 1
          #expect(Self.findings(text).isEmpty, "\(file.lastPathComponent):\(number): \(text): \(Self.findings(text))")
        }
      }
    }
    #expect(count > 1000)
  }
}
