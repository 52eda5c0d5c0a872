// SPDX-License-Identifier: Apache-2.0

/// The fields of a characteristic value, a declaration or a descriptor, in the order of their bytes.
package struct CharacteristicDescription: Sendable {
  let fields: [FieldDescription]
  /// Whether the fields repeat until the value ends. The first field is then the length of each repetition, in bytes.
  let repeats: Bool

  /// Looks up the description of an attribute type.
  /// Nil for types that the Bluetooth SIG has not specified, and for values without structure in GATT.
  package init?(_ uuid: UUID) {
    guard let short = uuid.short else { return nil }
    let known = Self.recent.withLock { recent in
      if let known = recent[short] { return known }
      let found = Self(key: Hex.encode(short))
      if recent.count == 64 { recent = [:] }
      recent[short] = .some(found)
      return found
    }
    guard let known else { return nil }
    self = known
  }

  /// The results of up to 64 recent look-ups by 16-bit UUID, including failed look-ups.
  private static let recent = Guarded<[UInt16: Self?]>([:])

  /// The names of the fields in JSON, in the order of their bytes. A value may lack some, and repeat others.
  package var fieldKeys: [String] { fields.reduce(into: []) { if !$0.contains($1.key) { $0.append($1.key) } } }

  init(fields: [FieldDescription]) {
    self.fields = fields
    repeats = false
  }

  /// Returns the common symbol of a unit: `°C` for 272f. Returns nil for other UUIDs and for units without a symbol.
  package static func unit(_ uuid: UUID) -> String? {
    guard let short = uuid.short, short >> 8 == 0x27 else { return nil }
    let key = Hex.encode(short) + " "
    return units.split(separator: "\n").first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.utf8.count)) }
  }

  private init?(key: String) {
    guard let record = SortedTable.record(Array(key.utf8), in: Self.table) else { return nil }
    let lines = String(decoding: record, as: UTF8.self).split(separator: "\n")
    var fields: [FieldDescription] = []
    for line in lines.dropFirst() {
      if line.hasPrefix("  ") {
        guard let last = fields.indices.last, fields[last].add(line: String(line.dropFirst(2))) else { return nil }
      } else {
        guard let field = FieldDescription(line: String(line.dropFirst())) else { return nil }
        fields.append(field)
      }
    }
    guard !fields.isEmpty else { return nil }
    self.fields = fields
    repeats = lines.first?.hasSuffix(" repeat") ?? false
  }

  /// The UUIDs of all described attribute types. Declarations start with 28, and descriptors with 29.
  package static var all: [UUID] { table.split(separator: "\n").compactMap { $0.hasPrefix(" ") ? nil : UUID(String($0.prefix(4))) } }

}

extension CharacteristicDescription {
  /// Decodes the fields that a value contains.
  /// - Throws: ValueMismatch if the bytes do not follow the description.
  package func decode(_ value: [UInt8]) throws(ValueMismatch) -> DecodedValue {
    var decoder = FieldDecoder(value[...])
    guard repeats else {
      try decoder.decode(fields)
      try decoder.finish()
      return DecodedValue(fields: decoder.result)
    }
    var rest = value[...]
    while let length = rest.first {
      guard length > 1, Int(length) <= rest.count else { throw .recordLength(Int(length)) }
      decoder.begin(rest.prefix(Int(length)))
      try decoder.decode(fields)
      try decoder.finish()
      rest = rest.dropFirst(Int(length))
    }
    guard !value.isEmpty else { throw .tooShort(field: fields.first?.name ?? "", bytes: 0) }
    return DecodedValue(fields: decoder.result)
  }
}

/// A decoder for the fields of a value in order, each from its least significant bit.
private struct FieldDecoder {
  private var bytes: ArraySlice<UInt8>
  /// The number of bits that the decoder has read in the current record.
  private var position = 0
  /// The raw values to which conditions refer, by the index of the field from 0.
  private var raw: [Int: UInt64] = [:]
  private(set) var result: [DecodedField] = []
  private var keys: [String: Int] = [:]

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// Starts a record at its first byte, and forgets the raw values of the previous record.
  mutating func begin(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = 0
    raw = [:]
  }

  private var bitsLeft: Int { bytes.count * 8 - position }

  func finish() throws(ValueMismatch) { guard bitsLeft < 8 else { throw .tooLong(by: bitsLeft / 8) } }

  mutating func decode(_ fields: [FieldDescription]) throws(ValueMismatch) {
    for (index, field) in fields.enumerated() {
      guard isPresent(field) else { continue }
      let content = try content(field, index)
      if field.fillsBytes { position = (position + 7) / 8 * 8 }
      let base = field.key
      let count = (keys[base] ?? 0) + 1
      keys[base] = count
      result.append(DecodedField(name: field.name, key: count == 1 ? base : "\(base)_\(count)", unit: field.unit, content: content))
    }
  }

  private func isPresent(_ field: FieldDescription) -> Bool {
    field.conditions.allSatisfy { condition in
      switch condition {
      case .bit(let bit, let index, let wanted): raw[index].map { ($0 >> UInt64(bit) & 1 == 1) == wanted } ?? false
      case .value(let number, let index, let wanted): raw[index].map { ($0 == UInt64(number)) == wanted } ?? false
      case .bytesLeft: bitsLeft > 0
      }
    }
  }

  // MARK: One field

  private mutating func content(_ field: FieldDescription, _ index: Int) throws(ValueMismatch) -> DecodedField.Content {
    switch field.kind {
    case .unsigned, .signed, .shortFloat, .longFloat:
      guard field.isArray else { return try scalar(field, index) }
      var numbers: [DecimalNumber] = []
      while bitsLeft > 0 { if case .number(let number) = try scalar(field, index) { numbers.append(number) } }
      return .numbers(numbers)
    case .flags(let bits):
      let value = try take(bits, field)
      raw[index] = value
      return .flags(value, field.bits.map { flag($0, value) })
    case .float:
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: try take(32, field)))
      // Convert the shortest text, so that 0.1 does not become 0.10000000149011612.
      return .real(Double(float.description) ?? Double(float))
    case .double: return .real(Double(bitPattern: try take(64, field)))
    case .exponential:
      let value = try take(8, field)
      if let meaning = field.meanings[Int64(value)] { return .noNumber(meaning) }
      return .real(value == 0 ? 0 : Self.power(Int(value) - 64))
    case .text(let count):
      return .text(try text(try take(bytes: count, field), field))
    case .zeroTerminatedText:
      let rest = bytes.dropFirst(position / 8)
      let bytes = Array(rest.prefix { $0 != 0 })
      position += min(bytes.count + 1, rest.count) * 8
      return .text(try text(bytes, field))
    case .wideText: return .text(try wideText(try take(bytes: nil, field), field))
    case .shortUUID: return .uuid(UUID(UInt32(truncatingIfNeeded: try take(16, field))))
    case .uuid:
      let bytes = try take(bytes: nil, field)
      guard bytes.count == 2 || bytes.count == 16, let uuid = UUID(Hex.encode(bytes.reversed())) else {
        throw bytes.count < 2
          ? .tooShort(field: field.name, bytes: bytes.count) : .tooLong(by: bytes.count > 16 ? bytes.count - 16 : bytes.count - 2)
      }
      return .uuid(uuid)
    case .dateTime: return try date(try take(bytes: 7, field), field)
    case .date: return try date(try take(bytes: 4, field), field)
    case .days:
      let days = try take(24, field)
      return days == 0 ? .noNumber("not known") : .date(Timestamp.date(day: Int64(days)))
    case .appearance:
      let value = UInt16(truncatingIfNeeded: try take(16, field))
      return AssignedNumbers.appearance(value).map { .choice(Int64(value), $0) } ?? .number(DecimalNumber(value))
    case .company:
      let value = UInt16(truncatingIfNeeded: try take(16, field))
      return AssignedNumbers.company(value).map { .choice(Int64(value), $0) } ?? .number(DecimalNumber(value))
    case .bytes: return .bytes(try take(bytes: nil, field))
    case .identifier(let count): return .identifier(try take(bytes: count, field).reversed())
    }
  }

  private mutating func scalar(_ field: FieldDescription, _ index: Int) throws(ValueMismatch) -> DecodedField.Content {
    let value: Int128
    switch field.kind {
    case .shortFloat: return special(IEEE11073Float(short: UInt16(truncatingIfNeeded: try take(16, field))))
    case .longFloat: return special(IEEE11073Float(long: UInt32(truncatingIfNeeded: try take(32, field))))
    case .signed(let bits):
      let taken = try take(bits, field)
      raw[index] = taken
      value = Int128(Int64(bitPattern: taken << UInt64(64 - bits)) >> Int64(64 - bits))
    case .unsigned(let bits):
      let taken = try take(bits, field)
      raw[index] = taken
      value = Int128(taken)
    default: return .noNumber("")
    }
    if let code = Int64(exactly: value), let meaning = field.meanings[code] {
      let isNone = field.unit != nil || field.scale != nil || meaning == "not known" || meaning == "not valid"
      return isNone ? .noNumber(meaning) : .choice(code, meaning)
    }
    guard let number = DecimalNumber(value, scale: field.scale ?? Scale()) else { throw .tooLarge(field: field.name) }
    return .number(number)
  }

  private func special(_ float: IEEE11073Float) -> DecodedField.Content {
    switch float {
    case .number(let number): .number(number)
    case .special(let name): .noNumber(name)
    }
  }

  private func flag(_ bits: FieldDescription.Bits, _ value: UInt64) -> DecodedField.Flag {
    let width = UInt64(bits.positions.count)
    let part = Int(truncatingIfNeeded: value >> UInt64(bits.positions.lowerBound) & ((1 << width) - 1))
    return DecodedField.Flag(name: bits.name, value: part, meaning: bits.meanings[part], isSingleBit: width == 1)
  }

  private func text(_ bytes: [UInt8], _ field: FieldDescription) throws(ValueMismatch) -> String {
    var bytes = bytes
    while bytes.last == 0 { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(field: field.name) }
    return text
  }

  private func wideText(_ bytes: [UInt8], _ field: FieldDescription) throws(ValueMismatch) -> String {
    guard bytes.count.isMultiple(of: 2) else { throw .notText(field: field.name) }
    var units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
    while units.last == 0 { units.removeLast() }
    guard let text = String(validating: units, as: UTF16.self) else { throw .notText(field: field.name) }
    return text
  }

  /// Decodes year, month and day, and in a longer value also hours, minutes and seconds. A year, month or day of 0 means unknown.
  private func date(_ bytes: [UInt8], _ field: FieldDescription) throws(ValueMismatch) -> DecodedField.Content {
    guard bytes.count >= 4 else { throw .tooShort(field: field.name, bytes: bytes.count) }
    let year = Int(bytes[0]) | Int(bytes[1]) << 8
    let highest: [UInt8] = [12, 31, 23, 59, 59]
    let rest = bytes.dropFirst(2)
    guard year == 0 || (1582...9999).contains(year), zip(rest, highest).allSatisfy({ $0 <= $1 }) else { throw .notADate(field: field.name) }
    if bytes.allSatisfy({ $0 == 0 }) { return .noNumber("not known") }
    let parts = rest.enumerated().map { $1 == 0 && $0 < 2 ? "??" : $1 < 10 ? "0\($1)" : "\($1)" }
    let day = "\(year == 0 ? "????" : "\(year)")-\(parts[0])-\(parts[1])"
    return .date(parts.count < 5 ? day : "\(day)T\(parts[2]):\(parts[3]):\(parts[4])")
  }

  /// Returns 1.1 to the power of `exponent`.
  private static func power(_ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<abs(exponent) { result *= 1.1 }
    return exponent < 0 ? 1 / result : result
  }

  // MARK: Bytes

  private mutating func take(_ bits: Int, _ field: FieldDescription) throws(ValueMismatch) -> UInt64 {
    guard bitsLeft >= bits else { throw .tooShort(field: field.name, bytes: bytes.count) }
    var value: UInt64 = 0
    for bit in 0..<bits {
      let place = position + bit
      let byte = bytes[bytes.startIndex + place / 8]
      value |= UInt64(byte >> UInt8(place % 8) & 1) << UInt64(bit)
    }
    position += bits
    return value
  }

  /// Reads `count` bytes, or all remaining bytes if `count` is nil.
  private mutating func take(bytes count: Int?, _ field: FieldDescription) throws(ValueMismatch) -> [UInt8] {
    let rest = bytes.dropFirst(position / 8)
    guard rest.count >= count ?? 0 else { throw .tooShort(field: field.name, bytes: bytes.count) }
    let taken = Array(rest.prefix(count ?? rest.count))
    position += taken.count * 8
    return taken
  }
}
