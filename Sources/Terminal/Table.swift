import BluetoothLEText

/// A table of text with aligned columns.
package struct Table {
  private let header: [String]
  private var rows: [[String]] = []

  package init(_ header: [String]) { self.header = header }

  package mutating func add(_ row: [String]) { rows.append(row) }

  private var widths: [Int] {
    header.indices.map { index in ([header] + rows).map { $0.count > index ? DisplayText.width($0[index]) : 0 }.max() ?? 0 }
  }

  /// Returns the header and the rows as several lines each if one line is too long. Later lines have the columns that do not fit before.
  /// - Parameter width: The maximum width of a line in columns.
  package func folded(width: Int) -> [String] { groups(width: width).flatMap(\.self) }

  /// Returns the lines of the header, and of each row.
  private func groups(width: Int) -> [[String]] {
    var (count, used) = (0, -2)
    for column in widths where used <= width {
      used += column + 2
      if used <= width { count += 1 }
    }
    // Clip a long first column rather than hide the others.
    if count == 0, width >= 8 { count = 1 }
    guard 1..<header.count ~= count else { return lines(width: width).map { [$0] } }
    var (left, right) = (Table(Array(header[..<count])), Table(Array(header[count...])))
    left.rows = rows.map { Array($0.prefix(count)) }
    right.rows = rows.map { Array($0.dropFirst(count)) }
    return zip(left.lines(width: width), right.groups(width: width - 2)).map { [$0] + $1.map { "  \($0)" } }
  }

  /// Returns the header and the rows as lines.
  /// - Parameter width: The maximum width of a line in columns. `lines` clips longer lines. Nil means no limit.
  package func lines(width: Int?) -> [String] {
    let widths = widths
    return ([header] + rows).map { row in
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
