// SPDX-License-Identifier: Apache-2.0
/// The Characteristic Presentation Format descriptor (Vol 3 Part G §3.3.3.5), in which a device describes a value.
package struct PresentationFormat: Hashable, Sendable {
  /// The format code of the value (Assigned Numbers §2.4.1), for example 0x04 for an unsigned byte.
  package let format: UInt8
  /// The exponent of ten by which the device scales integers.
  package let exponent: Int8
  /// The UUID of the unit in the Assigned Numbers.
  package let unit: UUID

  /// Decodes the value of a descriptor. Nil unless the value has seven bytes.
  package init?(_ value: [UInt8]) {
    guard value.count == 7 else { return nil }
    format = value[0]
    exponent = Int8(bitPattern: value[1])
    unit = UUID(UInt32(value[2]) | UInt32(value[3]) << 8)
  }

  /// The seven bytes of the descriptor's value. The name space and the description are zero.
  package var value: [UInt8] { [format, UInt8(bitPattern: exponent)] + unit.attBytes + [0, 0, 0] }

  /// The field that the format describes. Nil for formats that stay bytes: 128-bit integers, structures, unassigned formats.
  fileprivate var field: FieldDescription? {
    guard let kind = Self.kinds[format], var field = FieldDescription(line: "Value|\(kind)") else { return nil }
    field.fillsBytes = true
    field.unit = CharacteristicDescription.unit(unit)
    switch field.kind {
    case .unsigned, .signed:
      if format > 0x03, exponent != 0 { field.scale = Scale(multiplier: 1, decimalExponent: Int(exponent), binaryExponent: 0) }
    default: break
    }
    if format == 0x01 { field.meanings = [0: "false", 1: "true"] }
    return field
  }

  private static let kinds: [UInt8: String] = [
    0x01: "u1", 0x02: "u2", 0x03: "u4", 0x04: "u8", 0x05: "u12", 0x06: "u16", 0x07: "u24", 0x08: "u32", 0x09: "u48", 0x0A: "u64",
    0x0C: "s8", 0x0D: "s12", 0x0E: "s16", 0x0F: "s24", 0x10: "s32", 0x11: "s48", 0x12: "s64",
    0x14: "f32", 0x15: "f64", 0x16: "m16", 0x17: "m32", 0x19: "str", 0x1A: "wide",
  ]
}

/// The name and the formats that the descriptors of a characteristic give to its value.
package struct ValueDescription: Hashable, Sendable {
  /// The name in the Characteristic User Description (Vol 3 Part G §3.3.3.2). Nil if unknown.
  package var userDescription: String?
  /// The formats of the parts of the value, one (§3.3.3.5) or several in the order of an aggregate format (§3.3.3.6). Empty if unknown.
  package var formats: [PresentationFormat]

  package init(userDescription: String? = nil, formats: [PresentationFormat] = []) {
    self.userDescription = userDescription
    self.formats = formats
  }
}

extension DecodedValue {
  /// Decodes a value by the Bluetooth SIG's description of its type, or else by the device's formats for its parts.
  /// The SIG's descriptions have flags and codes, which formats lack.
  /// - Returns: The fields. Nil if the type has no description and `formats` is empty or has a format that stays bytes.
  /// - Throws: `ValueMismatch` if the bytes do not follow the description.
  package static func of(_ value: [UInt8], type: UUID?, formats: [PresentationFormat] = []) throws(ValueMismatch) -> Self? {
    if let type, let description = CharacteristicDescription(type) { return try description.decode(value) }
    let fields = formats.compactMap(\.field)
    guard !fields.isEmpty, fields.count == formats.count else { return nil }
    return try CharacteristicDescription(fields: fields).decode(value)
  }
}
