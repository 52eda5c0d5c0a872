// SPDX-License-Identifier: Apache-2.0
/// A device address inside advertising data or a System ID, with its location and the rule that found it.
package struct FoundMAC: Hashable, Sendable {
  /// The reliability of a found address. High means a documented layout with checks, or the sender's address. Medium means a layout that
  /// resembles others, or a part of the sender's address. Low means bytes that fit by chance.
  package enum Confidence: Int, Comparable, Sendable, CaseIterable {
    case low, medium, high

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// The found address. Unknown bytes are zero.
  package let mac: Address
  /// The known bits of `mac`: all 48, or fewer if the vendor sends only a part.
  package let knownBits: UInt64
  /// The part of the data: `manufacturer_data/014c`, `service_data/fe95`, `ad/1b`, `name` or `system_id/2a23`.
  package let source: String
  /// The ID of the known layout (`mibeacon`), or the text of the user's rule (`mfg:0x0305@-6:le`).
  package let rule: String
  /// The offset of the address in bytes after the company identifier or service UUID. In a name, the offset of the first digit in bytes.
  package let offset: Int
  package let order: ByteOrder
  package let confidence: Confidence
  /// Whether the known bits match the sender's address. Nil if the sender is unknown.
  package private(set) var matchesSender: Bool?

  init(
    mac: Address, knownBits: UInt64 = FoundMAC.allBits, source: String, rule: String, offset: Int, order: ByteOrder, confidence: Confidence,
    sender: Address?
  ) {
    self.mac = Address(rawValue: mac.rawValue & knownBits)
    (self.knownBits, self.source, self.rule, self.offset, self.order) = (knownBits, source, rule, offset, order)
    matchesSender = sender.map { $0.rawValue & knownBits == mac.rawValue & knownBits }
    // The fewer bits match, the more likely it is chance.
    self.confidence = matchesSender == true ? max(confidence, knownBits == Self.allBits ? .high : .medium) : confidence
  }

  /// The same place, with the comparison of the address with a sender's. Keeps the confidence.
  func compared(with sender: Address?) -> FoundMAC {
    var mac = self
    mac.matchesSender = sender.map { $0.rawValue & knownBits == self.mac.rawValue }
    return mac
  }

  static let allBits: UInt64 = 0xFFFF_FFFF_FFFF

  package var isPartial: Bool { knownBits != Self.allBits }

  /// The address, with `??` for unknown bytes, for example `??:??:43:21:73:78`.
  package var text: String {
    guard isPartial else { return mac.description }
    let known = Address(rawValue: knownBits).bigEndianBytes
    return zip(mac.description.split(separator: ":"), known).map { $1 == 0xFF ? String($0) : "??" }.joined(separator: ":")
  }

  /// Whether the known bits of the address are neither all zeros nor all ones.
  var isPlausible: Bool { mac.rawValue != 0 && mac.rawValue != knownBits }
}
