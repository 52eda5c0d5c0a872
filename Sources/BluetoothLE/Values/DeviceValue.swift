// SPDX-License-Identifier: Apache-2.0
/// The value of a field, scaled and named as the device file describes.
package indirect enum DeviceValue: Sendable, Equatable {
  case integer(Int128)
  case number(Double)
  case text(String)
  case bytes([UInt8])
  case list([DeviceValue])
  case object([NamedValue])

  /// The value as text, with plain numbers, bytes in hex, and commas between the items of a list.
  package var plainText: String {
    switch self {
    case .integer(let number): "\(number)"
    case .number(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    case .text(let text): text
    case .bytes(let bytes): Hex.encode(bytes)
    case .list(let items): items.map(\.plainText).joined(separator: ", ")
    case .object(let members): members.map { "\($0.name) \($0.value.plainText)" }.joined(separator: ", ")
    }
  }

  /// The value as a floating-point number. Nil for text, bytes, lists and objects.
  package var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .text, .bytes, .list, .object: nil
    }
  }

  /// The value as an `Int`. Nil if it is not an `integer`, or does not fit.
  package var count: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
}

package struct NamedValue: Sendable, Equatable {
  package let name: String
  package var value: DeviceValue

  package init(_ name: String, _ value: DeviceValue) { (self.name, self.value) = (name, value) }
}

extension [NamedValue] { package subscript(name: String) -> DeviceValue? { first { $0.name == name }?.value } }
