// SPDX-License-Identifier: Apache-2.0
/// A value of a characteristic or descriptor.
public struct AttributeValue: Sendable, Hashable {
  /// The value as the device sent it, at most 512 bytes (Vol 3 Part F §3.2.9).
  public let bytes: [UInt8]
  /// The time of arrival since 1970-01-01T00:00:00Z. In virtual time, the clock starts at 2026-01-01T00:00:00Z.
  public let time: Duration
  /// Whether the device sent the value as an indication.
  public let isIndication: Bool
  /// The meaning of the bytes, such as `72 bpm, contact`, by their assigned type or presentation format (2904). If the bytes do not fit the
  /// type, the text says so. For another type, it is the same as ``text``.
  public let decoded: String?

  init(_ bytes: [UInt8], at wallClock: Int64, isIndication: Bool = false, _ uuid: UUID?, _ description: ValueDescription?) {
    (self.bytes, self.isIndication) = (bytes, isIndication)
    time = .nanoseconds(wallClock)
    decoded = DecodedText.text(bytes, of: uuid, formats: description?.formats ?? []) ?? (uuid == nil ? nil : DecodedText.plain(bytes))
  }

  /// The value as text without NULs at its end. Nil if the bytes are not printable UTF-8, so it is safe to show.
  public var text: String? { DecodedText.plain(bytes) }
}
