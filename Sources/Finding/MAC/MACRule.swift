package import Bluetooth
package import Text

/// The place of the device's own address in a vendor's advertising data. Vendors differ in place and byte order, some between firmwares,
/// so a rule is data: `known` holds the documented layouts, and users write their own (`mfg:0x0305@-6:le`).
package struct MACRule: Hashable, Sendable, CustomStringConvertible {
  /// Which value of the advertisement the rule reads.
  package enum Place: Hashable, Sendable {
    /// Manufacturer Specific Data; bits of the company identifier outside `mask` are a counter or the like.
    case manufacturer(UInt16, mask: UInt16)
    case service(UUID)
    case anyService
    /// The whole data of a structure of this AD type.
    case structure(UInt8)
    case name

    static func manufacturer(_ company: UInt16) -> Self { .manufacturer(company, mask: 0xFFFF) }
    static func service(_ uuid: UInt32) -> Self { .service(UUID(uuid)) }
  }

  /// What tells a layout from another with the same identifier.
  package enum Condition: Hashable, Sendable {
    case octet(at: Int, mask: UInt8, value: UInt8)
    case starts([UInt8])
    /// Manufacturer data of this company, starting so, stands in what was heard of the sender.
    case manufacturer(UInt16, starts: [UInt8])
    /// What was heard of the sender has this service in a list.
    case advertises(UUID)
    /// An address stands at the first offset, and at the second once more: locally administered, and one less.
    case addressAndItsLocalOne(at: Int, and: Int)
    /// The name is a UUID with its hyphens, or is none.
    case isUUID(Bool)
    /// Too weak a layout to be believed by itself: what it finds must be the sender's address.
    case isSender
  }

  package enum Location: Hashable, Sendable {
    /// From the start of the value, or from its end when negative.
    case offset(Int)
    /// In a sequence of one-octet tags whose values have these sizes; an unknown tag ends the search.
    case tag(UInt8, sizes: [UInt8: Int])
    /// So many hex digits as ASCII, most significant first: the first octets of the address.
    case digits(at: Int, count: Int)
    /// LE Bluetooth Device Address, with its type octet.
    case deviceAddress
    /// That many hex digits at the end of a name, most significant first, behind a separator: the last octets of the address.
    case lastDigits(Int)
    /// That many hex digits are the whole name, most significant first: the first octets of the address.
    case firstDigits(Int)
    /// This layout never carries an address, for this reason.
    case none(String)
  }

  package let id: String
  package let place: Place
  /// The lengths of the value that the rule applies to, in bytes.
  package let lengths: ClosedRange<Int>
  package let conditions: [Condition]
  /// When this does not hold, the frame follows the layout but carries no address, for the reason beside it.
  package let flag: Condition?
  package let withoutFlag: String
  package let location: Location
  package let order: ByteOrder
  /// 6, or fewer when only the least significant octets are sent.
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

  /// Reads a user's rule: `mfg:COMPANY@OFFSET:ORDER`, `svc:UUID@OFFSET:ORDER`, `ad:TYPE@OFFSET:ORDER`, or `name@-DIGITS`.
  ///
  /// COMPANY and TYPE are hex; `*` in place of UUID is any service; OFFSET counts octets after the company identifier or UUID, from the end when
  /// negative; ORDER is `le` or `be`.
  /// `/LENGTH` or `/SHORTEST-LONGEST` before the `@` takes only values of that many octets: `mfg:0x0157/24@18:be`.
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

  /// At most 1650, the longest advertising data there is.
  private static func count(_ digits: Substring) -> Int? {
    guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits) else {
      return nil
    }
    return count <= 1650 ? count : nil
  }

  /// A rule's text from its parts, as `init(_:)` takes it.
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

  /// The id of a known layout, the text of a user's rule.
  package var description: String { id }
}

/// A text that is not a rule, and which part of it is wrong.
package struct MACRuleError: Error, Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    /// Not one @ between place and offset.
    case halves
    case length
    /// The number of digits in a name is not 4, 6, 8 or 12.
    case nameDigits
    /// No colon and identifier behind the kind of place.
    case place
    case kind
    case company
    case service
    case type
    case offset
    /// Less than the six octets of an address.
    case offsetFromEnd
    case order
  }

  package let text: String
  package let part: Part
}
