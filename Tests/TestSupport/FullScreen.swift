import BluetoothLEText

/// A terminal screen for full-screen programs: addressed cells, and the control sequences that ncurses sends to an xterm.
/// Accepts bytes in pieces of any size.
package final class FullScreen: @unchecked Sendable {
  package private(set) var columns: Int
  package private(set) var rows: Int
  private var cells: [[Character]]
  private var row = 0
  private var column = 0
  private var region: ClosedRange<Int>
  private var last: Character = " "
  private var taken = 0
  /// The private modes that are set: `?25` is the cursor, `?1049` the alternate screen.
  package private(set) var modes: Set<String> = ["?25", "?7"]
  /// Unknown sequences.
  package private(set) var unknown: [String] = []
  /// The last clipboard contents, in Base64.
  package private(set) var clipboard: String?

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    cells = Self.blank(columns, rows)
    region = 0...max(0, rows - 1)
  }

  private static func blank(_ columns: Int, _ rows: Int) -> [[Character]] {
    Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// Resizes the screen as a terminal window does. Its contents are cut or stay.
  package func resize(columns: Int, rows: Int) {
    cells = (0..<rows).map { y in (0..<columns).map { x in y < self.rows && x < self.columns ? cells[y][x] : " " } }
    (self.columns, self.rows, region) = (columns, rows, 0...max(0, rows - 1))
    (row, column) = (min(row, rows - 1), min(column, columns - 1))
  }

  /// The lines without trailing blanks.
  package var lines: [String] {
    cells.map { line in
      var text = line.filter { $0 != "\0" }
      while text.last == " " { text.removeLast() }
      return String(text)
    }
  }

  package var text: String { lines.joined(separator: "\n") }

  package func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

  /// - Parameter bytes: All output so far. Bytes from earlier calls are skipped.
  package func take(_ bytes: [UInt8]) {
    var rest = bytes[taken...]
    while let end = step(rest) { rest = rest[end...] }
    taken = rest.startIndex
  }

  /// Processes one character or sequence. - Returns: The start of the next, or nil if this one is incomplete.
  private func step(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first else { return nil }
    switch first {
    case 0x1B: return escape(bytes)
    case 0x0D: column = 0
    case 0x0A: lineFeed()
    case 0x08: column = max(0, column - 1)
    case 0x09: column = min(columns - 1, (column / 8 + 1) * 8)
    case 0x00..<0x20: break
    default:
      let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      guard bytes.count >= count else { return nil }
      put(String(decoding: bytes.prefix(count), as: UTF8.self))
      return bytes.startIndex + count
    }
    return bytes.startIndex + 1
  }

  private func put(_ text: String) {
    let width = DisplayText.width(text)
    guard let character = text.first else { return }
    if width == 0 {
      if column > 0 { cells[row][column - 1] = Character(String(cells[row][column - 1]) + text) }
      return
    }
    if column + width > columns {
      // Without wrapping, only the last cell of the screen is written.
      guard modes.contains("?7") else { return }
      column = 0
      lineFeed()
    }
    cells[row][column] = character
    if width == 2, column + 1 < columns { cells[row][column + 1] = "\0" }
    last = character
    column += width
  }

  private func lineFeed() {
    if row == region.upperBound { scroll(1, from: region.lowerBound) } else { row = min(rows - 1, row + 1) }
  }

  private func scroll(_ count: Int, from top: Int) {
    for _ in 0..<min(abs(count), region.upperBound - top + 1) {
      if count > 0 {
        cells.remove(at: top)
        cells.insert(Array(repeating: " ", count: columns), at: region.upperBound)
      } else {
        cells.remove(at: region.upperBound)
        cells.insert(Array(repeating: " ", count: columns), at: top)
      }
    }
  }

  private func escape(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= 2 else { return nil }
    let start = bytes.startIndex
    switch bytes[start + 1] {
    case UInt8(ascii: "["):
      guard let end = bytes[(start + 2)...].firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
      control(String(decoding: bytes[(start + 2)..<end], as: UTF8.self), Character(Unicode.Scalar(bytes[end])))
      return end + 1
    case UInt8(ascii: "]"):
      guard let end = bytes[start...].firstIndex(of: 7) else { return nil }
      let command = String(decoding: bytes[(start + 2)..<end], as: UTF8.self)
      if command.hasPrefix("52;c;") { clipboard = String(command.dropFirst(5)) } else { unknown.append("]\(command)") }
      return end + 1
    case UInt8(ascii: "("): return bytes.count >= 3 ? start + 3 : nil
    case UInt8(ascii: "="), UInt8(ascii: ">"): break
    case UInt8(ascii: "7"), UInt8(ascii: "8"): break
    case UInt8(ascii: "M"): if row == region.lowerBound { scroll(-1, from: row) } else { row -= 1 }
    case let other: unknown.append("ESC \(other)")
    }
    return start + 2
  }

  private func control(_ parameters: String, _ end: Character) {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let count = max(1, numbers.first ?? 1)
    switch end {
    case "A": row = max(0, row - count)
    case "B": row = min(rows - 1, row + count)
    case "C": column = min(columns - 1, column + count)
    case "D": column = max(0, column - count)
    case "G": column = min(columns, count) - 1
    case "d": row = min(rows, count) - 1
    case "H", "f": (row, column) = (min(rows, count) - 1, min(columns, max(1, numbers.count > 1 ? numbers[1] : 1)) - 1)
    case "J" where numbers.first == 2: cells = Self.blank(columns, rows)
    case "J":
      fill(column..<columns)
      for index in (row + 1)..<max(row + 1, rows) { cells[index] = Array(repeating: " ", count: columns) }
    case "K": fill(numbers.first == 1 ? 0..<min(columns, column + 1) : numbers.first == 2 ? 0..<columns : min(column, columns)..<columns)
    case "X": fill(min(column, columns)..<min(columns, column + count))
    case "b": for _ in 0..<count { put(String(last)) }
    case "P": shift(-count)
    case "@": shift(count)
    case "L": scroll(-count, from: row)
    case "M": scroll(count, from: row)
    case "S": scroll(count, from: region.lowerBound)
    case "T": scroll(-count, from: region.lowerBound)
    case "r":
      region = max(0, count - 1)...max(0, (numbers.count > 1 ? numbers[1] : rows) - 1)
      (row, column) = (0, 0)
    case "h": for mode in parameters.dropFirst().split(separator: ";") { modes.insert("?\(mode)") }
    case "l": for mode in parameters.dropFirst().split(separator: ";") { modes.remove("?\(mode)") }
    case "m", "t", "c": break
    default: unknown.append(parameters + String(end))
    }
  }

  private func fill(_ range: Range<Int>) { for index in range where index < columns { cells[row][index] = " " } }

  private func shift(_ count: Int) {
    guard column < columns else { return }
    var line = cells[row]
    if count < 0 {
      line.removeSubrange(column..<min(columns, column - count))
    } else {
      line.insert(contentsOf: Array(repeating: " ", count: count), at: column)
    }
    cells[row] = Array((line + Array(repeating: " ", count: columns)).prefix(columns))
  }
}
