// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// The layout of one packet: a sequence of pieces. `DeviceFile` has checked these rules:
/// - At most one piece takes the rest of the packet. All pieces after it have a fixed size.
/// - A size field precedes its piece, unless that piece takes the rest.
/// - Names are unique.
package struct Frame: Sendable, Equatable {
  /// The name for error messages: the key in `frames`, or a description of an inline frame.
  package var name: String
  package var pieces: [Piece] = []

  /// The maximum length of an attribute value, in bytes.
  package static let maximumLength = 512
  /// The maximum length of a command, in bytes. The host sends a command in segments.
  package static let maximumCommand = 65_536

  package init(name: String, pieces: [Piece] = []) { (self.name, self.pieces) = (name, pieces) }

  package enum Piece: Sendable, Equatable {
    /// Constant bytes, such as a header, a trailer or a code.
    case bytes([UInt8])
    /// The number of bytes that a decoder ignores and an encoder sets to zero.
    case skip(Int)
    case number(NumberField)
    case bits(BitsField)
    case string(StringField)
    case list(ListField)
    case size(SizeField)
    case checksum(ChecksumField)
  }

  /// The rule for the length of a string or list in a packet.
  package enum Extent: Sendable, Equatable {
    /// The number of bytes of a string, or of items of a list.
    case fixed(Int)
    /// The length that an earlier size field holds.
    case sized
    /// All bytes up to the fixed-size pieces at the end of the packet.
    case rest
  }

  package struct StringField: Sendable, Equatable {
    package var name: String
    /// Whether the string is UTF-8 text. Otherwise, the field holds bytes.
    package var isText: Bool
    package var extent: Extent
    /// The allowed texts. An empty list allows any text.
    package var choices: [String] = []
    package var note = FieldNote()
  }

  package struct ListField: Sendable, Equatable {
    package var name: String
    package var item: Item
    package var extent: Extent
    package var note = FieldNote()

    package enum Item: Sendable, Equatable {
      case number(NumberField)
      /// An item with several fields. Each piece has a fixed size.
      case group([Piece])
    }
  }

  /// A field that holds the size of another piece, of the packet, or of the bytes after the field.
  package struct SizeField: Sendable, Equatable {
    package var layout: NumberLayout
    package var target: Target
    /// Whether the field counts items instead of bytes.
    package var countsItems: Bool
    /// The number that an encoder adds to the size before it stores the sum in the field.
    package var add: Int

    package enum Target: Sendable, Equatable {
      case field(String)
      /// The whole packet.
      case all
      /// All bytes after the size field.
      case rest
    }
  }

  package struct ChecksumField: Sendable, Equatable {
    package var checksum: Checksum
    package var order: ByteOrder
    /// The mask that the frame applies to the checksum by exclusive or. 0 leaves the checksum unchanged.
    package var exclusiveOr: UInt32
    package var scope: Scope
    /// The number of bytes at the start of the scope that the checksum does not cover.
    package var from: Int
    /// The number of bytes at the end of the scope that the checksum does not cover.
    package var until: Int

    package enum Scope: String, Sendable, CaseIterable {
      case before, after
      /// The bytes before and after the checksum.
      case all
    }
  }

  // MARK: Sizes

  /// Returns the size of a piece in bytes. Nil if the size depends on the packet.
  static func fixedSize(_ piece: Piece) -> Int? {
    switch piece {
    case .bytes(let bytes): return bytes.count
    case .skip(let count): return count
    case .number(let field): return field.layout.width
    case .bits(let field): return field.layout.width
    case .size(let field): return field.layout.width
    case .checksum(let field): return field.checksum.width / 8
    case .string(let field): return if case .fixed(let count) = field.extent { count } else { nil }
    case .list(let field):
      guard case .fixed(let count) = field.extent else { return nil }
      return count * field.stride
    }
  }

  static func fixedSize(_ pieces: some Sequence<Piece>) -> Int { pieces.reduce(0) { $0 + (fixedSize($1) ?? 0) } }

  /// The minimum length of a packet, in bytes.
  package var leastLength: Int { Self.fixedSize(pieces) }

  /// The constant bytes that distinguish the frame, with their byte offsets from the start of the packet.
  package var identity: [(offset: Int, bytes: [UInt8])] {
    var offset = 0
    var found: [(offset: Int, bytes: [UInt8])] = []
    for piece in pieces {
      if case .bytes(let bytes) = piece { found.append((offset, bytes)) }
      guard let size = Self.fixedSize(piece) else { break }
      offset += size
    }
    return found
  }

  /// Returns the number of constant bytes of the frame that a packet contains. Nil if the packet differs in a constant byte.
  package func likeness(_ packet: [UInt8]) -> Int? {
    var count = 0
    for (offset, bytes) in identity {
      for (index, byte) in bytes.enumerated() where offset + index < packet.count {
        guard packet[offset + index] == byte else { return nil }
        count += 1
      }
    }
    return count
  }

  /// Returns whether a packet can start like the frame and also like `other`.
  func isLike(_ other: Frame) -> Bool {
    var known: [Int: UInt8] = [:]
    for (offset, bytes) in identity { for (index, byte) in bytes.enumerated() { known[offset + index] = byte } }
    return other.identity.allSatisfy { offset, bytes in
      bytes.enumerated().allSatisfy { known[offset + $0].map { [byte = $1] in $0 == byte } ?? true }
    }
  }

  // MARK: Fields

  /// The named fields, in the order of the packet.
  package var fields: [Field] { pieces.flatMap(Self.fields) }

  package func field(_ name: String) -> Field? { fields.first { $0.name == name } }

  static func fields(_ piece: Piece) -> [Field] {
    switch piece {
    case .number(let field): [.number(field)]
    case .string(let field): [.string(field)]
    case .list(let field): [.list(field)]
    case .bits(let field): field.bits.map { .bit($0) }
    case .bytes, .skip, .size, .checksum: []
    }
  }

  package enum Field: Sendable, Equatable {
    case number(NumberField)
    case bit(BitsField.Bit)
    case string(StringField)
    case list(ListField)

    package var name: String {
      switch self {
      case .number(let field): field.name
      case .bit(let bit): bit.name
      case .string(let field): field.name
      case .list(let field): field.name
      }
    }

    package var note: FieldNote {
      switch self {
      case .number(let field): field.note
      case .bit(let bit): bit.note
      case .string(let field): field.note
      case .list(let field): field.note
      }
    }
  }
}

/// The unit of a field and a summary of its meaning, which messages show.
package struct FieldNote: Sendable, Equatable {
  package var unit: String?
  package var summary: String?
}

extension Frame.ListField {
  /// The size of an item in bytes, at least 1.
  var stride: Int {
    switch item {
    case .number(let field): field.layout.width
    case .group(let pieces): Frame.fixedSize(pieces)
    }
  }
}
