extension RecordWriter {
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
      assert(RecordWriter.isPlain(literal.utf8.span), "to be escaped: \(literal)")
      content = .literal(literal)
    }

    /// Whatever it is.
    package init(_ text: String) { content = .text(text) }

    /// Writes the lowest bytes of a number, most significant first, two digits each.
    package init(hex number: UInt64, octets: Int) { content = .hex(number, octets) }

    var string: String {
      switch content {
      case .literal(let text), .text(let text): text
      case .hex(let number, let octets): Hex.encode(number, octets: octets)
      }
    }
  }

  /// Members that are made once, for many objects.
  package struct Members: Sendable {
    let bytes: [UInt8]
    let values: JSONTree

    /// No members.
    package static let none = Self { _ in }

    package var isEmpty: Bool { bytes.isEmpty }

    package init(_ build: (inout RecordWriter) -> Void) {
      var json = RecordWriter()
      build(&json)
      bytes = Array(json.bytes.dropFirst())
      values = RecordWriter.value(build)
    }
  }
}
