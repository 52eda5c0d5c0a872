import Bluetooth
import Text

/// Values as gatttool reads them from words: generous, because scripts depend on it.
enum GatttoolValue {
  /// Two digits an octet. What is no digit is zero from there on, and a single digit at the end is left out.
  static func octets(_ text: String) -> [UInt8] {
    let all = Array(text.utf8)
    return stride(from: 0, to: all.count - 1, by: 2).map { index in
      UInt8(truncatingIfNeeded: CNumber(String(decoding: all[index...index + 1], as: UTF8.self), base: 16).value ?? 0)
    }
  }

  /// 4 digits, 8, or the whole of 36 characters; the shorter ones also with `0x`.
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

  /// In hex, with `0x` or without; nothing at all is 0. - Returns: nil for what is no handle; of larger ones the lower 16 bits count.
  static func handle(_ text: String) -> Int? {
    if text.isEmpty { return 0 }
    let number = CNumber(text, base: 16)
    guard number.isWhole, let value = number.value else { return nil }
    let handle = Int(Int32(truncatingIfNeeded: value))
    return handle < 0 ? nil : handle
  }
}
