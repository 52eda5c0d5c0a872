package import BluetoothLE

/// The names and types of a packet's parameters in order. A table writes them as `enable:bool interval:ms1.25 handles:rest`.
///
/// Numbers are `u8 u16 u24 u32 u48 i8`, and bits are `x8 x16 x24 x32 x64`. Each has its least significant byte first.
/// `a|b|c` names the values of a byte from 0, `-` for no name. `ms1.25 ms0.625 ms10 us` are 2 bytes in this unit. `ms0.625x24` is 3 bytes,
/// `ms1.25x8 ms0.125x8` are 1 byte. Other types of parameters are
/// `bool handle status addr addrtype ownaddrtype company opcode version dbm db db0.1 cte datastatus`. `evttype` is the event type and the data status of an extended report. `later` is what a later version may add, if anything.
/// `hexN` is N bytes, `counted` a length byte and bytes, and `rest` all remaining bytes. `text248` is a text padded with NULs. `ad` is a length byte and AD structures, and
/// `ad31` pads them to 31 bytes. `each:count` and `bits:mask` repeat the following fields for each item or bit that the named field counts.
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
  /// - Parameters:
  ///   - what: The name of the packet for the text of the problem.
  ///   - isCut: Whether the recorder cut the packet, so that an incomplete field is no problem.
  /// - Returns: The problem, or nil for a valid packet. `found` has the fields before the problem.
  package func read(_ reader: inout ByteReader, _ what: String, into found: inout [PacketField], isCut: Bool = false) -> MalformedPacket? {
    let first = found.count
    if let problem = Self.read(fields, &reader, what, into: &found, isCut) { return problem }
    guard let group, !isCut || !reader.isAtEnd else { return nil }
    let said = found[first...].first { $0.name == group.count }?.value.number ?? 0
    let count = group.isBits ? said.nonzeroBitCount : Int(clamping: said)
    var items: [[PacketField]] = []
    defer { found.append(PacketField("items", .list(items))) }
    for _ in 0..<max(0, count) where !isCut || !reader.isAtEnd {
      var item: [PacketField] = []
      let problem = Self.read(group.fields, &reader, what, into: &item, isCut)
      if !item.isEmpty { items.append(item) }
      if let problem { return problem }
    }
    return nil
  }

  private static func read(
    _ fields: [Field], _ reader: inout ByteReader, _ what: String, into found: inout [PacketField], _ isCut: Bool
  ) -> MalformedPacket? {
    for field in fields {
      let left = reader.remaining
      let position = reader.offset
      if left == 0, isCut || field.type.isOptional { return nil }
      do throws(MalformedPacket) {
        let value = try field.type.read(&reader)
        found.append(PacketField(field.name, value.asPart(after: found)))
        if case .bits(let bits, _) = value { found.append(PacketField("data_status", FieldType.dataStatus(UInt8(bits >> 5 & 3)))) }
      } catch {
        guard !isCut else {
          let rest = reader.rest()
          let isData = if case .advertising = field.type { true } else { false }
          found.append(PacketField(field.name, isData ? .part(rest, of: .init(data: rest, isTruncated: true)) : .bytes(rest)))
          return nil
        }
        return MalformedPacket("\(what): truncated \(field.name), \(left.counted("byte")) left", at: position)
      }
    }
    return nil
  }
}

extension PacketField.Value {
  /// Marks advertising data as a part, if the fields before it say so (Vol 4 Part E §7.7.65.13, §7.8.54). Returns other values unchanged.
  fileprivate func asPart(after fields: [PacketField]) -> Self {
    guard case .advertising(let bytes) = self else { return self }
    let status = fields.last { ["data_status", "operation"].contains($0.name) }
    switch status?.value {
    case .named(2...3, _): return .part(bytes, of: .init(data: bytes, isTruncated: true))
    case .named(1, _), .choice(0...2, _): return .part(bytes, of: nil)
    default: return self
    }
  }
}

/// The encoding of one field in a `PacketFormat`.
enum FieldType: Sendable {
  case unsigned(Int)
  case signed
  case mask(Int)
  case flag
  case choice([String])
  case handle
  case status
  case address
  case company
  case version
  case opcode
  /// A number that counts multiples of a factor in a unit, such as 1.25 and `ms`.
  /// - Parameter bytes: The size of the number in bytes, negative for a signed number.
  case quantity(Double, String, bytes: Int)
  case bytes(Int)
  case rest
  case counted
  case text(Int)
  /// A length byte and AD structures.
  /// - Parameter size: The fixed size of the AD structures in bytes, with padding. Nil if the length byte determines the size.
  case advertising(size: Int?)
  /// A number with a name for some values.
  case named([UInt8: String])
  case addressType
  case eventType
  case later

  var isOptional: Bool { if case .later = self { true } else { false } }

  static func dataStatus(_ status: UInt8) -> PacketField.Value { .named(status, dataStatuses[status]) }

  init(_ text: some StringProtocol) {
    if text.contains("|") {
      self = .choice(text.split(separator: "|", omittingEmptySubsequences: false).map { String($0) })
    } else if let type = Self.types[String(text)] {
      self = type
    } else if text.hasPrefix("hex"), let count = Int(text.dropFirst(3)) {
      self = .bytes(count)
    } else if text.hasPrefix("text"), let count = Int(text.dropFirst(4)) {
      self = .text(count)
    } else {
      self = .rest
    }
  }

  func read(_ reader: inout ByteReader) throws(MalformedPacket) -> PacketField.Value {
    switch self {
    case .unsigned(let bytes): return .number(Int64(truncatingIfNeeded: try reader.number(bytes, true, "field")))
    case .signed: return .number(Int64(try reader.int8("field")))
    case .mask(let bytes): return .mask(try reader.number(bytes, true, "field"), bytes: bytes)
    case .flag: return .flag(try reader.uint8("field") != 0)
    case .choice(let names):
      let value = try reader.uint8("field")
      return .choice(value, Int(value) < names.count && names[Int(value)] != "-" ? names[Int(value)] : nil)
    case .named(let names):
      let value = try reader.uint8("field")
      return .named(value, names[value])
    case .addressType:
      let value = try reader.uint8("field")
      return .choice(value, Self.addressTypes[value])
    case .eventType:
      let bits = try reader.uint16("field")
      let names = Self.eventTypes.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
      return .bits(bits, names.isEmpty ? ["non_connectable"] : names)
    case .handle: return .mask(UInt64(try reader.uint16("field") & 0x0FFF), bytes: 2)
    case .status: return .status(ControllerErrorCode(rawValue: try reader.uint8("field")))
    case .address: return .address(try reader.address("field"))
    case .company:
      let id = try reader.uint16("field")
      return .code(Int64(id), AssignedNumbers.company(id))
    case .version:
      let version = try reader.uint8("field")
      return .code(Int64(version), Self.versions[version])
    case .opcode:
      let opcode = try reader.uint16("field")
      return .code(Int64(opcode), HCITable.commands[opcode]?.name)
    case .quantity(let factor, let unit, let bytes):
      let number = Int64(truncatingIfNeeded: try reader.number(abs(bytes), true, "field"))
      let isNegative = bytes < 0 && number >> Int64(8 * -bytes - 1) == 1
      return .quantity(isNegative ? number - 1 << Int64(8 * -bytes) : number, factor: factor, unit: unit)
    case .bytes(let count): return .bytes(try reader.bytes(count, "field"))
    case .rest, .later: return .bytes(reader.rest())
    case .counted: return .bytes(try reader.bytes(Int(try reader.uint8("field")), "field"))
    case .text(let count):
      let bytes = try reader.slice(count, "field")
      return .text(Array(bytes.prefix { $0 != 0 }))
    case .advertising(nil): return .advertising(try reader.bytes(Int(try reader.uint8("field")), "field"))
    case .advertising(let size?):
      let length = Int(try reader.uint8("field"))
      return .advertising(Array(try reader.slice(size, "field").prefix(length)))
    }
  }
}

/// Decoding by formats from tables, for the packets of all layers.
extension DecodedPacket {
  /// Decodes the remaining bytes of a packet that has no problem so far.
  /// - Parameter name: The name of the field that takes the bytes if `format` is nil.
  mutating func read(_ format: PacketFormat?, _ reader: inout ByteReader, else name: String) {
    guard problem == nil else { return }
    guard let format else { return rest(&reader, name) }
    problem = format.read(&reader, self.name, into: &fields, isCut: missing > 0)
    if problem == nil, !reader.isAtEnd {
      problem = MalformedPacket("\(self.name): \(reader.remaining.counted("trailing byte"))", at: reader.offset)
    }
  }

  mutating func rest(_ reader: inout ByteReader, _ name: String) {
    if !reader.isAtEnd { fields.append(PacketField(name, .bytes(reader.rest()))) }
  }

  /// Sets the problem of a packet whose length field does not match its size.
  /// - Parameter there: The number of recorded bytes that follow the length field. Nil stands for the number of unread bytes.
  mutating func fail(length: Int, there: Int? = nil, _ reader: inout ByteReader) {
    problem = MalformedPacket("\(name): length \(length), but \((there ?? reader.remaining).counted("byte")) left", at: reader.offset)
    rest(&reader, "octets")
  }
}
