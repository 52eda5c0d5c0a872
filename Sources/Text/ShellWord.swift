/// A word of a command line, as typed.
package struct ShellWord: Sendable, Hashable {
  package enum Piece: Sendable, Hashable {
    /// A piece of text without its quotes.
    case text(String)
    /// The name of a variable to substitute.
    case variable(String)
  }

  package var pieces: [Piece]
  /// Whether a part of the word is in quotes.
  package var isQuoted: Bool
  /// The number of characters before the word.
  package var offset: Int

  package init(_ pieces: [Piece], isQuoted: Bool = false, offset: Int = 0) {
    self.pieces = pieces
    self.isQuoted = isQuoted
    self.offset = offset
  }

  /// The text of the word. Nil if it depends on variables.
  package var text: String? {
    if pieces.count == 1, case .text(let text) = pieces[0] { return text }
    return try? replaced { _ in throw ShellWordsError.severalCommands }
  }

  /// The text of a word without quotes. Nil for a quoted word, which is never a keyword.
  package var keyword: String? { isQuoted ? nil : text }

  package var variables: [String] {
    pieces.compactMap { if case .variable(let name) = $0 { name } else { nil } }
  }

  /// Returns the text after substituting the values of its variables.
  package func replaced<E: Error>(_ value: (_ name: String) throws(E) -> String) throws(E) -> String {
    var text = ""
    for piece in pieces {
      switch piece {
      case .text(let part): text += part
      case .variable(let name): text += try value(name)
      }
    }
    return text
  }
}
