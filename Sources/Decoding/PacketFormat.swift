package import Bluetooth

/// The fields of a packet's parameters in order, as a table writes them: `enable:bool interval:ms1.25 handles:rest`.
///
/// Types: `u8 u16 u24 u32 u48 i8` numbers, least significant byte first. `x8 x16 x24 x32 x64` bits. `a|b|c` a byte whose values from 0 have
/// these names, `-` for none. `bool`, `handle` of a link, `status`, `addr`, `addrtype`, `ownaddrtype`, `company`, `opcode`, `version`,
/// `dbm`, `db0.1`. `ms1.25 ms0.625 ms10 us` 16 bits in these units, `ms0.625x24` three bytes, `ms1.25x8` one byte. `hexN` N bytes. `rest`
/// all remaining bytes. `text248` a text padded with NULs. `ad` a length and AD structures, `ad31` the same in 31 bytes. `each:count` and
/// `bits:mask` repeat the following fields as often as an earlier field says.
package struct PacketFormat: Sendable {
  private let fields: [Field]
  private let group: Group?

  private struct Field: Sendable {
    let name: String
    let type: FieldType
  }

  private struct Group: Sendable {
    let count: String
    let isBits: Bool
    let fields: [Field]
  }

  package init(_ text: some StringProtocol) {
    var fields: [Field] = []
    var group: (count: String, isBits: Bool, start: Int)?
    for word in text.split(separator: " ") {
      let parts = word.split(separator: ":", maxSplits: 1)
      let name = String(parts[0])
      if parts.count == 2, name == "each" || name == "bits" {
        group = (String(parts[1]), name == "bits", fields.count)
        continue
      }
      fields.append(Field(name: name, type: FieldType(parts.count == 2 ? parts[1] : parts[0])))
    }
    self.fields = Array(fields[..<(group?.start ?? fields.count)])
    self.group = group.map { Group(count: $0.count, isBits: $0.isBits, fields: Array(fields[$0.start...])) }
  }

  /// Decodes the fields and appends them to `found`.
  /// - Parameter what: The packet's name for the problem's text.
  /// - Returns: The problem, or nil. `found` has the fields before it.
  package func read(_ reader: inout ByteReader, _ what: String, into found: inout [PacketField]) -> MalformedPacket? {
    let first = found.count
    if let problem = Self.read(fields, &reader, what, into: &found) { return problem }
    guard let group else { return nil }
    let said = found[first...].first { $0.name == group.count }?.value.number ?? 0
    let count = group.isBits ? said.nonzeroBitCount : Int(clamping: said)
    var items: [[PacketField]] = []
    defer { found.append(PacketField("items", .list(items))) }
    for _ in 0..<max(0, count) {
      var item: [PacketField] = []
      let problem = Self.read(group.fields, &reader, what, into: &item)
      if !item.isEmpty { items.append(item) }
      if let problem { return problem }
    }
    return nil
  }

  private static func read(_ fields: [Field], _ reader: inout ByteReader, _ what: String, into found: inout [PacketField])
    -> MalformedPacket?
  {
    for field in fields {
      let left = reader.remaining
      let position = reader.offset
      do throws(MalformedPacket) { found.append(PacketField(field.name, try field.type.read(&reader))) } catch {
        return MalformedPacket("\(what): truncated \(field.name), \(left) byte(s) left", at: position)
      }
    }
    return nil
  }
}
