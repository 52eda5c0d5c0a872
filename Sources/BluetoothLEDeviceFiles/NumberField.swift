// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The layout of a whole number or a float in bytes.
package struct NumberLayout: Sendable, Equatable {
  package enum Kind: Sendable, Equatable { case unsigned, signed, float }

  package let kind: Kind
  /// The size in bytes: 4 or 8 for a float, otherwise 1, 2, 3, 4 or 8.
  package let width: Int
  package let order: ByteOrder

  /// Creates the layout of a value format. Returns nil if the format is not a number.
  package init?(_ format: ValueFormat) {
    switch format {
    case .unsigned(let bytes, let order): (kind, width, self.order) = (.unsigned, bytes, order)
    case .signed(let bytes, let order): (kind, width, self.order) = (.signed, bytes, order)
    case .float(let bytes, let order): (kind, width, self.order) = (.float, bytes, order)
    case .hex, .utf8, .base64, .auto: return nil
    }
  }

  /// The range of whole numbers that fit in `width` bytes. The range is 0...0 for a float.
  package var range: ClosedRange<Int128> {
    let bits = Int128(8 * width)
    return switch kind {
    case .unsigned: 0...((1 << bits) - 1)
    case .signed: -(1 << (bits - 1))...((1 << (bits - 1)) - 1)
    case .float: 0...0
    }
  }

  /// Encodes the lowest `8 * width` bits in the byte order of the layout.
  func bytes(_ bits: UInt64) -> [UInt8] {
    let little = (0..<width).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
    return order == .little ? little : little.reversed()
  }

  func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 { order.number(bytes) }

  /// Converts the bits of a signed or unsigned whole number to its value.
  func integer(_ bits: UInt64) -> Int128 {
    guard kind == .signed else { return Int128(bits) }
    let shift = UInt64(64 - 8 * width)
    return Int128(Int64(bitPattern: bits << shift) >> Int64(shift))
  }
}

/// A number field of a frame. Its values can have names, or a scale and an offset.
package struct NumberField: Sendable, Equatable {
  package var name: String
  package var layout: NumberLayout
  /// The scale that converts the number in the packet to a value. Nil if the value is that number.
  package var scale: Scale?
  package var names: [ValueName] = []
  package var note = FieldNote()

  package struct ValueName: Sendable, Equatable {
    package let name: String
    package let number: Int128
  }

  /// A linear scale: value = number × factor + offset.
  package struct Scale: Sendable, Equatable {
    package let factor: Double
    package let offset: Double

    /// Scales a number. Divides by the inverse of a factor such as 0.1, so that 3 becomes exactly 0.3.
    func value(_ number: Double) -> Double {
      let inverse = (1 / factor).rounded()
      return (abs(inverse * factor - 1) < 1e-12 ? number / inverse : number * factor) + offset
    }

    func number(_ value: Double) -> Double { (value - offset) / factor }
  }

  // MARK: Values

  func value(_ bits: UInt64) -> DeviceValue {
    if layout.kind == .float {
      let number: Double
      if layout.width == 8 {
        number = Double(bitPattern: bits)
      } else {
        // The shortest number with these bits: 1.1, not 1.100000023841858.
        let float = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
        number = Double("\(float)") ?? Double(float)
      }
      return .number(scale.map { $0.value(number) } ?? number)
    }
    return value(of: layout.integer(bits))
  }

  /// Converts an unscaled whole number to a value: its name if it has one, otherwise the scaled number.
  func value(of number: Int128) -> DeviceValue {
    if let name = names.first(where: { $0.number == number }) { return .text(name.name) }
    guard let scale else { return .integer(number) }
    return .number(scale.value(Double(number)))
  }

  /// Encodes a value, or the name of a value, as the bits in the packet.
  /// - Throws: FieldFault if the value does not fit.
  func bits(_ value: DeviceValue) throws(FieldFault) -> UInt64 {
    func wrong(_ reason: FieldFault.Reason) -> FieldFault { FieldFault(field: name, reason: reason) }
    if case .text(let text) = value {
      guard let number = names.first(where: { $0.name == text })?.number else { throw wrong(.unknownName(text, names.map(\.name))) }
      return UInt64(truncatingIfNeeded: number)
    }
    guard let number = value.double else { throw wrong(.notANumber) }
    if layout.kind == .float {
      let plain = scale.map { $0.number(number) } ?? number
      if layout.width == 8 { return plain.bitPattern }
      guard Float(plain).isFinite || !plain.isFinite else { throw wrong(.outOfRange(value.plainText, nil)) }
      return UInt64(Float(plain).bitPattern)
    }
    let whole: Int128
    if let scale {
      let raw = scale.number(number)
      guard let rounded = Int128(exactly: raw.rounded()) else { throw wrong(.outOfRange(value.plainText, limits)) }
      // Tolerate the rounding of Double.
      guard abs(raw - raw.rounded()) <= 1e-6 + abs(raw) * 1e-12 else {
        throw wrong(.betweenSteps(value.plainText, nearest: DeviceValue.number(scale.value(raw.rounded())).plainText))
      }
      whole = rounded
    } else if case .integer(let integer) = value {
      whole = integer
    } else {
      guard let integer = Int128(exactly: number) else { throw wrong(.notWhole(value.plainText)) }
      whole = integer
    }
    guard layout.range.contains(whole) else { throw wrong(.outOfRange(value.plainText, limits)) }
    return UInt64(truncatingIfNeeded: whole)
  }

  /// The range of valid scaled values as text, such as `0 to 25.5`. Nil for a float.
  package var limits: String? {
    guard layout.kind != .float else { return nil }
    let range = layout.range
    guard let scale else { return "\(range.lowerBound) to \(range.upperBound)" }
    let ends = [range.lowerBound, range.upperBound].map { scale.value(Double($0)) }.sorted().map { DeviceValue.number($0).plainText }
    return "\(ends[0]) to \(ends[1])"
  }

  /// The range of valid scaled values. Nil for a float.
  var span: ClosedRange<Double>? {
    guard layout.kind != .float else { return nil }
    let (low, high) = (Double(layout.range.lowerBound), Double(layout.range.upperBound))
    guard let scale else { return low...high }
    return min(scale.value(low), scale.value(high))...max(scale.value(low), scale.value(high))
  }

  /// Parses a number, or the name of a value.
  /// - Throws: FieldFault for other text.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    if names.contains(where: { $0.name == text }) { return .text(text) }
    if let integer = Self.integer(text) { return scale == nil && layout.kind != .float ? .integer(integer) : .number(Double(integer)) }
    guard text.utf8.allSatisfy({ $0 < 0x80 }), let number = Double(text), number.isFinite || layout.kind == .float else {
      throw FieldFault(field: name, reason: names.isEmpty ? .noNumber(text) : .unknownName(text, names.map(\.name)))
    }
    return .number(number)
  }

  /// Parses a whole number in decimal, or in hex with the prefix `0x`. Returns nil for other text.
  package static func integer(_ text: String) -> Int128? {
    let isNegative = text.utf8.first == 0x2D
    let digits = isNegative ? text.dropFirst() : text[...]
    let magnitude: UInt64?
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      magnitude = Hex.number(digits.dropFirst(2))
    } else {
      magnitude = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(digits) : nil
    }
    return magnitude.map { isNegative ? -Int128($0) : Int128($0) }
  }
}

/// A number field whose bits hold several smaller numbers.
package struct BitsField: Sendable, Equatable {
  package var layout: NumberLayout
  package var bits: [Bit]

  package struct Bit: Sendable, Equatable {
    package var name: String
    /// The index of the lowest bit of the field, counted from the lowest bit of the number.
    package var low: Int
    /// The number of bits, 1 to 32.
    package var width: Int
    package var names: [NumberField.ValueName] = []
    package var note = FieldNote()

    var mask: UInt64 { (1 << UInt64(width)) - 1 }

    func value(_ bits: UInt64) -> DeviceValue {
      let number = Int128(bits >> UInt64(low) & mask)
      return names.first { $0.number == number }.map { .text($0.name) } ?? .integer(number)
    }

    func bits(_ value: DeviceValue) throws(FieldFault) -> UInt64 {
      if case .text(let text) = value {
        guard let found = names.first(where: { $0.name == text }) else {
          throw FieldFault(field: name, reason: .unknownName(text, names.map(\.name)))
        }
        return UInt64(truncatingIfNeeded: found.number) << UInt64(low)
      }
      guard let double = value.double else { throw FieldFault(field: name, reason: .notANumber) }
      guard let number = UInt64(exactly: double) else { throw FieldFault(field: name, reason: .notWhole(value.plainText)) }
      guard number <= mask else { throw FieldFault(field: name, reason: .outOfRange(value.plainText, "0 to \(mask)")) }
      return number << UInt64(low)
    }

    package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
      if names.contains(where: { $0.name == text }) { return .text(text) }
      guard let number = NumberField.integer(text) else {
        throw FieldFault(field: name, reason: names.isEmpty ? .noNumber(text) : .unknownName(text, names.map(\.name)))
      }
      return .integer(number)
    }
  }
}
