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
  package var structures: [ADStructure] { Array(Walk(bytes: bytes)) }

  // MARK: Single values

  /// The last `ADStructure.flags`. Nil without Flags.
  package var flags: UInt8? { last { $0.flags } }

  /// The Tx Power Level in dBm, −127…127. Nil if the advertisement has none.
  package var txPower: Int8? { last { $0.txPower } }

  /// The last `ADStructure.appearance`. Nil if the advertisement has none.
  package var appearance: UInt16? { last { $0.appearance } }

  /// The bytes of the Local Name, possibly empty or not UTF-8. Nil if the advertisement has no name.
  package var name: [UInt8]? { nameStructure?.data }

  /// Whether `name` is a Complete Local Name.
  package var nameIsComplete: Bool { nameStructure?.type == ADType.completeLocalName }

  /// The Local Name, with U+FFFD for bytes that are not UTF-8. Nil if the advertisement has no name.
  package var displayName: UntrustedText? { nameStructure.map { UntrustedText(String(decoding: $0.slice, as: UTF8.self)) } }

  /// The last `ADStructure.leDeviceAddress`. Nil if the advertisement has none.
  package var leDeviceAddressPlace: (peer: PeerAddress, offset: Int)? { last { $0.leDeviceAddress } }

  // MARK: Lists

  /// The offered services from all complete and incomplete lists of 16-, 32- and 128-bit UUIDs, in order of appearance, with duplicates.
  package var serviceUUIDs: [UUID] { Walk(bytes: bytes).flatMap { $0.serviceUUIDs } }

  /// The services from all Service Solicitation lists, which the device wants its peer to offer.
  package var solicitedUUIDs: [UUID] { Walk(bytes: bytes).flatMap { $0.solicitedUUIDs } }

  /// All Manufacturer Specific Data structures with at least a company identifier, in order of appearance. A company may occur repeatedly.
  package var manufacturerData: [(company: UInt16, data: [UInt8])] { Walk(bytes: bytes).compactMap { $0.manufacturerData } }

  /// All Service Data structures with at least a whole UUID, in order of appearance.
  package var serviceData: [(uuid: UUID, data: [UInt8])] { Walk(bytes: bytes).compactMap { $0.serviceData } }

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
    return (there.first.map { ADStructure(type: $0, slice: there.dropFirst()) }, Int(bytes[start]))
  }

  /// All format errors: first the invalid structure that ended parsing, if any, then the values that are too short for their type.
  package var errors: [MalformedPacket] {
    var values: [MalformedPacket] = []
    var walk = Walk(bytes: bytes)
    while let part = walk.next() {
      guard let reason = part.defect else { continue }
      values.append(MalformedPacket("AD type 0x\(Hex.encode(part.type)): \(reason)", at: part.slice.startIndex - 2))
    }
    return (walk.error.map { [$0] } ?? []) + values
  }

  // MARK: Walking

  private var nameStructure: ADStructure? { last(of: ADType.completeLocalName) ?? last(of: ADType.shortenedLocalName) }

  private func last(of type: UInt8) -> ADStructure? { last { $0.type == type ? $0 : nil } }

  /// Returns the last value of a kind. A malformed structure, whose value is nil, does not hide an earlier valid one.
  private func last<Value>(_ value: (ADStructure) -> Value?) -> Value? { Walk(bytes: bytes).reduce(nil) { value($1) ?? $0 } }

  /// An iterator over AD structures. Stops at an invalid structure, and sets `error`.
  private struct Walk: Sequence, IteratorProtocol {
    let bytes: [UInt8]
    var position = 0
    var error: MalformedPacket?

    mutating func next() -> ADStructure? {
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
      return ADStructure(type: bytes[start + 1], slice: bytes[start + 2..<position])
    }
  }
}
