// SPDX-License-Identifier: Apache-2.0
/// A rule that locates the device's own address in a vendor's advertising data. `known` holds the documented layouts. Users write rules of
/// their own, for example `mfg:0x0305@-6:le`.
package struct MACRule: Hashable, Sendable, CustomStringConvertible {
  /// The part of the advertisement that the rule reads.
  package enum Place: Hashable, Sendable {
    /// Manufacturer Specific Data. The rule ignores bits of the company identifier outside `mask`, which may be a counter.
    case manufacturer(UInt16, mask: UInt16)
    case service(UUID)
    case anyService
    /// The whole data of an AD structure with this AD type.
    case structure(UInt8)
    case name

    static func manufacturer(_ company: UInt16) -> Self { .manufacturer(company, mask: 0xFFFF) }
    static func service(_ uuid: UInt32) -> Self { .service(UUID(uuid)) }
  }

  /// A condition that distinguishes layouts with the same identifier.
  package enum Condition: Hashable, Sendable {
    case byte(at: Int, mask: UInt8, value: UInt8)
    case starts([UInt8])
    /// The sender advertises manufacturer data of this company that starts with these bytes.
    case manufacturer(UInt16, starts: [UInt8])
    /// The sender lists this service.
    case advertises(UUID)
    /// The first byte offset has an address. The second has the same address made locally administered, with a last byte lower by one.
    case addressAndItsLocalOne(at: Int, and: Int)
    /// The name either is a UUID with hyphens (true) or is not (false).
    case isUUID(Bool)
    /// The found address equals the sender's address. Rules for unspecific layouts have this condition.
    case isSender
  }

  package enum Location: Hashable, Sendable {
    /// The offset of the address in bytes from the start of the value, or from its end if negative.
    case offset(Int)
    /// The offset of the first bytes of the address, if the vendor sends only these.
    case firstBytes(Int)
    /// The address after this tag. `sizes` has the number of value bytes after each one-byte tag. An unknown tag ends the search.
    case tag(UInt8, sizes: [UInt8: Int])
    /// The first bytes of the address as `count` ASCII hex digits at a byte offset, most significant digit first.
    case digits(at: Int, count: Int)
    /// An LE Bluetooth Device Address (AD type 0x1B) with its type byte.
    case deviceAddress
    /// The last bytes of the address as this number of hex digits at the end of a name, after a separator.
    case lastDigits(Int)
    /// The first bytes of the address as a name of exactly this number of hex digits.
    case firstDigits(Int)
    /// The layout never carries an address, for this reason.
    case none(String)
  }

  package let id: String
  package let place: Place
  /// The range of value lengths, in bytes, to which the rule applies.
  package let lengths: ClosedRange<Int>
  package let conditions: [Condition]
  /// The condition under which a frame has an address. Nil if every frame does. `withoutFlag` explains frames that fail the condition.
  package let flag: Condition?
  package let withoutFlag: String
  package let location: Location
  package let order: ByteOrder
  /// The number of address bytes in the data. It is 6, or less if the vendor sends only a part of the address.
  package let bytes: Int
  /// The confidence in what this layout finds. `FoundMAC` raises it for an address that equals the address of the sender.
  package let confidence: FoundMAC.Confidence

  init(
    _ id: String, _ place: Place, _ lengths: ClosedRange<Int>, if conditions: [Condition] = [], flag: Condition? = nil,
    withoutFlag: String = "",
    at location: Location, _ order: ByteOrder = .big, bytes: Int = 6, confidence: FoundMAC.Confidence = .high
  ) {
    self.id = id
    self.place = place
    self.lengths = lengths
    self.conditions = conditions
    self.flag = flag
    self.withoutFlag = withoutFlag
    self.location = location
    self.order = order
    self.bytes = bytes
    self.confidence = confidence
  }

  // MARK: Text

  /// Parses a user's rule: `mfg:COMPANY@OFFSET:ORDER`, `svc:UUID@OFFSET:ORDER`, `ad:TYPE@OFFSET:ORDER`, or `name@-DIGITS`.
  ///
  /// COMPANY and TYPE are hex, and `*` in place of UUID matches any service. OFFSET counts bytes after the company identifier or UUID, or
  /// from the end if negative. ORDER is `le` or `be`. `:last4` or `:first4` after it means that the data has only so many bytes of the
  /// address, 3 to 5. `/LENGTH` or `/SHORTEST-LONGEST` before the `@` limits the length of the value in
  /// bytes: `mfg:0x0157/24@18:be`.
  package init(_ text: String) throws(MACRuleError) {
    func wrong(_ part: MACRuleError.Part) -> MACRuleError { MACRuleError(text: text, part: part) }
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2 else { throw wrong(.halves) }
    var lengths = 0...Int.max
    let placeAndLength = halves[0].split(separator: "/", omittingEmptySubsequences: false)
    if placeAndLength.count > 1 {
      let bounds = placeAndLength[1].split(separator: "-", omittingEmptySubsequences: false).map { Self.count($0) }
      guard placeAndLength.count == 2, (1...2).contains(bounds.count), let low = bounds.first ?? nil, let high = bounds.last ?? nil,
        low <= high
      else { throw wrong(.length) }
      lengths = low...high
    }

    let words = (placeAndLength.first ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let kind = words.first?.lowercased() ?? ""
    if kind == "name" {
      guard words.count == 1, let digits = Self.count(halves[1].dropFirst()), halves[1].hasPrefix("-"), [4, 6, 8, 12].contains(digits)
      else { throw wrong(.nameDigits) }
      self.init(text, .name, lengths, at: .lastDigits(digits), bytes: digits / 2, confidence: .medium)
      return
    }
    guard words.count == 2, let identifier = words.last else { throw wrong(.place) }
    let digits = identifier.lowercased().hasPrefix("0x") ? identifier.dropFirst(2) : identifier
    let place: Place
    switch kind {
    case "mfg":
      guard let company = Hex.number(digits).flatMap(UInt16.init(exactly:)) else { throw wrong(.company) }
      place = .manufacturer(company)
    case "svc" where identifier == "*": place = .anyService
    case "svc":
      guard let uuid = UUID(identifier) else { throw wrong(.service) }
      place = .service(uuid)
    case "ad":
      guard let type = Hex.number(digits).flatMap(UInt8.init(exactly:)) else { throw wrong(.type) }
      place = .structure(type)
    default: throw wrong(.kind)
    }

    let parts = halves[1].split(separator: ":", omittingEmptySubsequences: false)
    let isNegative = parts.first?.hasPrefix("-") == true
    guard (2...3).contains(parts.count), let magnitude = parts.first.flatMap({ Self.count(isNegative ? $0.dropFirst() : $0) }) else {
      throw wrong(.offset)
    }
    let part = parts.count == 3 ? parts[2].lowercased() : nil
    let isFirst = part?.hasPrefix("first") == true
    guard let bytes = part == nil ? 6 : [3, 4, 5].first(where: { part == "last\($0)" || part == "first\($0)" }) else { throw wrong(.part) }
    guard !isNegative || magnitude >= bytes else { throw wrong(.offsetFromEnd) }
    let order: ByteOrder
    switch parts[1].lowercased() {
    case "le": order = .little
    case "be": order = .big
    default: throw wrong(.order)
    }
    let offset = isNegative ? -magnitude : magnitude
    self.init(
      text, place, lengths, at: isFirst ? .firstBytes(offset) : .offset(offset), order, bytes: bytes,
      confidence: bytes == 6 ? .high : .medium)
  }

  /// Parses a number up to 1650, the maximum length of advertising data in bytes. Returns nil for other text.
  private static func count(_ digits: Substring) -> Int? {
    guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits) else {
      return nil
    }
    return count <= 1650 ? count : nil
  }

  /// Returns the text of a rule in the form that `init(_:)` parses.
  static func text(_ place: Place, _ offset: Int, _ order: ByteOrder) -> String {
    let tail = "@\(offset):\(order == .little ? "le" : "be")"
    return switch place {
    case .manufacturer(let company, _): "mfg:0x" + Hex.encode(company) + tail
    case .service(let uuid): "svc:\(uuid)" + tail
    case .anyService: "svc:*" + tail
    case .structure(let type): "ad:" + Hex.encode(type) + tail
    case .name: "name@\(offset)"
    }
  }

  /// The ID of a known layout, or the text of a user's rule.
  package var description: String { id }
}

/// The error for a text that is not a rule, with the invalid part.
package struct MACRuleError: Error, Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    /// The text does not have exactly one `@` between place and offset.
    case halves
    case length
    /// The number of digits in a name is not 4, 6, 8 or 12.
    case nameDigits
    /// The text lacks a colon and an identifier after the kind of place.
    case place
    case kind
    case company
    case service
    case type
    case offset
    /// The offset from the end is less than the length of the address.
    case offsetFromEnd
    /// The number of bytes after the order is not `last3` to `last5` or `first3` to `first5`.
    case part
    case order
  }

  package let text: String
  package let part: Part
}
