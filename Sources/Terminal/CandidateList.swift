import Text

/// A completion candidate and its description.
package struct Candidate: Sendable, Equatable, Hashable {
  /// The text to show.
  package let text: String
  /// The description, which the list shows next to the text if there is room.
  package let hint: String

  package init(_ text: String, hint: String = "") {
    self.text = text
    self.hint = hint
  }
}

/// Candidates in columns, at most a screen of them.
package struct CandidateList {
  private let candidates: [Candidate]

  package init(_ candidates: [Candidate]) { self.candidates = candidates }

  /// Returns the lines to show.
  /// - Parameters:
  ///   - width: The terminal's width in columns.
  ///   - height: The terminal's height in rows.
  package func lines(width: Int, height: Int) -> [String] {
    let rows = max(3, height - 3)
    // More candidates do not fit on a screen.
    let some = candidates.prefix(rows * max(1, width / 2))
    let hinted = some.map { $0.hint.isEmpty ? $0.text : "\($0.text) (\($0.hint))" }
    var shown = 0
    var lines = Self.columns(hinted, width, rows, &shown)
    // Drop the hints rather than candidates.
    if shown < candidates.count { lines = Self.columns(some.map(\.text), width, rows, &shown) }
    if shown < candidates.count { lines.append("… \(candidates.count - shown) more") }
    return lines
  }

  /// Arranges cells from top to bottom, then in the next column.
  private static func columns(_ cells: [String], _ width: Int, _ rows: Int, _ shown: inout Int) -> [String] {
    let cells = cells.map { DisplayText.clip(DisplayText.escape($0), to: width - 1) }
    let widest = cells.reduce(0) { max($0, DisplayText.width($1)) } + 2
    let count = max(1, (width + 1) / widest)
    let needed = min(rows, (cells.count + count - 1) / count)
    shown = min(cells.count, needed * count)
    return (0..<needed).map { row in
      var line = ""
      for index in stride(from: row, to: shown, by: needed) {
        let isLast = index + needed >= shown
        line += isLast ? cells[index] : cells[index] + String(repeating: " ", count: widest - DisplayText.width(cells[index]))
      }
      return line
    }
  }
}
