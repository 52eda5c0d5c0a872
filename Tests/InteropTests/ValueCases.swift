import TestSupport

@testable import BluetoothLE

/// Test values of a characteristic: optional fields, extremes, raw values with a meaning, and truncations at every length.
struct ValueCases {
  private let description: CharacteristicDescription
  private var random: SplitMix64
  private var seen: Set<[UInt8]> = []
  private(set) var values: [[UInt8]] = []

  /// The content of a field that has no fixed content.
  private enum Fill: CaseIterable { case ascending, random, otherRandom }

  init(_ description: CharacteristicDescription, seed: UInt64) {
    self.description = description
    random = SplitMix64(seed: seed)
    let variants = Self.variants(description.fields)
    for raw in variants {
      for hasRest in [true, false] {
        for fill in Fill.allCases { add(raw, hasRest, fill) }
        cut(build(raw, hasRest, .ascending))
      }
    }
    for (index, field) in description.fields.enumerated() {
      guard let raw = variants.last(where: { Self.isPresent(field, $0) }) else { continue }
      for special in Self.extremes(field) {
        var chosen = raw
        chosen[index] = .number(special)
        add(chosen, true, .ascending)
      }
      for bytes in Self.spellings(field.kind) {
        var chosen = raw
        chosen[index] = .bytes(bytes)
        add(chosen, true, .ascending)
      }
      if field.isArray {
        for count in [0, 1, 2, 7] {
          var chosen = raw
          chosen[index] = .count(count)
          add(chosen, true, .random)
        }
      }
    }
  }

  private mutating func add(_ raw: [Int: Content], _ hasRest: Bool, _ fill: Fill) { add(build(raw, hasRest, fill)) }

  private mutating func add(_ value: [UInt8]) {
    if seen.insert(value).inserted { values.append(value) }
  }

  /// Adds the value truncated at every length, and with extra bytes at the end.
  private mutating func cut(_ value: [UInt8]) {
    for length in 0..<value.count { add(Array(value.prefix(length))) }
    add(value + [0])
    add(value + [1, 2])
  }

  private enum Content {
    case number(UInt64)
    case bytes([UInt8])
    /// The number of elements.
    case count(Int)

    var number: UInt64? { if case .number(let number) = self { number } else { nil } }
  }

  // MARK: Which fields are there

  /// Returns contents for the fields that conditions refer to: nothing set, each bit, all but each bit, each value, all bits.
  private static func variants(_ fields: [FieldDescription]) -> [[Int: Content]] {
    var bits: [Int: Set<Int>] = [:]
    var numbers: [Int: Set<Int>] = [:]
    for condition in fields.flatMap(\.conditions) {
      switch condition {
      case .bit(let bit, let index, _): bits[index, default: []].insert(bit)
      case .value(let number, let index, _): numbers[index, default: [0, 1, 2, 3]].insert(number)
      case .bytesLeft: break
      }
    }
    var variants: [[Int: Content]] = [[:]]
    for (index, positions) in bits.sorted(by: { $0.key < $1.key }) {
      let all = positions.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
      let each = positions.sorted().map { UInt64(1) << UInt64($0) }
      let masks: [UInt64] = [0] + each + each.map { all & ~$0 } + [all]
      // Two fields of flags: combining all variants of both would be too many.
      variants =
        variants.count == 1 || masks.count * variants.count < 60
        ? variants.flatMap { variant in masks.map { mask in variant.merging([index: .number(mask)]) { $1 } } }
        : masks.map { mask in variants[variants.count - 1].merging([index: .number(mask)]) { $1 } }
    }
    for (index, values) in numbers.sorted(by: { $0.key < $1.key }) {
      variants = variants.flatMap { variant in values.sorted().map { value in variant.merging([index: .number(UInt64(value))]) { $1 } } }
    }
    return variants
  }

  private static func isPresent(_ field: FieldDescription, _ raw: [Int: Content], hasRest: Bool = true) -> Bool {
    field.conditions.allSatisfy { condition in
      switch condition {
      case .bit(let bit, let index, let wanted): ((raw[index]?.number ?? 0) >> UInt64(bit) & 1 == 1) == wanted
      case .value(let number, let index, let wanted): (raw[index]?.number == UInt64(number)) == wanted
      case .bytesLeft: hasRest
      }
    }
  }

  // MARK: What they hold

  private static func width(_ kind: FieldDescription.Kind) -> Int? {
    switch kind {
    case .unsigned(let bits), .signed(let bits), .flags(let bits): bits
    case .shortFloat, .appearance, .company, .shortUUID: 16
    case .longFloat, .float: 32
    case .exponential: 8
    case .days: 24
    case .double: 64
    case .text, .zeroTerminatedText, .wideText, .uuid, .dateTime, .date, .bytes, .identifier: nil
    }
  }

  /// Returns the raw values that show most about a field: its limits, values around the sign change, and values with a meaning.
  private static func extremes(_ field: FieldDescription) -> [UInt64] {
    guard let width = width(field.kind) else { return [] }
    let ones: UInt64 = width == 64 ? .max : 1 << UInt64(width) - 1
    let half: UInt64 = 1 << UInt64(width - 1)
    var values = [0, 1, half - 1, half, half &+ 1, ones - 1, ones].map { $0 & ones }
    values += field.meanings.keys.map { UInt64(bitPattern: $0) & ones }.sorted()
    switch field.kind {
    case .flags: values += (0..<width).map { 1 << UInt64($0) }
    case .unsigned(let bits) where bits <= 4: values += 0...ones
    case .shortFloat: values += [0x07FF, 0x0800, 0x07FE, 0x0802, 0x0801, 0x0078, 0xF16C, 0x8001, 0x7001, 0x0FFF, 0xFFFF, 0x17FF]
    case .longFloat:
      values += [0x007F_FFFF, 0x0080_0000, 0x007F_FFFE, 0x0080_0002, 0x0080_0001, 0xFF00_016C, 0x7F00_0001, 0x00FF_FFFF, 0xFFFF_FFFF]
    case .float: values += [0x3FC0_0000, 0xBF80_0000, 0x7F80_0000, 0x7FC0_0000]
    case .appearance: values += [961, 833, 0x1234]
    case .company: values += [76, 0x0059]
    case .exponential: values += [63, 64, 65, 128]
    case .days: values += [19_000, 10_957]
    default: break
    }
    return values
  }

  /// Returns the corresponding values of fields that are not numbers.
  private static func spellings(_ kind: FieldDescription.Kind) -> [[UInt8]] {
    switch kind {
    case .text(nil), .zeroTerminatedText: [[], Array("A".utf8), Array("grün".utf8), Array("end".utf8) + [0], [0xFF, 0x41]]
    case .text(let count?): [Array(repeating: 0x42, count: count), Array(repeating: 0, count: count), Array(repeating: 0xFF, count: count)]
    case .uuid: [[0x0D, 0x18], Array(1...16), [1, 2, 3, 4], Array(1...17)]
    case .dateTime:
      [
        [0, 0, 0, 0, 0, 0, 0], [0xD0, 0x07, 2, 29, 23, 59, 59], [0x0F, 0x27, 12, 31, 0, 0, 0], [0x2E, 0x06, 1, 1, 0, 0, 0],
        [0xEA, 0x07, 13, 1, 0, 0, 0], [0xEA, 0x07, 1, 32, 0, 0, 0], [0xEA, 0x07, 1, 1, 24, 0, 0], [0xEA, 0x07, 0, 0, 1, 2, 3],
        [0, 0, 11, 22, 1, 2, 3],
      ]
    case .date: [[0, 0, 0, 0], [0xD0, 0x07, 2, 29], [0xEA, 0x07, 13, 1], [0xEA, 0x07, 1, 0], [0xEA, 0x07, 0, 0], [0, 0, 11, 22]]
    case .bytes: [[], [7], [1, 2, 3, 4, 5, 6, 7, 8, 9]]
    case .identifier(let count): [Array(repeating: 0, count: count), Array(repeating: 0xFF, count: count)]
    default: []
    }
  }

  // MARK: Bytes

  private mutating func build(_ raw: [Int: Content], _ hasRest: Bool, _ fill: Fill) -> [UInt8] {
    guard description.repeats else { return record(raw, hasRest, fill) }
    let records = [record(raw, hasRest, fill), fill == .ascending ? [] : record(raw, hasRest, fill)]
    return records.flatMap { $0.isEmpty ? $0 : [UInt8($0.count)] + $0.dropFirst() }
  }

  private mutating func record(_ raw: [Int: Content], _ hasRest: Bool, _ fill: Fill) -> [UInt8] {
    var raw = raw
    var bits: [Bool] = []
    func put(_ value: UInt64, _ width: Int) { for bit in 0..<width { bits.append(value >> UInt64(bit) & 1 == 1) } }
    func put(_ bytes: [UInt8]) { for byte in bytes { put(UInt64(byte), 8) } }
    let conditional = Set(description.fields.flatMap(\.conditions).compactMap(\.index))
    for (index, field) in description.fields.enumerated() where Self.isPresent(field, raw, hasRest: hasRest) {
      let given = raw[index]
      if let width = Self.width(field.kind) {
        var count = field.isArray ? 2 : 1
        if case .count(let wanted)? = given { count = wanted }
        for _ in 0..<count {
          let value = given?.number ?? (conditional.contains(index) ? 0 : number(field, index, width, fill))
          put(value, width)
          if raw[index] == nil { raw[index] = .number(value) }
        }
      } else if case .bytes(let bytes)? = given {
        put(bytes)
      } else {
        put(bytes(field.kind, fill))
      }
    }
    return stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
    }
  }

  /// Returns a raw number of a field. With `.ascending`, numbers rise, so that ranges, minima and maxima are plausible.
  private mutating func number(_ field: FieldDescription, _ index: Int, _ width: Int, _ fill: Fill) -> UInt64 {
    let ones: UInt64 = width == 64 ? .max : 1 << UInt64(width) - 1
    if case .flags = field.kind { return fill == .ascending ? 0 : random.next() & ones }
    switch fill {
    case .ascending: return UInt64(11 + 3 * index) & ones
    case .random, .otherRandom: return random.next() & ones & (fill == .random ? ones : ones >> UInt64(width / 2))
    }
  }

  private mutating func bytes(_ kind: FieldDescription.Kind, _ fill: Fill) -> [UInt8] {
    switch kind {
    case .text(let count): Array(repeating: 0x61 + UInt8(random.next() % 26), count: count ?? 5)
    case .zeroTerminatedText: Array("label".utf8) + [0]
    case .uuid: fill == .ascending ? [0x0F, 0x18] : (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    case .dateTime: date() + [UInt8(random.next() % 24), UInt8(random.next() % 60), UInt8(random.next() % 60)]
    case .date: date()
    case .bytes: (0..<6).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    case .identifier(let count): (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    default: []
    }
  }

  private mutating func date() -> [UInt8] {
    let year = UInt16(2000 + random.next() % 60)
    return [UInt8(truncatingIfNeeded: year), UInt8(year >> 8), UInt8(1 + random.next() % 12), UInt8(1 + random.next() % 28)]
  }
}

extension FieldDescription.Condition {
  fileprivate var index: Int? {
    switch self {
    case .bit(_, let index, _), .value(_, let index, _): index
    case .bytesLeft: nil
    }
  }
}
