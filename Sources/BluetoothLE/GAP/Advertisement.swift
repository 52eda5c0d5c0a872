// SPDX-License-Identifier: Apache-2.0
/// The AD structures of one advertisement or scan response (Vol 3 Part C §11, Core Specification Supplement Part A §1).
///
/// Stores only the received bytes, and parses them on each access. Never refuses data. Returns the readable parts and reports
/// the other parts in `errors`. The last of several values of one type counts. A complete name takes precedence over a shortened name.
package struct Advertisement: Hashable, Sendable {
  /// The data as received, with its padding.
  package let bytes: [UInt8]

  /// The maximum number of bytes, with extended advertising (Vol 4 Part E §7.8.57).
  package static let maximumLength = 1650

  package init(_ data: [UInt8]) { bytes = data }

  /// Encodes AD structures into advertising data.
  /// - Returns: nil if one structure has more than 254 bytes of data.
  package init?(structures: [ADStructure]) {
    var bytes: [UInt8] = []
    for structure in structures {
      guard let encoded = structure.encoded else { return nil }
      bytes += encoded
    }
    self.bytes = bytes
  }

  /// The complete AD structures, in order. The list ends at the first zero length, or at the first length that exceeds the data.
  package var structures: [ADStructure] {
    Walk(bytes: bytes).map { ADStructure(type: $0.type, data: Array(bytes[$0.data])) }
  }

  // MARK: Single values

  /// The first byte of Flags: bit 0 limited discoverable, bit 1 general discoverable, bit 2 no BR/EDR. Nil without Flags.
  package var flags: UInt8? { lastValue(of: ADType.flags, bytes: 1).flatMap { bytes[$0].first } }

  /// The Tx Power Level in dBm, −127…127. Nil if the advertisement has none.
  package var txPower: Int8? { lastValue(of: ADType.txPowerLevel, bytes: 1).flatMap { bytes[$0].first.map(Int8.init(bitPattern:)) } }

  /// The Appearance: category in the upper 10 bits, subcategory in the lower 6. Nil if the advertisement has none.
  package var appearance: UInt16? {
    lastValue(of: ADType.appearance, bytes: 2).map { UInt16(bytes[$0.lowerBound]) | UInt16(bytes[$0.lowerBound + 1]) << 8 }
  }

  /// The bytes of the Local Name, possibly empty or not UTF-8. Nil if the advertisement has no name.
  package var name: [UInt8]? { nameRange.map { Array(bytes[$0.data]) } }

  /// Whether `name` is a Complete Local Name.
  package var nameIsComplete: Bool { nameRange?.type == ADType.completeLocalName }

  /// The Local Name, with U+FFFD for bytes that are not UTF-8. Nil if the advertisement has no name.
  package var displayName: UntrustedText? { nameRange.map { UntrustedText(String(decoding: bytes[$0.data], as: UTF8.self)) } }

  /// The LE Bluetooth Device Address (CSS Part A §1.16): six bytes, least significant first, then a type byte, whose bit 0 means random.
  ///
  /// Devices exist that send the type byte first. The parser assumes this order if the first byte is 00 or 01 and the last byte is not.
  /// Otherwise, the order of the specification applies.
  /// - Returns: The address, and the offset of its first byte in the structure's data, counted from 0.
  package var leDeviceAddressPlace: (peer: PeerAddress, offset: Int)? {
    guard let range = lastValue(of: ADType.leDeviceAddress, where: { $0 == 7 }) else { return nil }
    let bytes = Array(bytes[range])
    let typeIsFirst = bytes[6] > 1 && bytes[0] <= 1
    let type = typeIsFirst ? bytes[0] : bytes[6]
    guard let address = Address(bigEndian: (typeIsFirst ? bytes.dropFirst() : bytes.dropLast()).reversed()) else { return nil }
    return (PeerAddress(address, type & 1 == 1 ? .random : .public), typeIsFirst ? 1 : 0)
  }

  // MARK: Lists

  /// The offered services from all complete and incomplete lists of 16-, 32- and 128-bit UUIDs, in order of appearance, with duplicates.
  package var serviceUUIDs: [UUID] { uuids(ADType.serviceUUIDs16Incomplete...ADType.serviceUUIDs128, width: Self.listWidth) }

  /// The services from all Service Solicitation lists, which the device wants its peer to offer.
  package var solicitedUUIDs: [UUID] { uuids(ADType.solicitedUUIDs16...ADType.solicitedUUIDs32, width: Self.solicitationWidth) }

  /// All Manufacturer Specific Data structures with at least a company identifier, in order of appearance. A company may occur repeatedly.
  package var manufacturerData: [(company: UInt16, data: [UInt8])] {
    var found: [(company: UInt16, data: [UInt8])] = []
    for part in Walk(bytes: bytes) {
      guard part.type == ADType.manufacturerData, part.data.count >= 2 else { continue }
      let company = UInt16(bytes[part.data.lowerBound]) | UInt16(bytes[part.data.lowerBound + 1]) << 8
      found.append((company, Array(bytes[part.data.dropFirst(2)])))
    }
    return found
  }

  /// All Service Data structures with at least a whole UUID, in order of appearance.
  package var serviceData: [(uuid: UUID, data: [UInt8])] {
    var found: [(uuid: UUID, data: [UInt8])] = []
    for part in Walk(bytes: bytes) {
      guard let width = Self.serviceDataWidth(part.type), part.data.count >= width else { continue }
      guard let uuid = UUID(littleEndian: bytes[part.data.prefix(width)]) else { continue }
      found.append((uuid, Array(bytes[part.data.dropFirst(width)])))
    }
    return found
  }

  // MARK: Errors

  /// The first format error of the data. Nil if the data has none.
  package var error: MalformedPacket? { errors.first }

  /// The first format error of data whose end may be missing. Then an incomplete structure at the end is no error.
  package func error(isCut: Bool) -> MalformedPacket? { isCut && incomplete != nil ? errors.dropFirst().first : error }

  /// The structure that is longer than the data: its length byte, and its beginning. The beginning is nil if its type is missing, too.
  package var incomplete: (beginning: ADStructure?, length: Int)? {
    var walk = Walk(bytes: bytes)
    while walk.next() != nil {}
    guard let start = walk.error?.offset, bytes[start] > 0 else { return nil }
    let there = bytes[(start + 1)...]
    return (there.first.map { ADStructure(type: $0, data: Array(there.dropFirst())) }, Int(bytes[start]))
  }

  /// All format errors: first the invalid structure that ended parsing, if any, then the values that are too short for their type.
  package var errors: [MalformedPacket] {
    var values: [MalformedPacket] = []
    var walk = Walk(bytes: bytes)
    while let part = walk.next() {
      if let reason = Self.defect(type: part.type, count: part.data.count) {
        let type = Hex.encode(part.type)
        values.append(MalformedPacket("AD type 0x\(type): \(reason)", at: part.data.lowerBound - 2))
      }
    }
    return (walk.error.map { [$0] } ?? []) + values
  }

  private static func defect(type: UInt8, count: Int) -> String? {
    if let width = listWidth(type) ?? solicitationWidth(type), count % width != 0 {
      return width == 2 ? "16-bit UUID list has an odd octet" : "\(width * 8)-bit UUID list is not a multiple of \(width)"
    }
    if let width = serviceDataWidth(type), count < width { return "service data shorter than its UUID" }
    return switch type {
    case ADType.flags where count == 0: "empty flags"
    case ADType.txPowerLevel where count == 0: "empty TX power level"
    case ADType.appearance where count < 2: "appearance shorter than 2"
    case ADType.leDeviceAddress where count != 7: "LE device address has \(count) bytes instead of 7"
    case ADType.manufacturerData where count < 2: "manufacturer data shorter than the company id"
    default: nil
    }
  }

  // MARK: Walking

  /// Returns the size in bytes of each UUID in a list of offered services. Returns nil if the AD type is not such a list.
  private static func listWidth(_ type: UInt8) -> Int? {
    switch type {
    case ADType.serviceUUIDs16Incomplete, ADType.serviceUUIDs16: 2
    case ADType.serviceUUIDs32Incomplete, ADType.serviceUUIDs32: 4
    case ADType.serviceUUIDs128Incomplete, ADType.serviceUUIDs128: 16
    default: nil
    }
  }

  private static func solicitationWidth(_ type: UInt8) -> Int? {
    switch type {
    case ADType.solicitedUUIDs16: 2
    case ADType.solicitedUUIDs32: 4
    case ADType.solicitedUUIDs128: 16
    default: nil
    }
  }

  private static func serviceDataWidth(_ type: UInt8) -> Int? {
    switch type {
    case ADType.serviceData16: 2
    case ADType.serviceData32: 4
    case ADType.serviceData128: 16
    default: nil
    }
  }

  private var nameRange: (type: UInt8, data: Range<Int>)? {
    var best: (type: UInt8, data: Range<Int>)?
    for part in Walk(bytes: bytes) {
      if part.type == ADType.completeLocalName || (part.type == ADType.shortenedLocalName && best?.type != ADType.completeLocalName) {
        best = part
      }
    }
    return best
  }

  private func lastValue(of type: UInt8, bytes: Int) -> Range<Int>? { lastValue(of: type) { $0 >= bytes } }

  /// Finds the last value of an AD type whose length fits. A malformed value does not hide an earlier valid value.
  private func lastValue(of type: UInt8, where fits: (_ bytes: Int) -> Bool) -> Range<Int>? {
    var last: Range<Int>?
    for part in Walk(bytes: bytes) { if part.type == type, fits(part.data.count) { last = part.data } }
    return last
  }

  private func uuids(_ types: ClosedRange<UInt8>, width: (UInt8) -> Int?) -> [UUID] {
    var found: [UUID] = []
    for part in Walk(bytes: bytes) {
      guard types.contains(part.type), let width = width(part.type) else { continue }
      var rest = part.data
      while rest.count >= width {
        if let uuid = UUID(littleEndian: bytes[rest.prefix(width)]) { found.append(uuid) }
        rest = rest.dropFirst(width)
      }
    }
    return found
  }

  /// An iterator over AD structures. Stops at an invalid structure, and sets `error`.
  private struct Walk: Sequence, IteratorProtocol {
    let bytes: [UInt8]
    var position = 0
    var error: MalformedPacket?

    mutating func next() -> (type: UInt8, data: Range<Int>)? {
      guard position < bytes.count else { return nil }
      let start = position
      let length = Int(bytes[start])
      let left = bytes.count - start - 1
      position = bytes.count
      if length == 0 {
        // CSS Part A §1: the rest shall be zero. Other bytes mean that the sender miscounted before.
        if bytes[start...].contains(where: { $0 != 0 }) {
          error = MalformedPacket("non-zero octets after the zero-length terminator at offset \(start)", at: start)
        }
        return nil
      }
      guard length <= left else {
        error = MalformedPacket(
          "the structure at byte \(start) claims \(length.counted("byte")), but \(left == 0 ? "none are" : left == 1 ? "1 is" : "\(left) are") left",
          at: start, isOffsetInReason: true)
        return nil
      }
      position = start + 1 + length
      return (bytes[start + 1], start + 2..<position)
    }
  }
}
