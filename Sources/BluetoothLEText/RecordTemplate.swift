// SPDX-License-Identifier: Apache-2.0
/// A template for one line per record, such as `{time},{name},{heart_rate}`. `{{` and `}}` are braces, `\t` and `\n` are a tab and a line feed.
package struct RecordTemplate: Sendable, Equatable {
  private enum Piece: Equatable {
    case text(String)
    case field(RecordField)
  }

  package enum Mistake: Error, Equatable {
    /// A brace without its counterpart, at this position from 1.
    case brace(Character, at: Int)
    case emptyField(at: Int)
    case noField
  }

  private let pieces: [Piece]

  /// Parses a template.
  package init(_ template: String) throws(Mistake) {
    var pieces: [Piece] = []
    var text = ""
    let characters = Array(template)
    var index = 0
    while index < characters.count {
      let (character, next) = (characters[index], index + 1 < characters.count ? characters[index + 1] : nil)
      switch character {
      case "{" where next == "{", "}" where next == "}":
        text.append(character)
        index += 1
      case "{":
        guard let end = characters[index...].firstIndex(of: "}") else { throw .brace(character, at: index + 1) }
        let path = String(characters[(index + 1)..<end])
        guard !path.isEmpty else { throw .emptyField(at: index + 1) }
        if path.contains("{") { throw .brace("{", at: index + 1) }
        pieces += text.isEmpty ? [.field(RecordField(path))] : [.text(text), .field(RecordField(path))]
        text = ""
        index = end
      case "}": throw .brace(character, at: index + 1)
      case "\\" where next == "t" || next == "n" || next == "\\":
        text.append(next == "t" ? "\t" : next == "n" ? "\n" : "\\")
        index += 1
      default: text.append(character)
      }
      index += 1
    }
    if !text.isEmpty { pieces.append(.text(text)) }
    self.pieces = pieces
    if fields.isEmpty { throw .noField }
  }

  package var fields: [RecordField] { pieces.compactMap { if case .field(let field) = $0 { field } else { nil } } }

  /// Returns the line of a record. A field that the record lacks is empty.
  func line(_ record: JSONTree) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field(let field): field.text(in: record) ?? ""
      }
    }.joined()
  }
}
