import Bluetooth
import Text

/// Values for people and for the `text` field.
enum ValueText {
  /// The value as text when all of it is printable UTF-8.
  static func text(_ value: [UInt8]) -> String? {
    guard !value.isEmpty, let text = String(validating: value, as: UTF8.self),
      DisplayText.escape(value) == text.replacing("\\", with: "\\\\")
    else { return nil }
    return text
  }

  static func forEyes(_ value: [UInt8]) -> String {
    if value.isEmpty { return "(empty)" }
    return Hex.encode(value) + (text(value).map { "  \"\(DisplayText.escape($0))\"" } ?? "")
  }
}

enum HandleText {
  /// Four digits with 0x, as every tool prints handles.
  static func hex(_ handle: UInt16) -> String { "0x" + Hex.encode([UInt8(handle >> 8), UInt8(truncatingIfNeeded: handle)]) }
}
