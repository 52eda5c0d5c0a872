// SPDX-License-Identifier: Apache-2.0
/// The search for a device's own address inside advertising data.
package enum MACFinder {
  package enum Outcome: Hashable, Sendable {
    /// The found addresses, at least one. All are complete, or all are partial. The sender's address comes first, then higher confidence.
    case found([FoundMAC])
    /// A known layout applies, but this frame has no address. The text gives the source and the reason, as part of a sentence.
    case noneInThisFrame(String)
    /// No rule applies to the data.
    case unknown
  }

  /// Applies every rule to one advertisement or one scan response. Pass both separately, because often only one has the address.
  /// - Parameters:
  ///   - sender: The sender of the report, for comparison. Nil if unknown or hidden.
  ///   - others: The sender's other advertisements, for rules with conditions on them.
  package static func find(
    in advertisement: Advertisement, beside others: [Advertisement] = [], sender: PeerAddress? = nil, rules: [MACRule] = MACRule.known
  ) -> Outcome {
    let heard = [advertisement] + others
    var found: [FoundMAC] = []
    var reason: String?
    let values = Value.all(of: advertisement)
    for value in values {
      for rule in rules where value.isAt(rule.place) && rule.lengths.contains(value.data.count) {
        func explain(_ why: String) { reason = reason ?? "\(value.source) (\(rule.id)): \(why)" }
        guard rule.conditions.allSatisfy({ holds($0, value.data, heard) }) else { continue }
        if let flag = rule.flag, !holds(flag, value.data, heard) {
          explain(rule.withoutFlag)
          continue
        }
        if case .none(let why) = rule.location {
          explain(why)
          continue
        }
        guard let mac = locate(rule, value, advertisement, sender?.address) else {
          // A name without digits at the end means nothing, but a value that is too short does.
          if rule.place != .name { explain("too short for an address (\(value.data.count) bytes)") }
          continue
        }
        guard mac.isPlausible else {
          explain("the address is blank (\(mac.text))")
          continue
        }
        if rule.conditions.contains(.isSender), mac.matchesSender != true { continue }
        found.append(mac)
      }
    }
    if found.contains(where: { !$0.isPartial }) { found.removeAll(where: \.isPartial) }
    if !found.isEmpty { return .found(ranked(found)) }
    return reason.map { .noneInThisFrame($0) } ?? .unknown
  }

  /// Finds an address in advertising data, forward or reversed, to learn a vendor's layout. Without the whole address, finds its last or
  /// first three to five bytes. The first bytes count only where the rest has no room.
  /// - Parameters:
  ///   - sender: The sender of the data. Nil if unknown.
  ///   - label: The address to find, such as the one on the label of a device. Nil finds the sender's address.
  /// - Returns: The found addresses in the order of the data. The `rule` of each is the text of a new rule.
  package static func learn(in advertisement: Advertisement, sender: Address?, label: Address? = nil) -> [FoundMAC] {
    guard let address = label ?? sender, address.rawValue != 0, address.rawValue != FoundMAC.allBits else { return [] }
    let values = Value.all(of: advertisement)
    var found: [FoundMAC] = []
    for count in [6, 5, 4, 3] where found.isEmpty || count == 6 {
      for value in values {
        for order in [ByteOrder.big, .little] {
          for isFirst in count == 6 ? [false] : [false, true] {
            found += places(of: address, count, isFirst, order, in: value, sender: sender)
          }
        }
        if count == 6, value.place == .name,
          let mac = [12, 6, 4].lazy.compactMap({ suffix(value, digits: $0, of: address, sender: sender) }).first
        {
          found.append(mac)
        }
      }
    }
    return found
  }

  /// Finds `count` bytes of an address, from its start or its end, in a value.
  private static func places(
    of address: Address, _ count: Int, _ isFirst: Bool, _ order: ByteOrder, in value: Value, sender: Address?
  ) -> [FoundMAC] {
    let part = isFirst ? address.bigEndianBytes.prefix(count) : address.bigEndianBytes.suffix(count)
    let bytes = order == .big ? Array(part) : part.reversed()
    let known = bits(count) << (isFirst ? UInt64(48 - 8 * count) : 0)
    // Skip the bytes of a name, which its structure also has: rules for names know only digits.
    guard value.place != .name, known & address.rawValue != 0, known & address.rawValue != known else { return [] }
    return value.data.indices.filter { start in
      guard start < value.ownBytes, value.data[start] == bytes.first, value.data[start...].starts(with: bytes) else { return false }
      // Other devices of the vendor have the same first bytes: the rest must have no room.
      return !isFirst || (order == .big ? start + 6 > value.data.count : start + count < 6)
    }.map { start in
      // Count from the end if the address is last: the data before it is more likely to vary.
      let isLast = start > 0 && start + count == value.data.count
      // The first three bytes only name the manufacturer.
      let confidence = count == 6 ? FoundMAC.Confidence.high : isFirst && count == 3 ? .low : .medium
      let rule = MACRule.text(value.place, isLast ? -count : start, order) + (count == 6 ? "" : ":\(isFirst ? "first" : "last")\(count)")
      return FoundMAC(
        mac: address, knownBits: known, source: value.source, rule: rule, offset: start, order: order, confidence: confidence, sender: nil
      ).compared(with: sender)
    }
  }

  private static func suffix(_ value: Value, digits: Int, of address: Address, sender: Address?) -> FoundMAC? {
    guard let number = lastDigits(value.data, digits), number == address.rawValue & bits(digits / 2) else { return nil }
    return FoundMAC(
      mac: Address(rawValue: number), knownBits: bits(digits / 2), source: value.source, rule: MACRule.text(.name, -digits, .big),
      offset: value.data.count - digits, order: .big, confidence: digits > 4 ? .high : .medium, sender: sender)
  }

  /// Finds the address in a System ID (characteristic 0x2A23), an EUI-64 of eight bytes with a filler between company and device part.
  ///
  /// The specification sends the least significant byte first, with the filler FFFE. Some devices use FFFF or another filler, or send the
  /// most significant byte first. Returns nil if the value has another length or an implausible address.
  package static func fromSystemID(_ value: [UInt8], sender: PeerAddress? = nil) -> FoundMAC? {
    guard value.count == 8 else { return nil }
    let order: ByteOrder
    let confidence: FoundMAC.Confidence
    switch (value[3], value[4]) {
    case (0xFE, 0xFF): (order, confidence) = (.little, .high)
    case (0xFF, 0xFE): (order, confidence) = (.big, .medium)
    case (0xFF, 0xFF): (order, confidence) = (.little, .medium)
    default: (order, confidence) = (.little, .low)
    }
    let bytes = value.prefix(3) + value.suffix(3)
    guard let address = Address(bigEndian: order == .big ? Array(bytes) : bytes.reversed()) else { return nil }
    let mac = FoundMAC(
      mac: address, source: "system_id/2a23", rule: "system_id", offset: 0, order: order, confidence: confidence, sender: sender?.address)
    return mac.isPlausible ? mac : nil
  }

  // MARK: Parts

  /// A part of the advertisement to which rules refer.
  private struct Value {
    let place: MACRule.Place
    let data: [UInt8]

    static func all(of advertisement: Advertisement) -> [Self] {
      var values = advertisement.structures.map { Self(place: .structure($0.type), data: $0.data) }
      values += advertisement.manufacturerData.map { Self(place: .manufacturer($0.company), data: $0.data) }
      values += advertisement.serviceData.map { Self(place: .service($0.uuid), data: $0.data) }
      if let name = advertisement.name { values.append(Self(place: .name, data: name)) }
      return values
    }

    /// The number of bytes that only this value covers. Manufacturer and service data after the identifier are separate values.
    var ownBytes: Int {
      switch place {
      case .structure(ADType.manufacturerData), .structure(ADType.serviceData16): min(2, data.count)
      case .structure(ADType.serviceData32): min(4, data.count)
      case .structure(ADType.serviceData128): min(16, data.count)
      default: data.count
      }
    }

    var source: String {
      switch place {
      case .manufacturer(let company, _): "manufacturer_data/" + Hex.encode(company)
      case .service(let uuid): "service_data/\(uuid)"
      case .anyService: "service_data"
      case .structure(let type): "ad/" + Hex.encode(type)
      case .name: "name"
      }
    }

    func isAt(_ other: MACRule.Place) -> Bool {
      switch (place, other) {
      case (.manufacturer(let company, _), .manufacturer(let wanted, let mask)): company & mask == wanted
      case (.service, .anyService): true
      default: place == other
      }
    }
  }

  private static func holds(_ condition: MACRule.Condition, _ data: [UInt8], _ heard: [Advertisement]) -> Bool {
    switch condition {
    case .byte(let offset, let mask, let value): data.indices.contains(offset) && data[offset] & mask == value
    case .starts(let bytes): data.starts(with: bytes)
    case .manufacturer(let company, let bytes):
      heard.contains { $0.manufacturerData.contains { $0.company == company && $0.data.starts(with: bytes) } }
    case .advertises(let uuid): heard.contains { $0.serviceUUIDs.contains(uuid) }
    case .addressAndItsLocalOne(let first, let second):
      first >= 0 && second >= 0 && data.count >= max(first, second) + 6 && data[second] == data[first] | 2
        && data[second + 5] == data[first + 5] &- 1
        && data[(first + 1)..<(first + 5)].elementsEqual(data[(second + 1)..<(second + 5)])
    case .isUUID(let wanted): (data.count == 36 && UUID(String(decoding: data, as: UTF8.self)) != nil) == wanted
    // Only `find` can check this, after the address is found.
    case .isSender: true
    }
  }

  private static func locate(_ rule: MACRule, _ value: Value, _ advertisement: Advertisement, _ sender: Address?) -> FoundMAC? {
    func mac(_ address: Address, at offset: Int, bits: UInt64 = FoundMAC.allBits) -> FoundMAC {
      FoundMAC(
        mac: address, knownBits: bits, source: value.source, rule: rule.id, offset: offset, order: rule.order, confidence: rule.confidence,
        sender: sender)
    }
    let data = value.data
    /// Reads hex digits from a byte offset as the first bytes of an address.
    func firstBytes(_ start: Int, _ digits: Int) -> FoundMAC? {
      guard start >= 0, digits <= 12, start <= data.count - digits,
        let number = Hex.number(String(decoding: data[start..<start + digits], as: UTF8.self))
      else { return nil }
      let shift = UInt64(48 - 4 * digits)
      return mac(Address(rawValue: number << shift), at: start, bits: bits(digits / 2) << shift)
    }
    switch rule.location {
    case .offset(let offset), .firstBytes(let offset):
      let start = offset < 0 ? data.count + offset : offset
      guard start >= 0, rule.bytes <= 6, start <= data.count - rule.bytes else { return nil }
      let shift = if case .offset = rule.location { 0 as UInt64 } else { UInt64(48 - 8 * rule.bytes) }
      let bytes = rule.order.number(data[start..<start + rule.bytes])
      return mac(Address(rawValue: bytes << shift), at: start, bits: bits(rule.bytes) << shift)
    case .tag(let wanted, let sizes):
      var start = 0
      while start < data.count, let size = sizes[data[start]], start + 1 + size <= data.count {
        if data[start] == wanted, size == 6 {
          return mac(Address(rawValue: rule.order.number(data[start + 1..<start + 7])), at: start + 1)
        }
        start += 1 + size
      }
      return nil
    case .digits(let start, let count): return firstBytes(start, count)
    case .deviceAddress:
      // Do not use the property of the whole advertisement: it has the last of several.
      return Advertisement(structures: [ADStructure(type: ADType.leDeviceAddress, data: data)])?.leDeviceAddressPlace.map {
        mac($0.peer.address, at: $0.offset)
      }
    case .lastDigits(let digits):
      guard let number = lastDigits(data, digits) else { return nil }
      return mac(Address(rawValue: number), at: data.count - digits, bits: bits(digits / 2))
    case .firstDigits(let digits): return data.count == digits ? firstBytes(0, digits) : nil
    case .none: return nil
    }
  }

  /// Returns the number in the last hex digits of a name. Returns nil unless a separator precedes the digits.
  private static func lastDigits(_ name: [UInt8], _ digits: Int) -> UInt64? {
    guard digits <= 12, name.count > digits, "_- :#.".utf8.contains(name[name.count - digits - 1]) else { return nil }
    return Hex.number(String(decoding: name.suffix(digits), as: UTF8.self))
  }

  /// Returns a mask of the lowest `bytes` bytes.
  private static func bits(_ bytes: Int) -> UInt64 { bytes >= 6 ? FoundMAC.allBits : (1 << UInt64(8 * max(0, bytes))) - 1 }

  private static func ranked(_ found: [FoundMAC]) -> [FoundMAC] {
    found.enumerated().sorted { left, right in
      let leftKey = (left.element.matchesSender == true ? 0 : 1, -left.element.confidence.rawValue, left.offset)
      let rightKey = (right.element.matchesSender == true ? 0 : 1, -right.element.confidence.rawValue, right.offset)
      return leftKey < rightKey
    }.map(\.element)
  }
}
