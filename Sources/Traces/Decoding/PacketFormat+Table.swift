/// The types of fields by name, and the names of their values.
extension FieldType {
  /// Address types of events (Vol 4 Part E §7.7.65.13). The controller could not resolve the address of type 0xFE.
  static let addressTypes: [UInt8: String] = [
    0: "public", 1: "random", 2: "public_identity", 3: "random_identity", 0xFE: "unresolved", 0xFF: "anonymous",
  ]
  static let dataStatuses: [UInt8: String] = [0: "complete", 1: "more_to_come", 2: "truncated", 0xFF: "failed_to_receive"]
  static let eventTypes = ["connectable", "scannable", "directed", "scan_response", "legacy"]

  static let types: [String: FieldType] = [
    "u8": .unsigned(1), "u16": .unsigned(2), "u24": .unsigned(3), "u32": .unsigned(4), "u48": .unsigned(6), "i8": .signed,
    "x8": .mask(1), "x16": .mask(2), "x24": .mask(3), "x32": .mask(4), "x64": .mask(8), "bool": .flag, "handle": .handle,
    "status": .status,
    "reason": .status, "addr": .address, "address": .address, "addrtype": .addressType,
    "ownaddrtype": .choice(["public", "random", "resolvable_or_public", "resolvable_or_random"]),
    "company": .company, "version": .version,
    "opcode": .opcode, "ms1.25": .quantity(1.25, "ms", bytes: 2), "ms0.625": .quantity(0.625, "ms", bytes: 2),
    "ms10": .quantity(10, "ms", bytes: 2), "us": .quantity(1, "us", bytes: 2), "ms0.625x24": .quantity(0.625, "ms", bytes: 3),
    "ms1.25x8": .quantity(1.25, "ms", bytes: 1), "ms0.125x8": .quantity(0.125, "ms", bytes: 1),
    "ms0.125": .quantity(0.125, "ms", bytes: 2),
    "evttype": .eventType, "later": .later, "datastatus": .named(dataStatuses),
    "cte": .named([0: "aoa", 1: "aod_1us", 2: "aod_2us", 0xFF: "none"]),
    "dbm": .quantity(1, "dBm", bytes: -1), "db": .quantity(1, "dB", bytes: -1), "db0.1": .quantity(0.1, "dB", bytes: -2),
    "phy": .choice(["none", "1m", "2m", "coded", "coded_s2"]),
    "role": .choice(["central", "peripheral"]),
    "rest": .rest, "counted": .counted, "ad": .advertising(size: nil), "ad31": .advertising(size: 31),
  ]

  /// The names of Core Specification versions, by version number (Assigned Numbers §2.1).
  static let versions: [UInt8: String] = [
    0: "1.0b", 1: "1.1", 2: "1.2", 3: "2.0", 4: "2.1", 5: "3.0", 6: "4.0", 7: "4.1", 8: "4.2", 9: "5.0", 10: "5.1", 11: "5.2", 12: "5.3",
    13: "5.4", 14: "6.0",
  ]
}
