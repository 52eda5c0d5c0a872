import Text

/// A table of text with aligned columns.
package struct Table {
  private let header: [String]
  private var rows: [[String]] = []

  package init(_ header: [String]) { self.header = header }

  package mutating func add(_ row: [String]) { rows.append(row) }

  /// Returns the header and the rows as lines.
  /// - Parameter width: The maximum width of a line in columns. `lines` clips longer lines. Nil means no limit.
  package func lines(width: Int?) -> [String] {
    let all = [header] + rows
    var widths = [Int](repeating: 0, count: header.count)
    for row in all {
      for (index, cell) in row.enumerated() where index < widths.count { widths[index] = max(widths[index], DisplayText.width(cell)) }
    }
    return all.map { row in
      var (line, gap) = ("", 0)
      // Pad before a cell, so that no line ends in spaces.
      for (index, cell) in row.enumerated() {
        if !cell.isEmpty {
          line += String(repeating: " ", count: gap) + cell
          gap = 0
        }
        if index < widths.count { gap += widths[index] - DisplayText.width(cell) + 2 }
      }
      return width.map { DisplayText.clip(line, to: $0) } ?? line
    }
  }
}
