// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A builder that joins pieces to a frame, in the order of the packet, and checks the rules of `Frame`.
struct FrameBuilder {
  private var frame: Frame
  /// The number of bytes in the pieces added so far. Nil after a piece of variable size.
  private var offset: Int? = 0
  private var names: Set<String> = []
  /// The fields that a size field announces but that the frame does not contain yet, with the entry of the size field.
  private var sized: [(name: String, countsItems: Bool, entry: FileEntry)] = []
  private var hasRest = false
  /// The entry of a checksum that covers later bytes. Nil if the frame has no such checksum yet.
  private var covering: FileEntry?

  init(name: String) { frame = Frame(name: name) }

  func finished(_ entry: FileEntry) throws(FileEntryError) -> Frame {
    if let missing = sized.first {
      let (name, known) = (DisplayText.quote(missing.name), names.sorted().prefix(8).joined(separator: ", "))
      guard !missing.countsItems else { throw missing.entry.error("No later field is called \(name).") }
      throw missing.entry.error(
        "No later field is called \(name)\(known.isEmpty ? "" : " (fields: \(known))"). Use \"all\" for the length of the packet, or \"rest\" for "
          + "the length after this number. If N of these bytes do not count, such as a checksum: \"add\": -N")
    }
    guard !frame.pieces.isEmpty else { throw entry.error("The frame is empty.") }
    let least = frame.leastLength
    guard least <= Frame.maximumCommand else { throw entry.error("Too long: \(least) bytes (maximum \(Frame.maximumCommand)).") }
    return frame
  }

  mutating func add(_ piece: Frame.Piece, _ entry: FileEntry) throws(FileEntryError) {
    if case .bytes(let bytes) = piece, bytes.isEmpty { return }
    guard frame.pieces.count < FrameReader.maximumPieces else { throw entry.error("More than \(FrameReader.maximumPieces) fields.") }
    for field in Frame.fields(piece) {
      guard names.insert(field.name).inserted else { throw entry.error("The packet already has a field \(DisplayText.quote(field.name)).") }
    }
    let size = Frame.fixedSize(piece)
    if size == nil {
      if hasRest { throw entry.error("The field needs a fixed size, because an earlier one takes the rest of the packet.") }
      if case .rest? = Self.extent(piece) { hasRest = true }
    }
    if case .bytes(let bytes) = piece, case .bytes(let before)? = frame.pieces.last {
      frame.pieces[frame.pieces.count - 1] = .bytes(before + bytes)
    } else {
      frame.pieces.append(piece)
    }
    offset = size.flatMap { size in offset.map { $0 + size } }
  }

  private static func extent(_ piece: Frame.Piece) -> Frame.Extent? {
    switch piece {
    case .string(let field): field.extent
    case .list(let field): field.extent
    default: nil
    }
  }

  private static let kinds: FileEntry.Kinds = [
    ("octets", []), ("skip", []), ("checksum", ["order", "xor", "over", "from", "until"]), ("length_of", ["type", "add"]),
    ("count_of", ["type", "add"]), ("bits", ["type"]),
    ("name", ["type", "length", "count", "list", "scale", "offset", "values", "unit", "summary", "value"]),
  ]

  /// Reads an item of the list `fields` and adds its piece to the frame.
  /// - Parameter fixed: The value that an inner frame sets for the field. Nil if the inner frame sets none.
  mutating func add(_ entry: FileEntry, _ fixed: FileEntry?) throws(FileEntryError) {
    let kind = try entry.kind(of: Self.kinds, "a field", with: ["at"])
    if let value = kind.fields["at"] { try advance(to: try value.integer(0...Frame.maximumCommand), value) }
    switch kind.name {
    case "octets": try add(.bytes(try kind.entry.bytes(limit: Frame.maximumLength)), entry)
    case "skip": try add(.skip(try kind.entry.integer(1...Frame.maximumCommand)), entry)
    case "checksum": try add(.checksum(try checksum(kind)), entry)
    case "length_of", "count_of": try add(.size(try size(kind)), entry)
    case "bits": try add(.bits(try FieldReader.bits(kind)), entry)
    default: try field(kind, entry, fixed)
    }
  }

  private mutating func advance(to place: Int, _ entry: FileEntry) throws(FileEntryError) {
    guard let offset else { throw entry.error("An earlier field has no fixed size. Remove \"at\".") }
    guard place >= offset else { throw entry.error("The earlier fields take \(offset) bytes.") }
    if place > offset { try add(.skip(place - offset), entry) }
  }

  // MARK: Kinds

  private mutating func checksum(_ kind: FileEntry.Kind) throws(FileEntryError) -> Frame.ChecksumField {
    let checksum = try kind.entry.checksum()
    if let covering { throw covering.error("A checksum cannot cover a later checksum.") }
    let order: ByteOrder = try kind.fields["order"]?.choice("Use little or big.") ?? .little
    let scope: Frame.ChecksumField.Scope = try kind.fields["over"]?.choice("Use before, after or all.") ?? .before
    if scope != .before { covering = kind.entry }
    return Frame.ChecksumField(
      checksum: checksum, order: order,
      exclusiveOr: UInt32(clamping: try kind.fields["xor"]?.integer(0...Int(UInt32.max >> UInt32(32 - checksum.width))) ?? 0),
      scope: scope, from: try kind.fields["from"]?.integer(0...Frame.maximumLength) ?? 0,
      until: try kind.fields["until"]?.integer(0...Frame.maximumLength) ?? 0)
  }

  private mutating func size(_ kind: FileEntry.Kind) throws(FileEntryError) -> Frame.SizeField {
    let layout = try FieldReader.layout(kind)
    guard layout.kind == .unsigned else { throw kind.entry.error("A size must be an unsigned number.") }
    let add = try kind.fields["add"]?.integer(-Frame.maximumCommand...Frame.maximumCommand) ?? 0
    let name = try kind.entry.string()
    let countsItems = kind.name == "count_of"
    switch name {
    case "all" where !countsItems: return Frame.SizeField(layout: layout, target: .all, countsItems: false, add: add)
    case "rest" where !countsItems: return Frame.SizeField(layout: layout, target: .rest, countsItems: false, add: add)
    default:
      guard !names.contains(name) else { throw kind.entry.error("The size of \(name) must be before \(name).") }
      guard !sized.contains(where: { $0.name == name }) else { throw kind.entry.error("The size of \(name) is set twice.") }
      sized.append((name, countsItems, kind.entry))
      return Frame.SizeField(layout: layout, target: .field(name), countsItems: countsItems, add: add)
    }
  }

  private mutating func field(_ kind: FileEntry.Kind, _ entry: FileEntry, _ fixed: FileEntry?) throws(FileEntryError) {
    let name = try kind.entry.name()
    guard !["all", "rest"].contains(name) else { throw kind.entry.error("Choose another name. \(name) has a meaning in \"length_of\".") }
    let size = sized.firstIndex { $0.name == name }.map { sized.remove(at: $0) }
    let piece = try FieldReader.field(kind, entry, name, isSized: size != nil)
    if let size {
      guard case .sized? = Self.extent(piece) else { throw entry.error("Remove the fixed size, or the earlier size field.") }
      if size.countsItems, case .string = piece { throw size.entry.error("\(name) is not a list. To count bytes, use \"length_of\".") }
    }
    guard let value = fixed ?? kind.fields["value"] else { return try add(piece, entry) }
    guard let field = Frame.fields(piece).first, Frame.fixedSize(piece) != nil else {
      throw value.error("A constant value needs a fixed size.")
    }
    let literal = try value.value(of: field)
    let bytes: [UInt8]
    do { bytes = try Frame(name: name, pieces: [piece]).encode([NamedValue(name, literal)]) } catch {
      throw value.error(error.description)
    }
    try add(.bytes(bytes), entry)
  }
}
