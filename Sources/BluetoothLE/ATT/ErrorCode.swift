// SPDX-License-Identifier: Apache-2.0
/// An error code of an Error Response (Vol 3 Part F §3.4.1.1). Common profile and service error codes are in CSS Part B §1.
package struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let invalidHandle = Self(rawValue: 0x01)
  package static let readNotPermitted = Self(rawValue: 0x02)
  package static let writeNotPermitted = Self(rawValue: 0x03)
  package static let invalidPDU = Self(rawValue: 0x04)
  package static let insufficientAuthentication = Self(rawValue: 0x05)
  package static let requestNotSupported = Self(rawValue: 0x06)
  package static let invalidOffset = Self(rawValue: 0x07)
  package static let insufficientAuthorization = Self(rawValue: 0x08)
  package static let prepareQueueFull = Self(rawValue: 0x09)
  package static let attributeNotFound = Self(rawValue: 0x0A)
  package static let attributeNotLong = Self(rawValue: 0x0B)
  package static let encryptionKeySizeTooShort = Self(rawValue: 0x0C)
  package static let invalidAttributeValueLength = Self(rawValue: 0x0D)
  package static let unlikelyError = Self(rawValue: 0x0E)
  package static let insufficientEncryption = Self(rawValue: 0x0F)
  package static let unsupportedGroupType = Self(rawValue: 0x10)
  package static let databaseOutOfSync = Self(rawValue: 0x12)
  package static let valueNotAllowed = Self(rawValue: 0x13)

  /// Whether the request may succeed on a link with more security, or with a permission of the device.
  package var isOfSecurity: Bool {
    [.insufficientAuthentication, .insufficientAuthorization, .encryptionKeySizeTooShort, .insufficientEncryption].contains(self)
  }

  /// The specification's name and the number, such as `Write Not Permitted (0x03)`.
  package var description: String { "\(name) (0x\(Hex.encode(rawValue)))" }

  package var name: String {
    switch rawValue {
    case 0x80...0x9F: "Application Error"
    case 0xE0...0xFF: Self.names[rawValue] ?? "Common Profile or Service Error"
    default: Self.names[rawValue] ?? "Reserved Error Code"
    }
  }

  /// The specification's name in snake case for JSON, such as `write_not_permitted`.
  package var snakeName: String { AssignedNumbers.snake(name) }
}
