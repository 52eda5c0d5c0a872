// SPDX-License-Identifier: Apache-2.0
/// A word of a command line, as texts and variables in their order.
package struct ShellWord: Sendable, Hashable {
  package enum Piece: Sendable, Hashable {
    /// A text from which the parser has removed the quotes.
    case text(String)
    /// The name of a variable that `replaced(_:)` replaces with its value.
    case variable(String)
  }

  package var pieces: [Piece]
  /// Whether any part of the word was in quotes.
  package var isQuoted: Bool
  /// The number of characters in the command line before the word.
  package var offset: Int

  package init(_ pieces: [Piece], isQuoted: Bool = false, offset: Int = 0) {
    (self.pieces, self.isQuoted, self.offset) = (pieces, isQuoted, offset)
  }

  /// The text of the word. Nil if the word contains variables.
  package var text: String? {
    if pieces.count == 1, case .text(let text) = pieces[0] { return text }
    return try? replaced { _ in throw ShellWordsError.severalCommands }
  }

  /// The text of the word if it may be a keyword. Nil for a quoted word and for a word with variables.
  package var keyword: String? { isQuoted ? nil : text }

  package var variables: [String] { pieces.compactMap { if case .variable(let name) = $0 { name } else { nil } } }

  /// Returns the text of the word, with each variable replaced by its value.
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
