import Bluetooth

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
  /// A number in a unit.
  /// - Parameter octets: The size of the number in bytes. Negative: the number is signed.
  case quantity(Double, String, octets: Int)
  case octets(Int)
  case rest
  case text(Int)
  /// A length and AD structures.
  /// - Parameter size: The size of the data in bytes, whatever the length. Nil: as many as the length.
  case advertising(size: Int?)

  private static let addressTypes = ["public", "random", "public_identity", "random_identity"]
  private static let named: [String: FieldType] = [
    "u8": .unsigned(1), "u16": .unsigned(2), "u24": .unsigned(3), "u32": .unsigned(4), "u48": .unsigned(6), "i8": .signed,
    "x8": .mask(1), "x16": .mask(2), "x24": .mask(3), "x32": .mask(4), "x64": .mask(8), "bool": .flag, "handle": .handle,
    "status": .status,
    "reason": .status, "addr": .address, "address": .address, "addrtype": .choice(addressTypes),
    "ownaddrtype": .choice(["public", "random", "resolvable_or_public", "resolvable_or_random"]),
    "company": .company, "version": .version,
    "opcode": .opcode, "ms1.25": .quantity(1.25, "ms", octets: 2), "ms0.625": .quantity(0.625, "ms", octets: 2),
    "ms10": .quantity(10, "ms", octets: 2), "us": .quantity(1, "us", octets: 2), "ms0.625x24": .quantity(0.625, "ms", octets: 3),
    "ms1.25x8": .quantity(1.25, "ms", octets: 1),
    "dbm": .quantity(1, "dBm", octets: -1), "db0.1": .quantity(0.1, "dB", octets: -2), "phy": .choice(["none", "1m", "2m", "coded"]),
    "role": .choice(["central", "peripheral"]),
    "rest": .rest, "ad": .advertising(size: nil), "ad31": .advertising(size: 31),
  ]

  init(_ text: some StringProtocol) {
    if text.contains("|") {
      self = .choice(text.split(separator: "|", omittingEmptySubsequences: false).map { String($0) })
    } else if let type = Self.named[String(text)] {
      self = type
    } else if text.hasPrefix("hex"), let count = Int(text.dropFirst(3)) {
      self = .octets(count)
    } else if text.hasPrefix("text"), let count = Int(text.dropFirst(4)) {
      self = .text(count)
    } else {
      self = .rest
    }
  }

  func read(_ reader: inout ByteReader) throws(MalformedPacket) -> PacketField.Value {
    switch self {
    case .unsigned(let octets): return .number(Int64(truncatingIfNeeded: try reader.unsigned(octets)))
    case .signed: return .number(Int64(try reader.int8("field")))
    case .mask(let octets): return .mask(try reader.unsigned(octets), octets: octets)
    case .flag: return .flag(try reader.uint8("field") != 0)
    case .choice(let names):
      let value = try reader.uint8("field")
      return .choice(value, Int(value) < names.count && names[Int(value)] != "-" ? names[Int(value)] : nil)
    case .handle: return .mask(UInt64(try reader.uint16("field") & 0x0FFF), octets: 2)
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
    case .quantity(let factor, let unit, let octets):
      let number = Int64(truncatingIfNeeded: try reader.unsigned(abs(octets)))
      let isNegative = octets < 0 && number >> Int64(8 * -octets - 1) == 1
      return .quantity(isNegative ? number - 1 << Int64(8 * -octets) : number, factor: factor, unit: unit)
    case .octets(let count): return .octets(try reader.bytes(count, "field"))
    case .rest: return .octets(reader.rest())
    case .text(let count):
      let octets = try reader.slice(count, "field")
      return .text(Array(octets.prefix { $0 != 0 }))
    case .advertising(nil): return .advertising(try reader.bytes(Int(try reader.uint8("field")), "field"))
    case .advertising(let size?):
      let length = Int(try reader.uint8("field"))
      return .advertising(Array(try reader.slice(size, "field").prefix(length)))
    }
  }

  /// The versions of the specification (Assigned Numbers §2.1).
  private static let versions: [UInt8: String] = [
    0: "1.0b", 1: "1.1", 2: "1.2", 3: "2.0", 4: "2.1", 5: "3.0", 6: "4.0", 7: "4.1", 8: "4.2", 9: "5.0", 10: "5.1", 11: "5.2", 12: "5.3",
    13: "5.4", 14: "6.0",
  ]
}

extension ByteReader {
  /// Reads an unsigned number of 0–8 bytes, least significant first.
  fileprivate mutating func unsigned(_ octets: Int) throws(MalformedPacket) -> UInt64 {
    try slice(octets, "field").reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
