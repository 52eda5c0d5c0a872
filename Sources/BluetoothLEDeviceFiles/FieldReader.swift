// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// A reader of the fields in the frames of a device file.
enum FieldReader {
  private static let types = ValueFormat.names.filter { NumberLayout(named: $0) != nil } + ["text", "bytes"]

  static func layout(_ kind: FileEntry.Kind) throws(FileEntryError) -> NumberLayout {
    guard let entry = kind.fields["type"] else { throw kind.entry.error("Missing key \"type\": u8, u16le, …") }
    return try layout(entry)
  }

  private static func layout(_ entry: FileEntry) throws(FileEntryError) -> NumberLayout {
    let name = try entry.string()
    guard let layout = NumberLayout(named: name) else {
      if NumberLayout(named: name + "le") != nil { throw entry.error("\(name) needs a byte order: \(name)le or \(name)be.") }
      throw entry.error("Unknown type \(DisplayText.quote(name)). Use \(types.joined(separator: ", ")).")
    }
    return layout
  }

  /// Reads a number, text, bytes or list field with this name.
  /// - Parameter isSized: Whether an earlier field of the frame holds the size of this field.
  static func field(_ kind: FileEntry.Kind, _ entry: FileEntry, _ name: String, isSized: Bool) throws(FileEntryError) -> Frame.Piece {
    if let value = kind.fields["list"] {
      for key in ["type", "length", "scale", "offset", "values", "value"] {
        if let other = kind.fields[key] { throw other.error("A list cannot have this key. Set it in the fields of the list.") }
      }
      return .list(
        .init(name: name, item: .group(try group(value)), extent: try count(kind.fields["count"], isSized), note: try note(kind)))
    }
    guard let type = kind.fields["type"] else { throw entry.error("Missing key \"type\": u8, u16le, text, bytes, …") }
    switch try type.string() {
    case "text", "bytes": return .string(try string(kind, name, isSized))
    default: break
    }
    if let value = kind.fields["length"] { throw value.error("Only text and bytes have a length.") }
    let number = try number(kind, type, name)
    guard isSized || kind.fields["count"] != nil else { return .number(number) }
    var item = number
    item.note = FieldNote()
    return .list(.init(name: name, item: .number(item), extent: try count(kind.fields["count"], isSized), note: number.note))
  }

  private static func count(_ entry: FileEntry?, _ isSized: Bool) throws(FileEntryError) -> Frame.Extent {
    guard let entry else { return isSized ? .sized : .rest }
    if case .string("rest") = entry.tree.kind { return .rest }
    return .fixed(try entry.integer(1...Frame.maximumLength))
  }

  private static func string(_ kind: FileEntry.Kind, _ name: String, _ isSized: Bool) throws(FileEntryError) -> Frame.StringField {
    for key in ["count", "scale", "offset", "unit"] {
      if let other = kind.fields[key] { throw other.error("Only numbers can have this.") }
    }
    let isText = try kind.fields["type"]?.string() == "text"
    var field = Frame.StringField(name: name, isText: isText, extent: isSized ? .sized : .rest, note: try note(kind))
    if let value = kind.fields["length"] { field.extent = .fixed(try value.integer(1...Frame.maximumCommand)) }
    if let value = kind.fields["values"] {
      guard isText else { throw value.error("Only text and numbers have values.") }
      for item in try value.bounded() { field.choices.append(try item.words()) }
      guard !field.choices.isEmpty else { throw value.error("Add at least one value.") }
    }
    return field
  }

  private static func number(_ kind: FileEntry.Kind, _ type: FileEntry, _ name: String) throws(FileEntryError) -> NumberField {
    var field = NumberField(name: name, layout: try layout(type), note: try note(kind))
    if kind.fields["scale"] != nil || kind.fields["offset"] != nil {
      let factor = try kind.fields["scale"]?.decimal() ?? 1
      let offset = try kind.fields["offset"]?.decimal() ?? 0
      guard (1e-12...1e12).contains(abs(factor)), abs(offset) <= 1e15 else {
        throw type.error("The scale must be 1e-12 to 1e12, and the offset at most 1e15.")
      }
      field.scale = .init(factor: factor, offset: offset)
    }
    if let value = kind.fields["values"] {
      guard field.layout.kind != .float else { throw value.error("Only whole numbers can have named values.") }
      field.names = try names(value, field.layout.range)
    }
    return field
  }

  /// Reads named values: `{"open": 1, "closed": 0}`.
  private static func names(_ entry: FileEntry, _ range: ClosedRange<Int128>) throws(FileEntryError) -> [NumberField.ValueName] {
    var names: [NumberField.ValueName] = []
    let least = Int(clamping: range.lowerBound)
    for (key, value) in try entry.namedMembers(limit: 256) {
      try value.checkName(key)
      guard NumberField.integer(key) == nil else { throw value.error("A name cannot be a number.") }
      let number = Int128(try value.integer(least...Int(clamping: range.upperBound)))
      guard !names.contains(where: { $0.number == number }) else { throw value.error("\(number) already has a name.") }
      names.append(.init(name: key, number: number))
    }
    guard !names.isEmpty else { throw entry.error("Add at least one value.") }
    return names
  }

  private static func note(_ kind: FileEntry.Kind) throws(FileEntryError) -> FieldNote {
    FieldNote(unit: try kind.fields["unit"]?.words(limit: 16), summary: try kind.fields["summary"]?.words())
  }

  // MARK: Bits

  static func bits(_ kind: FileEntry.Kind) throws(FileEntryError) -> BitsField {
    let layout = try layout(kind)
    guard layout.kind == .unsigned else { throw kind.entry.error("Bits need an unsigned number.") }
    var taken: UInt64 = 0
    var bits: [BitsField.Bit] = []
    for item in try kind.entry.bounded() {
      let fields = try item.object(["name", "bit", "width", "values", "unit", "summary"])
      guard let name = fields["name"], let low = fields["bit"] else { throw item.error("Missing \"name\" or \"bit\" (0 is the lowest).") }
      let top = 8 * layout.width
      var bit = BitsField.Bit(name: try name.name(), low: try low.integer(0...top - 1), width: 1)
      if let width = fields["width"] { bit.width = try width.integer(1...min(32, top - bit.low)) }
      let mask = ((1 as UInt64) << UInt64(bit.width) - 1) << UInt64(bit.low)
      guard taken & mask == 0 else { throw item.error("Another entry uses these bits.") }
      taken |= mask
      if let values = fields["values"] {
        bit.names = try names(values, 0...Int128(bit.width < 64 ? (1 << UInt64(bit.width)) - 1 : UInt64.max))
      }
      bit.note = FieldNote(unit: try fields["unit"]?.words(limit: 16), summary: try fields["summary"]?.words())
      bits.append(bit)
    }
    guard !bits.isEmpty else { throw kind.entry.error("Add at least one bit.") }
    return BitsField(layout: layout, bits: bits)
  }

  // MARK: Groups

  /// Reads the fields of a list item, each of a fixed size.
  private static func group(_ entry: FileEntry) throws(FileEntryError) -> [Frame.Piece] {
    var builder = FrameBuilder(name: "list")
    let items = try entry.bounded()
    for item in items {
      for (key, value) in try item.members() where ["list", "checksum", "length_of", "count_of", "at", "count"].contains(key) {
        throw value.error("A list item cannot have \"\(key)\".")
      }
      try builder.add(item, nil)
    }
    let frame = try builder.finished(entry)
    for (index, piece) in frame.pieces.enumerated() where Frame.fixedSize(piece) == nil {
      throw (items.indices.contains(index) ? items[index] : entry).error("A list item needs a fixed size. Set its length.")
    }
    guard (1...Frame.maximumLength).contains(frame.leastLength), !frame.fields.isEmpty else {
      throw entry.error("A list item needs fields of 1 to \(Frame.maximumLength) bytes in total.")
    }
    return frame.pieces
  }
}

extension NumberLayout {
  init?(named name: String) {
    guard let format = try? ValueFormat(name) else { return nil }
    self.init(format)
  }
}
