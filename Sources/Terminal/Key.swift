/// A key or click on a full screen. Rows and columns count from 0.
package enum Key: Hashable, Sendable {
  /// A printable character.
  case character(Character)
  /// Ctrl with a letter, given in lower case.
  case control(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, pageUp, pageDown, home, end
  case click(row: Int, column: Int)
  case wheelUp(row: Int, column: Int)
  case wheelDown(row: Int, column: Int)

  /// Converts a character that a terminal sent. Nil for other control characters.
  package init?(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x09: self = .tab
    case 0x0A, 0x0D: self = .enter
    case 0x08, 0x7F: self = .backspace
    case 0x1B: self = .escape
    case 0x01...0x1A:
      guard let letter = Unicode.Scalar(scalar.value + 0x60) else { return nil }
      self = .control(Character(letter))
    case 0..<0x20, 0x80..<0xA0: return nil
    default: self = .character(Character(scalar))
    }
  }
}
