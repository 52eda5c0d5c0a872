import Testing

@testable import Program

/// Completion at a bash prompt: the name of an untrusted device must never run as code.
@Suite(.timeLimit(.minutes(15))) struct BashLineTests {
  private static let breaks = " \t\n\"'@><=;|&(:"

  @Test(arguments: [
    ("blectl read ", ["blectl", "read"], "", ""), ("blectl re", ["blectl"], "re", ""), ("", [], "", ""),
    ("blectl read name:Ba", ["blectl", "read"], "name:Ba", "name:"), ("blectl read C0:FF:E", ["blectl", "read"], "C0:FF:E", "C0:FF:"),
    ("blectl read --as=u1", ["blectl", "read"], "--as=u1", "--as="), ("blectl read @la", ["blectl", "read"], "@la", ""),
    ("blectl read x ffe1@29", ["blectl", "read", "x"], "ffe1@29", "ffe1"),
    // After an open quote, everything is one readline word. In a closed quote, no word starts.
    ("blectl read 'name:Two W", ["blectl", "read"], "name:Two W", ""),
    ("blectl read name:'Two W", ["blectl", "read"], "name:Two W", "name:"),
    ("blectl read 'a:b'c", ["blectl", "read"], "a:bc", ""), ("blectl read \"a\\\"b\\c", ["blectl", "read"], "a\"b\\c", ""),
    ("blectl read name\\:Two\\ W", ["blectl", "read"], "name:Two W", ""), ("blectl '' ", ["blectl", ""], "", ""),
    ("blectl read a\\", ["blectl", "read"], "a\\", ""),
    // Other commands, and redirections.
    ("sudo id; blectl sc", ["blectl"], "sc", ""), ("blectl scan 2>/dev/null re", ["blectl", "scan"], "re", ""),
    ("blectl scan --log>x ", ["blectl", "scan", "--log"], "", ""), ("blectl scan 2>&1 --dur", ["blectl", "scan"], "--dur", ""),
    ("blectl scan &>x re", ["blectl", "scan"], "re", ""), ("blectl scan >|x re", ["blectl", "scan"], "re", ""),
    ("sleep 1 & blectl sc", ["blectl"], "sc", ""), ("id | blectl sc", ["blectl"], "sc", ""),
  ])
  func whatIsTyped(_ text: String, _ words: [String], _ last: String, _ kept: String) {
    let line = BashLine(text, breaks: Self.breaks)
    #expect(line.words == words && line.last == last && line.kept == kept && !line.isRedirected, "\(line)")
  }

  @Test func theFileOfARedirectionIsNobodysBusiness() {
    for text in ["blectl scan >", "blectl scan > f", "blectl scan 2>> f", "blectl scan &> f", "blectl scan >| f"] {
      #expect(BashLine(text, breaks: Self.breaks).isRedirected)
    }
  }

  @Test func whatReplacesReadlinesWord() {
    func replacement(_ typed: String, _ text: String) -> String? {
      BashLine("blectl read " + typed, breaks: Self.breaks).replacement(for: text)
    }
    #expect(replacement("name:Ba", "name:Band-7") == "Band-7")
    #expect(replacement("c0:f", "C0:FF:EE:00:00:07/public") == "FF:EE:00:00:07/public")
    #expect(replacement("ban", "name:Band-7") == "name:Band-7")
    #expect(replacement("@la", "@last") == "@last")
    #expect(replacement("a:b", "name:a:b") == nil)
    #expect(replacement("", "#x") == "\\#x" && replacement("a", "a#x") == "a#x")
    #expect(replacement("'name:T", "name:Two Words") == "name:Two Words")
    // There is no way to write it there.
    #expect(replacement("\"name:a", "name:a!b") == nil && replacement("'name:a", "name:a!b") == "name:a!b")
  }

  /// Whatever quote was opened, bash reads exactly the name again.
  @Test(arguments: ["", "'", "\""]) func hostileNames(_ quote: String) throws {
    let names = [
      "$(id)", "`id`", "it's", "\"", "a;id", "a&&id", "a|id", ">x", "<(id)", "{a,b}", "~root", "*?[a]", "\\", "größe", "two  words",
      "${HOME}",
      "-rf", "%1", "^a^b",
      // The shell sees the backquote despite a combining mark.
      "`\u{301}id`\u{301}", "$\u{301}(id)", "\"\u{301}$(id)",
    ]
    for name in names {
      let line = BashLine("blectl read \(quote)", breaks: Self.breaks)
      let replacement = try #require(line.replacement(for: name))
      let read = BashLine("blectl read \(quote)\(replacement)\(quote) ", breaks: Self.breaks)
      #expect(read.words == ["blectl", "read", name], "\(replacement)")
      guard quote.isEmpty else { continue }
      // A backslash precedes every character with a special meaning.
      var scalars = replacement.unicodeScalars[...]
      while let scalar = scalars.popFirst() {
        if scalar == "\\" {
          _ = scalars.popFirst()
        } else {
          #expect(!"$`\"'\\;|&<>(){}[]*?!~ #".unicodeScalars.contains(scalar), "\(replacement)")
        }
      }
    }
  }
}
