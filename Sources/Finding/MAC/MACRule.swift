package import Bluetooth
package import Text

/// The place of the device's own address in a vendor's advertising data. Place and byte order vary, even between firmwares, so a rule is
/// data. `known` holds the documented layouts, and users write their own (`mfg:0x0305@-6:le`).
package struct MACRule: Hashable, Sendable, CustomStringConvertible {
  /// The value of the advertisement that the rule reads.
  package enum Place: Hashable, Sendable {
    /// Manufacturer Specific Data. Bits of the company identifier outside `mask` do not matter: a counter, for example.
    case manufacturer(UInt16, mask: UInt16)
    case service(UUID)
    case anyService
    /// The whole data of a structure of this AD type.
    case structure(UInt8)
    case name

    static func manufacturer(_ company: UInt16) -> Self { .manufacturer(company, mask: 0xFFFF) }
    static func service(_ uuid: UInt32) -> Self { .service(UUID(uuid)) }
  }

  /// A condition that distinguishes layouts with the same identifier.
  package enum Condition: Hashable, Sendable {
    case octet(at: Int, mask: UInt8, value: UInt8)
    case starts([UInt8])
    /// The sender advertises manufacturer data of this company that starts with these bytes.
    case manufacturer(UInt16, starts: [UInt8])
    /// The sender lists this service.
    case advertises(UUID)
    /// An address is at the first byte offset, and the locally administered address that is one less is at the second.
    case addressAndItsLocalOne(at: Int, and: Int)
    /// Whether the name is a UUID with its hyphens.
    case isUUID(Bool)
    /// The layout alone is too weak a sign: the found address must be the sender's.
    case isSender
  }

  package enum Location: Hashable, Sendable {
    /// An offset in bytes from the start of the value, or from its end if negative.
    case offset(Int)
    /// A tag in a sequence of one-byte tags with values of these sizes. An unknown tag ends the search.
    case tag(UInt8, sizes: [UInt8: Int])
    /// This many hex digits in ASCII, most significant first: the first bytes of the address.
    case digits(at: Int, count: Int)
    /// An LE Bluetooth Device Address with its type byte.
    case deviceAddress
    /// The last hex digits of a name after a separator, most significant first: the last bytes of the address.
    case lastDigits(Int)
    /// A name of exactly this many hex digits, most significant first: the first bytes of the address.
    case firstDigits(Int)
    /// The layout never carries an address, for this reason.
    case none(String)
  }

  package let id: String
  package let place: Place
  /// The lengths of the value that the rule applies to, in bytes.
  package let lengths: ClosedRange<Int>
  package let conditions: [Condition]
  /// The condition for an address in the frame. Other frames follow the layout, but have no address, for the reason in `withoutFlag`.
  package let flag: Condition?
  package let withoutFlag: String
  package let location: Location
  package let order: ByteOrder
  /// The number of address bytes: 6, or fewer if the vendor sends only the least significant ones.
  package let octets: Int
  package let confidence: FoundMAC.Confidence

  init(
    _ id: String, _ place: Place, _ lengths: ClosedRange<Int>, if conditions: [Condition] = [], flag: Condition? = nil,
    withoutFlag: String = "",
    at location: Location, _ order: ByteOrder = .big, octets: Int = 6, confidence: FoundMAC.Confidence = .high
  ) {
    self.id = id
    self.place = place
    self.lengths = lengths
    self.conditions = conditions
    self.flag = flag
    self.withoutFlag = withoutFlag
    self.location = location
    self.order = order
    self.octets = octets
    self.confidence = confidence
  }

  // MARK: Text

  /// Parses a user's rule: `mfg:COMPANY@OFFSET:ORDER`, `svc:UUID@OFFSET:ORDER`, `ad:TYPE@OFFSET:ORDER`, or `name@-DIGITS`.
  ///
  /// COMPANY and TYPE are hex, and `*` in place of UUID matches any service. OFFSET counts bytes after the company identifier or UUID, or
  /// from the end if negative. ORDER is `le` or `be`. `/LENGTH` or `/SHORTEST-LONGEST` before the `@` limits the length of the value in
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
      self.init(text, .name, lengths, at: .lastDigits(digits), octets: digits / 2, confidence: .medium)
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
    guard parts.count == 2, let magnitude = parts.first.flatMap({ Self.count(isNegative ? $0.dropFirst() : $0) }) else {
      throw wrong(.offset)
    }
    guard !isNegative || magnitude >= 6 else { throw wrong(.offsetFromEnd) }
    let order: ByteOrder
    switch parts.last?.lowercased() {
    case "le": order = .little
    case "be": order = .big
    default: throw wrong(.order)
    }
    self.init(text, place, lengths, at: .offset(isNegative ? -magnitude : magnitude), order)
  }

  /// Parses a number up to 1650, the maximum length of advertising data.
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

/// The error for a text that is not a rule, with the wrong part.
package struct MACRuleError: Error, Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    /// The text has not exactly one @ between place and offset.
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
    /// The offset from the end is less than the six bytes of an address.
    case offsetFromEnd
    case order
  }

  package let text: String
  package let part: Part
}
