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
