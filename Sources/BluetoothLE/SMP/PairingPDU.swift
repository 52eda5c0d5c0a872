// SPDX-License-Identifier: Apache-2.0
/// A PDU of the Security Manager Protocol (Vol 3 Part H §3.3).
package enum PairingPDU: Equatable, Sendable {
  /// A Pairing Request (§3.5.1), which the central sends.
  case pairingRequest(PairingFeatures)
  /// A Pairing Response (§3.5.2), which the peripheral sends.
  case pairingResponse(PairingFeatures)
  /// A Pairing Confirm (§3.5.3), which commits its sender to a random number.
  case confirm(UInt128)
  /// A Pairing Random (§3.5.4).
  case random(UInt128)
  /// A Pairing Failed (§3.5.5), which ends the pairing.
  case failed(PairingFailedReason)
  /// An Encryption Information (§3.6.2) with the long term key of LE legacy pairing.
  case encryptionInformation(UInt128)
  /// A Central Identification (§3.6.3) with the identifiers of the long term key.
  case centralIdentification(ediv: UInt16, rand: UInt64)
  /// An Identity Information (§3.6.4) with the identity resolving key.
  case identityInformation(UInt128)
  /// An Identity Address Information (§3.6.5) with a public or static random address.
  case identityAddress(PeerAddress)
  /// A Signing Information (§3.6.6) with the key for signed writes.
  case signingInformation(UInt128)
  /// A Security Request (§3.6.7), with which the peripheral asks the central for encryption or pairing.
  case securityRequest(AuthenticationRequirements)
  /// A Pairing Public Key (§3.5.6). The parser does not check that the point is on the curve.
  case publicKey(P256PublicKey)
  /// A Pairing DHKey Check (§3.5.7).
  case dhKeyCheck(UInt128)
  /// A Keypress Notification (§3.5.8) with its type, 0–4.
  case keypress(UInt8)
  /// A PDU with a reserved code, which a receiver ignores (§3.3).
  case reserved(UInt8)

  static let requestCode: UInt8 = 0x01
  static let responseCode: UInt8 = 0x02

  /// Parses a whole PDU, starting with the code.
  /// - Throws: `MalformedPacket` for a wrong length or an invalid value, which the receiver answers with Invalid Parameters.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(bytes)
    let code = try reader.uint8("SMP code")
    switch code {
    case Self.requestCode: self = .pairingRequest(try reader.features())
    case Self.responseCode: self = .pairingResponse(try reader.features())
    case 0x03: self = .confirm(try reader.uint128("Confirm Value"))
    case 0x04: self = .random(try reader.uint128("Random Value"))
    case 0x05: self = .failed(PairingFailedReason(rawValue: try reader.uint8("Reason")))
    case 0x06: self = .encryptionInformation(try reader.uint128("Long Term Key"))
    case 0x07: self = .centralIdentification(ediv: try reader.uint16("EDIV"), rand: try reader.uint64("Rand"))
    case 0x08: self = .identityInformation(try reader.uint128("Identity Resolving Key"))
    case 0x09: self = .identityAddress(try reader.identityAddress())
    case 0x0A: self = .signingInformation(try reader.uint128("Signature Key"))
    case 0x0B: self = .securityRequest(AuthenticationRequirements(rawValue: try reader.uint8("AuthReq")))
    case 0x0C: self = .publicKey(try reader.publicKey())
    case 0x0D: self = .dhKeyCheck(try reader.uint128("DHKey Check"))
    case 0x0E: self = .keypress(try reader.value("Notification Type", atMost: 4))
    default:
      self = .reserved(code)
      return
    }
    try reader.finish("SMP PDU")
  }

  /// The code of the PDU.
  package var code: UInt8 {
    switch self {
    case .pairingRequest: Self.requestCode
    case .pairingResponse: Self.responseCode
    case .confirm: 0x03
    case .random: 0x04
    case .failed: 0x05
    case .encryptionInformation: 0x06
    case .centralIdentification: 0x07
    case .identityInformation: 0x08
    case .identityAddress: 0x09
    case .signingInformation: 0x0A
    case .securityRequest: 0x0B
    case .publicKey: 0x0C
    case .dhKeyCheck: 0x0D
    case .keypress: 0x0E
    case .reserved(let code): code
    }
  }

  /// The encoded PDU, starting with the code. A reserved PDU is only its code.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 65)
    writer.uint8(code)
    switch self {
    case .pairingRequest(let features), .pairingResponse(let features): writer.append(features.bytes)
    case .confirm(let value), .random(let value), .encryptionInformation(let value), .identityInformation(let value),
      .signingInformation(let value), .dhKeyCheck(let value):
      writer.append(value.bytes.reversed())
    case .failed(let reason): writer.uint8(reason.rawValue)
    case .centralIdentification(let ediv, let rand):
      writer.uint16(ediv)
      writer.uint64(rand)
    case .identityAddress(let address):
      writer.uint8(address.typeBit)
      writer.address(address.address)
    case .securityRequest(let requirements): writer.uint8(requirements.rawValue)
    case .publicKey(let key):
      writer.append(key.x.reversed())
      writer.append(key.y.reversed())
    case .keypress(let type): writer.uint8(type)
    case .reserved: break
    }
    return writer.bytes
  }
}

extension ByteReader {
  fileprivate mutating func value(_ what: StaticString, atMost limit: UInt8) throws(MalformedPacket) -> UInt8 {
    let value = try uint8(what)
    guard value <= limit else { throw MalformedPacket("\(what): \(value) is above \(limit)", at: offset - 1) }
    return value
  }

  fileprivate mutating func features() throws(MalformedPacket) -> PairingFeatures {
    let ioCapability = try uint8("IO Capability")
    guard let ioCapability = IOCapability(rawValue: ioCapability) else {
      throw MalformedPacket("IO Capability: \(ioCapability) is reserved", at: offset - 1)
    }
    let hasOOBData = try value("OOB data flag", atMost: 1) == 1
    let authentication = AuthenticationRequirements(rawValue: try uint8("AuthReq"))
    let maximumKeySize = try value("Maximum Encryption Key Size", atMost: 16)
    guard maximumKeySize >= 7 else { throw MalformedPacket("Maximum Encryption Key Size: \(maximumKeySize) is below 7", at: offset - 1) }
    return PairingFeatures(
      ioCapability: ioCapability, hasOOBData: hasOOBData, authentication: authentication, maximumKeySize: maximumKeySize,
      initiatorKeys: KeyDistribution(rawValue: try uint8("Initiator Key Distribution")),
      responderKeys: KeyDistribution(rawValue: try uint8("Responder Key Distribution")))
  }

  fileprivate mutating func identityAddress() throws(MalformedPacket) -> PeerAddress {
    let type = try value("AddrType", atMost: 1)
    let address = PeerAddress(try address("BD_ADDR"), type == 1 ? .random : .public)
    guard address.type == .public || address.randomKind == .static else {
      throw MalformedPacket("BD_ADDR: \(address.address) is not a static random address", at: 2)
    }
    return address
  }

  fileprivate mutating func publicKey() throws(MalformedPacket) -> P256PublicKey {
    let x = try bytes(32, "Public Key X"), y = try bytes(32, "Public Key Y")
    guard let key = P256PublicKey(x: x.reversed(), y: y.reversed()) else { throw MalformedPacket("Public Key: wrong length", at: offset) }
    return key
  }
}
