import Bluetooth
import Text

/// Parses values like gatttool, which accepts almost any text, because scripts depend on that.
enum GatttoolValue {
  /// Parses two hex digits per byte. Ignores the rest of a pair after an invalid digit, and a single last digit.
  static func octets(_ text: String) -> [UInt8] {
    let all = Array(text.utf8)
    return stride(from: 0, to: all.count - 1, by: 2).map { index in
      UInt8(truncatingIfNeeded: CNumber(String(decoding: all[index...index + 1], as: UTF8.self), base: 16).value ?? 0)
    }
  }

  /// Parses a UUID of 4 or 8 hex digits, optionally after `0x`, or of 36 characters.
  static func uuid(_ text: String) -> UUID? {
    switch text.utf8.count {
    case 4, 6: number(text).map { UUID(UInt32($0 & 0xFFFF)) }
    case 8, 10: number(text).map { UUID(UInt32($0 & 0xFFFF_FFFF)) }
    case 36: UUID(text)
    default: nil
    }
  }

  private static func number(_ text: String) -> Int? {
    let number = CNumber(text, base: 16)
    return number.isWhole ? number.value : nil
  }

  /// Parses a hex handle, with or without `0x`. Empty text is 0. Invalid or negative is nil. Only the lower 16 bits of the result count.
  static func handle(_ text: String) -> Int? {
    if text.isEmpty { return 0 }
    let number = CNumber(text, base: 16)
    guard number.isWhole, let value = number.value else { return nil }
    let handle = Int(Int32(truncatingIfNeeded: value))
    return handle < 0 ? nil : handle
  }
}
