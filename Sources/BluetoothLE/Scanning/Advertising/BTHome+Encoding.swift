// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

extension BTHome {
  /// Encodes measurements (`NAME=VALUE`) as unencrypted data of version 2. Objects are in ascending order of their identifiers, as the
  /// format demands. Of several objects with a name, a value gets the one with the lowest identifier that can hold it.
  static func encode(_ measurements: [String]) throws(AdvertisedContentError) -> [UInt8] {
    var found: [(id: UInt8, bytes: [UInt8])] = []
    for text in measurements {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let all = objects.filter { $0.value.name == parts[0] }.sorted { $0.key < $1.key }
      guard parts.count == 2, !all.isEmpty else {
        throw .unknownMeasurement(text, names: Set(objects.values.map(\.name)).sorted())
      }
      // The unit is part of the meaning: 5 may be millimeters or meters.
      let needsUnit = Set(all.compactMap { $0.value.isNumber ? $0.value.unit : nil }).count > 1
      guard let fit = all.lazy.compactMap({ id, object in object.encode(parts[1], needsUnit: needsUnit).map { (id, $0) } }).first else {
        throw .invalidMeasurement(name: parts[0], value: parts[1], allowed: all.map { $0.value.allowed(needsUnit: needsUnit) })
      }
      found.append(fit)
    }
    // A stable sort: equal objects keep the order of the user.
    let sorted = found.enumerated().sorted { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) }
    return [0x40] + sorted.flatMap { [$0.element.id] + $0.element.bytes }
  }
}

extension BTHome.Object {
  var isNumber: Bool { if case .number = kind { true } else { false } }

  /// Encodes a value without the identifier. Nil if the object cannot hold exactly this value.
  func encode(_ text: String, needsUnit: Bool) -> [UInt8]? {
    switch kind {
    case .number(let bytes, let isSigned):
      let plain = unit.flatMap { text.hasSuffix($0) ? String(text.dropLast($0.count)) : nil }
      guard plain != nil || !needsUnit, let raw = raw(plain ?? text) else { return nil }
      let range = Self.range(bytes, isSigned)
      return range.contains(raw) ? Self.bytes(raw, bytes) : nil
    case .bool: return Self.place(of: text, in: [states, ["0", "1"], ["false", "true"]]).map { [$0] }
    case .level: return Self.place(of: text, in: [states]).map { [$0] }
    case .time: return UInt32(text).map { Self.bytes(Int($0), 4) }
    case .text: return UInt8(exactly: text.utf8.count).map { [$0] + text.utf8 }
    case .raw: return Hex.decode(text).flatMap { data in UInt8(exactly: data.count).map { [$0] + data } }
    case .version(let bytes):
      let numbers = text.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
      return numbers.count == bytes && numbers.map(String.init).joined(separator: ".") == text ? numbers.reversed() : nil
    case .button: return BTHome.buttons.first { $0.value == text }.map { [$0.key] }
    case .command:
      let (name, steps) = Self.steps(text)
      guard let code = BTHome.commands.first(where: { $0.value == name })?.key else { return nil }
      if name == text { return [0, code] }
      return steps.flatMap { code >= 3 ? [1, code, $0] : nil }
    case .dimmer:
      let (name, steps) = Self.steps(text)
      guard let code = BTHome.dimmers.first(where: { $0.value == name })?.key, let steps = name == text ? 0 : steps else { return nil }
      return [code, steps]
    }
  }

  /// Describes the values that the object can hold.
  func allowed(needsUnit: Bool) -> String {
    switch kind {
    case .number(let bytes, let isSigned):
      let (range, suffix) = (Self.range(bytes, isSigned), needsUnit ? unit ?? "" : "")
      let (low, high) = (Double(range.lowerBound * factor) / divisor, Double(range.upperBound * factor) / divisor)
      return "\(low)\(suffix) to \(high)\(suffix) in steps of \(Double(factor) / divisor)"
    case .bool, .level: return states.joined(separator: " or ")
    case .time: return "seconds since 1970"
    case .text, .raw: return "up to 255 bytes \(kind == .raw ? "in hex" : "of text")"
    case .version(let bytes): return "\(bytes) numbers with dots between them"
    case .button, .command, .dimmer:
      let names = (kind == .button ? BTHome.buttons : kind == .command ? BTHome.commands : BTHome.dimmers).values.sorted()
      return names.joined(separator: " or ") + (kind == .button ? "" : ", perhaps with :STEPS")
    }
  }

  /// Returns the number in the data for a decimal number. Nil for another text, and for a number between two steps.
  private func raw(_ text: String) -> Int? {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
    let digits = parts.joined()
    // Twelve digits times a million do not overflow.
    guard (1...2).contains(parts.count), (1...12).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      !parts[0].isEmpty, let mantissa = Int(digits)
    else { return nil }
    let scale = parts.dropFirst().joined().utf8.reduce(factor) { scale, _ in scale * 10 }
    let (number, rest) = (mantissa * Int(divisor)).quotientAndRemainder(dividingBy: scale)
    return rest == 0 ? (isNegative ? -number : number) : nil
  }

  private static func range(_ bytes: Int, _ isSigned: Bool) -> ClosedRange<Int> {
    let bits = 8 * min(4, max(1, bytes))
    return isSigned ? -(1 << (bits - 1))...(1 << (bits - 1)) - 1 : 0...(1 << bits) - 1
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  private static func place(of text: String, in lists: [[String]]) -> UInt8? {
    lists.lazy.compactMap { $0.firstIndex(of: text) }.first.map { UInt8(clamping: $0) }
  }

  /// Splits `rotate_left:3` into its name and the number of steps. The number is nil if it is missing or invalid.
  private static func steps(_ text: String) -> (name: String, steps: UInt8?) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts.first.map(String.init) ?? "", parts.count == 2 ? UInt8(parts[1]) : nil)
  }
}
