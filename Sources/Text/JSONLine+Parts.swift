extension JSONLine {
  /// The name of a member, or an element of an array.
  package struct Text: ExpressibleByStringLiteral, Sendable {
    enum Content: Sendable {
      /// A literal that needs no escapes. It is not checked.
      case literal(String)
      case text(String)
      /// A number and its length in bytes.
      case hex(UInt64, Int)
    }

    let content: Content

    /// - Parameter literal: printable ASCII without quotation marks and backslashes.
    package init(stringLiteral literal: String) {
      assert(JSONLine.isPlain(literal.utf8.span), "to be escaped: \(literal)")
      content = .literal(literal)
    }

    /// Whatever it is.
    package init(_ text: String) { content = .text(text) }

    /// Writes the lowest bytes of a number, most significant first, two digits each.
    package init(hex number: UInt64, octets: Int) { content = .hex(number, octets) }
  }

  /// Members that are made once, for many objects.
  package struct Members: Sendable {
    let bytes: [UInt8]

    package init(_ build: (inout JSONLine) -> Void) {
      var json = JSONLine()
      build(&json)
      bytes = Array(json.bytes.dropFirst())
    }
  }
}
