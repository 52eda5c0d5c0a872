/// The contents of a full screen, a line per row, each as wide as the screen. No text moves the cursor, because its creator escapes it.
package struct Frame: Equatable, Sendable {
  package var lines: [Line]
  /// The position of the cursor, from 0. Nil hides the cursor.
  package var cursor: Cursor?

  package struct Cursor: Equatable, Sendable {
    package let row: Int
    package let column: Int

    package init(row: Int, column: Int) {
      self.row = row
      self.column = column
    }
  }

  package init(_ lines: [Line], cursor: Cursor? = nil) {
    self.lines = lines
    self.cursor = cursor
  }

  package struct Line: Equatable, Sendable {
    package var spans: [Span]

    package init(_ spans: [Span]) { self.spans = spans }

    package var text: String { spans.map(\.text).joined() }
  }

  package struct Span: Equatable, Sendable {
    package let text: String
    package let style: Style

    package init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// The style of a text. Each color has one meaning, which the text also conveys.
  package struct Style: Equatable, Sendable {
    package var color: Color?
    package var isBold = false
    package var isDim = false
    package var isReverse = false

    package init(_ color: Color? = nil, bold: Bool = false, dim: Bool = false, reverse: Bool = false) {
      self.color = color
      isBold = bold
      isDim = dim
      isReverse = reverse
    }

    package static let plain = Self()
    package static let bold = Self(bold: true)
    package static let dim = Self(dim: true)
  }

  /// The colors, with their ANSI numbers.
  package enum Color: Int32, Sendable {
    case red = 1
    case green = 2
    case yellow = 3
    case cyan = 6
  }
}
