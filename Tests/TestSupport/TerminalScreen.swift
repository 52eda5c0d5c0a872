import BluetoothLEText

/// A terminal screen of a given size: cells, wrapped lines, scrolling, and the control sequences of line editors.
package struct TerminalScreen {
  package let columns: Int
  package let rows: Int
  /// The lines that scrolled off, then those on the screen.
  private var cells: [[Character]] = [[]]
  /// The row of the cursor, from the top of `cells`.
  private var row = 0
  private var column = 0
  /// Whether the cursor is after the last column, so that the next character starts a new line.
  private var wraps = false
  /// Unknown sequences.
  package private(set) var unknown: [String] = []
  package private(set) var modes: Set<String> = []

  package init(_ bytes: [UInt8], columns: Int, rows: Int = 24) {
    self.columns = columns
    self.rows = rows
    var rest = Substring(String(decoding: bytes, as: UTF8.self)).unicodeScalars
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\n": lineFeed()
      case "\r": (column, wraps) = (0, false)
      case "\u{8}": (column, wraps) = (max(0, column - 1), false)
      case "\u{7}": break
      case "\u{1B}": sequence(&rest)
      default: put(scalar)
      }
    }
  }

  /// The lines without trailing blanks.
  package var lines: [String] {
    cells.map { line in
      var line = line.filter { $0 != "\0" }
      while line.last == " " { line.removeLast() }
      return String(line)
    }
  }

  /// The cursor's line and column.
  package var cursor: (line: String, column: Int) { (lines[row], column) }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = DisplayText.width(String(scalar))
    if width == 0 {
      if column > 0, column <= cells[row].count { cells[row][column - 1] = Character(String(cells[row][column - 1]) + String(scalar)) }
      return
    }
    if wraps || column + width > columns {
      lineFeed()
      column = 0
    }
    while cells[row].count < column + width { cells[row].append(" ") }
    cells[row][column] = Character(scalar)
    if width == 2 { cells[row][column + 1] = "\0" }
    wraps = column + width == columns
    column = min(column + width, columns - 1)
  }

  private mutating func lineFeed() {
    row += 1
    wraps = false
    if row == cells.count { cells.append([]) }
  }

  private mutating func sequence(_ rest: inout Substring.UnicodeScalarView) {
    guard rest.popFirst() == "[" else { return unknown.append(String(rest.prefix(5))) }
    let parameters = String(rest.prefix { "0123456789;?".unicodeScalars.contains($0) })
    rest = rest.dropFirst(parameters.unicodeScalars.count)
    let count = max(1, Int(parameters) ?? 1)
    let top = max(0, cells.count - rows)
    guard let end = rest.popFirst() else { return }
    if end != "m", end != "h", end != "l" { wraps = false }
    switch end {
    case "A": row = max(top, row - count)
    case "B": row = min(cells.count - 1, row + count)
    case "C": column = min(columns - 1, column + count)
    case "D": column = max(0, column - count)
    case "G": column = min(columns, count) - 1
    case "K": erase(parameters)
    case "J" where parameters.isEmpty || parameters == "0":
      erase("")
      cells.removeLast(cells.count - 1 - row)
    case "J", "H":
      (row, column) = (top, 0)
      if end == "J" { cells.removeLast(cells.count - top); cells.append([]) }
    case "P": if column < cells[row].count { cells[row].removeSubrange(column..<min(cells[row].count, column + count)) }
    case "@": if column < cells[row].count { cells[row].insert(contentsOf: [Character](repeating: " ", count: count), at: column) }
    case "m": break
    case "h": modes.insert(parameters)
    case "l": modes.remove(parameters)
    default: unknown.append(parameters + String(Character(end)))
    }
  }

  private mutating func erase(_ parameters: String) {
    switch parameters {
    case "1": for index in 0..<min(column + 1, cells[row].count) { cells[row][index] = " " }
    case "2": cells[row] = []
    default: if column < cells[row].count { cells[row].removeLast(cells[row].count - column) }
    }
  }
}
