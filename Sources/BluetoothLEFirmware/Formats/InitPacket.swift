// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEText

/// The contents of an init packet of Nordic Secure DFU, which describes its firmware (nRF5 SDK 17, `dfu-cc.proto`).
package struct InitPacket: Hashable, Sendable {
  package enum FirmwareType: Hashable, Sendable {
    case application, softdevice, bootloader, softdeviceBootloader, externalApplication
    case unknown(UInt32)

    init(_ value: UInt32) {
      let known: [Self] = [.application, .softdevice, .bootloader, .softdeviceBootloader, .externalApplication]
      self = value < 5 ? known[Int(value)] : .unknown(value)
    }
  }

  package enum SignatureType: Hashable, Sendable {
    case ecdsaP256, ed25519
    case unknown(UInt32)

    init(_ value: UInt32) { self = value == 0 ? .ecdsaP256 : value == 1 ? .ed25519 : .unknown(value) }
  }

  package enum Failure: Error, Hashable, Sendable {
    /// The bytes are no Protocol Buffers message of this kind.
    case malformed(at: Int)
    /// The packet has no init command.
    case noInitCommand
    /// The init command lacks a field that the bootloader needs.
    case missingField(String)
    /// The init command has another hash than SHA-256.
    case hashType(UInt32)
  }

  package let type: FirmwareType
  /// A number, not three: nrfutil makes 10203 from `1.2.3`.
  package let firmwareVersion, hardwareVersion: UInt32?
  /// The identifiers of the SoftDevices that the firmware can run with, such as 0x0123.
  package let softdevices: [UInt32]
  /// The lengths of the parts, in bytes.
  package let softdeviceSize, bootloaderSize, applicationSize: UInt32?
  /// The SHA-256 of the binary, in the usual order. The packet has the last byte first.
  package let hash: [UInt8]
  package let isDebug: Bool
  /// The type of each validation at a start of the device: 0 none, 1 CRC, 2 SHA-256, 3 signature.
  package let bootValidations: [UInt32]
  /// The type of the signature. Nil for an unsigned packet, which most bootloaders refuse.
  package let signature: SignatureType?

  package init(_ bytes: [UInt8]) throws(Failure) {
    let packet = try ProtocolBuffer(bytes[...])
    var (signature, command): (SignatureType?, ArraySlice<UInt8>?) = (nil, try packet.bytes(1))
    if let signed = try packet.bytes(2) {
      guard command == nil else { throw .malformed(at: signed.startIndex) }
      let signed = try ProtocolBuffer(signed)
      command = try signed.bytes(1)
      signature = SignatureType(try signed.number(2) ?? 0)
      guard try signed.bytes(3)?.isEmpty == false else { throw .missingField("signature") }
    }
    guard let command, let initCommand = try ProtocolBuffer(command).bytes(2) else { throw .noInitCommand }
    let fields = try ProtocolBuffer(initCommand)
    self.signature = signature
    guard let type = try fields.number(4) else { throw .missingField("type") }
    self.type = FirmwareType(type)
    (firmwareVersion, hardwareVersion, softdevices) = (try fields.number(1), try fields.number(2), try fields.numbers(3))
    (softdeviceSize, bootloaderSize, applicationSize) = (try fields.number(5), try fields.number(6), try fields.number(7))
    guard let hash = try fields.bytes(8).map({ bytes throws(Failure) in try ProtocolBuffer(bytes) }),
      let value = try hash.bytes(2)
    else { throw .missingField("hash") }
    let hashType = try hash.number(1) ?? 0
    guard hashType == 3, value.count == 32 else { throw .hashType(hashType) }
    self.hash = value.reversed()
    isDebug = try fields.number(9) == 1
    var validations: [UInt32] = []
    for validation in try fields.all(10) { validations.append(try ProtocolBuffer(validation).number(1) ?? 0) }
    bootValidations = validations
  }

  /// The number of bytes that the binary must have: one size, or the sum of two. Nil if the packet lacks it.
  package var size: Int? {
    switch type {
    case .application, .externalApplication: applicationSize.map { Int($0) }
    case .softdevice: softdeviceSize.map { Int($0) }
    case .bootloader: bootloaderSize.map { Int($0) }
    case .softdeviceBootloader: softdeviceSize.flatMap { softdevice in bootloaderSize.map { Int(softdevice) + Int($0) } }
    case .unknown: nil
    }
  }
}

/// The fields of a message in Protocol Buffers, in the order of the bytes. Unknown fields are kept. Groups are refused.
private struct ProtocolBuffer {
  typealias Failure = InitPacket.Failure

  private enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  private var fields: [(number: UInt64, value: Value)] = []
  private let start: Int

  /// Reads all fields. The offset of an error is that in the whole packet, because a slice keeps its indices.
  init(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    start = bytes.startIndex
    var rest = bytes
    while !rest.isEmpty {
      let at = rest.startIndex
      let tag = try Self.varint(&rest)
      let value: Value
      switch tag & 7 {
      case 0: value = .number(try Self.varint(&rest))
      case 1: value = .number(ByteOrder.little.number(try Self.take(8, &rest)))
      case 2: value = .bytes(try Self.take(try Self.varint(&rest), &rest))
      case 5: value = .number(ByteOrder.little.number(try Self.take(4, &rest)))
      default: throw .malformed(at: at)
      }
      guard tag >> 3 > 0 else { throw .malformed(at: at) }
      fields.append((tag >> 3, value))
    }
  }

  private static func varint(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> UInt64 {
    var (value, shift, at): (UInt64, UInt64, Int) = (0, 0, rest.startIndex)
    while let byte = rest.popFirst() {
      // The tenth byte has the last bit.
      guard shift < 63 || byte <= 1 else { throw .malformed(at: at) }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw .malformed(at: at)
  }

  private static func take(_ count: UInt64, _ rest: inout ArraySlice<UInt8>) throws(Failure) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw .malformed(at: rest.startIndex) }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  func all(_ number: UInt64) throws(Failure) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    for field in fields where field.number == number {
      guard case .bytes(let bytes) = field.value else { throw .malformed(at: start) }
      found.append(bytes)
    }
    return found
  }

  /// Returns the bytes of a field that may occur once. Bootloaders would merge several, or take the last.
  func bytes(_ number: UInt64) throws(Failure) -> ArraySlice<UInt8>? {
    let found = try all(number)
    guard found.count < 2 else { throw .malformed(at: start) }
    return found.first
  }

  func number(_ number: UInt64) throws(Failure) -> UInt32? {
    let found = fields.filter { $0.number == number }
    guard found.count < 2 else { throw .malformed(at: start) }
    return try found.first.map { field throws(Failure) in try uint32(field.value) }
  }

  /// Returns the numbers of a repeated field, packed or not.
  func numbers(_ number: UInt64) throws(Failure) -> [UInt32] {
    var found: [UInt32] = []
    for field in fields where field.number == number {
      guard case .bytes(var packed) = field.value else {
        found.append(try uint32(field.value))
        continue
      }
      while !packed.isEmpty { found.append(try uint32(.number(try Self.varint(&packed)))) }
    }
    return found
  }

  private func uint32(_ value: Value) throws(Failure) -> UInt32 {
    guard case .number(let number) = value, let number = UInt32(exactly: number) else { throw .malformed(at: start) }
    return number
  }
}
