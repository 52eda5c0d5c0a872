package import Text

/// The layout of one packet: pieces, one behind the other. Made by `DeviceFile`, which has checked that
/// - at most one piece takes what is left of the packet, and what stands behind that one has a fixed size;
/// - a size field stands before the piece whose size it is, unless that takes what is left;
/// - names are given once.
package struct Frame: Sendable, Equatable {
  /// As the file calls it.
  package var name: String
  package var pieces: [Piece] = []

  /// More would not fit an attribute value.
  package static let maximumLength = 512
  /// What a command may be cut into segments from.
  package static let maximumCommand = 65_536

  package init(name: String, pieces: [Piece] = []) {
    self.name = name
    self.pieces = pieces
  }

  package enum Piece: Sendable, Equatable {
    /// Header, trailer, codes: the same in every packet.
    case octets([UInt8])
    /// Octets that say nothing; zeros when they are sent.
    case skip(Int)
    case number(NumberField)
    case bits(BitsField)
    case string(StringField)
    case list(ListField)
    case size(SizeField)
    case checksum(ChecksumField)
  }

  /// How far a piece goes that may be of any length.
  package enum Extent: Sendable, Equatable {
    /// Octets of a string, items of a list.
    case fixed(Int)
    /// As a size field before it says.
    case sized
    /// What the pieces behind it leave.
    case rest
  }

  package struct StringField: Sendable, Equatable {
    package var name: String
    /// UTF-8; else bytes.
    package var isText: Bool
    package var extent: Extent
    /// Of a text: nothing else is one. Empty: any.
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
      /// Each piece has a fixed size.
      case group([Piece])
    }
  }

  /// How long something is.
  package struct SizeField: Sendable, Equatable {
    package var layout: NumberLayout
    package var target: Target
    /// Counts items, not octets.
    package var countsItems: Bool
    /// What the field says beyond the size.
    package var add: Int

    package enum Target: Sendable, Equatable {
      case field(String)
      /// The whole packet.
      case all
      /// What stands behind the size field.
      case rest
    }
  }

  package struct ChecksumField: Sendable, Equatable {
    package var checksum: Checksum
    package var order: ByteOrder
    /// The value is combined with this before it is sent.
    package var exclusiveOr: UInt32
    package var scope: Scope
    /// Octets at the beginning of the scope that are not covered.
    package var from: Int
    /// Octets at the end of the scope that are not covered.
    package var until: Int

    package enum Scope: String, Sendable, CaseIterable {
      case before, after
      /// Before and after.
      case all
    }
  }

  // MARK: Sizes

  /// Nil where it depends on the packet.
  static func fixedSize(_ piece: Piece) -> Int? {
    switch piece {
    case .octets(let octets): return octets.count
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

  /// Every packet has at least so many octets.
  package var leastLength: Int { Self.fixedSize(pieces) }

  /// The constant octets whose place is the same in every packet: what tells frames apart.
  package var identity: [(offset: Int, octets: [UInt8])] {
    var offset = 0
    var found: [(offset: Int, octets: [UInt8])] = []
    for piece in pieces {
      if case .octets(let octets) = piece { found.append((offset, octets)) }
      guard let size = Self.fixedSize(piece) else { break }
      offset += size
    }
    return found
  }

  /// How many octets of a packet say that it is of this frame, as far as it goes; nil when one says that it is not.
  package func likeness(_ packet: [UInt8]) -> Int? {
    var count = 0
    for (offset, octets) in identity {
      for (index, octet) in octets.enumerated() where offset + index < packet.count {
        guard packet[offset + index] == octet else { return nil }
        count += 1
      }
    }
    return count
  }

  /// There can be a packet that begins as both do.
  func isLike(_ other: Frame) -> Bool {
    var known: [Int: UInt8] = [:]
    for (offset, octets) in identity { for (index, octet) in octets.enumerated() { known[offset + index] = octet } }
    return other.identity.allSatisfy { offset, octets in
      octets.enumerated().allSatisfy { known[offset + $0].map { [octet = $1] in $0 == octet } ?? true }
    }
  }

  // MARK: Fields

  /// What has a name, in the order of the packet.
  package var fields: [Field] { pieces.flatMap(Self.fields) }

  package func field(_ name: String) -> Field? { fields.first { $0.name == name } }

  static func fields(_ piece: Piece) -> [Field] {
    switch piece {
    case .number(let field): [.number(field)]
    case .string(let field): [.string(field)]
    case .list(let field): [.list(field)]
    case .bits(let field): field.bits.map { .bit($0) }
    case .octets, .skip, .size, .checksum: []
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

/// What a field means, for people.
package struct FieldNote: Sendable, Equatable {
  package var unit: String?
  package var summary: String?
}

extension Frame.ListField {
  /// Octets of an item, 1 or more.
  var stride: Int {
    switch item {
    case .number(let field): field.layout.width
    case .group(let pieces): Frame.fixedSize(pieces)
    }
  }
}
