// SPDX-License-Identifier: Apache-2.0
/// A request or response on the LE signaling channel (Vol 3 Part A §4).
package enum SignallingPDU: Sendable, Equatable {
  /// A Command Reject (Vol 3 Part A §4.1), with the reason and its data.
  case commandReject(identifier: UInt8, reason: UInt16, data: [UInt8] = [])
  /// A Connection Parameter Update Request (Vol 3 Part A §4.20) from a peripheral. The values in it may be out of range.
  case connectionParameterUpdateRequest(identifier: UInt8, ConnectionParameters)
  /// A Connection Parameter Update Response (Vol 3 Part A §4.21) from a central.
  case connectionParameterUpdateResponse(identifier: UInt8, isAccepted: Bool)
  /// A command with any other code, or with the wrong length for its code.
  case other(code: UInt8, identifier: UInt8, data: [UInt8])

  private enum Code {
    static let commandReject: UInt8 = 0x01
    static let connectionParameterUpdateRequest: UInt8 = 0x12
    static let connectionParameterUpdateResponse: UInt8 = 0x13
  }

  /// The reason code for Command Not Understood in a Command Reject.
  package static let notUnderstood: UInt16 = 0x0000

  /// Parses one command of the LE signaling channel.
  /// - Parameter payload: the payload of one L2CAP frame, which contains exactly one command on LE.
  /// - Throws: `MalformedPacket` if the header is incomplete, or if its length differs from the length of the data.
  package init(_ payload: [UInt8]) throws(MalformedPacket) {
    var reader = ByteReader(payload)
    let code = try reader.uint8("signalling: code")
    let identifier = try reader.uint8("signalling: identifier")
    let length = Int(try reader.uint16("signalling: length"))
    let data = try reader.bytes(length, "signalling: data")
    try reader.finish("signalling")
    self = Self.known(code, identifier, data) ?? .other(code: code, identifier: identifier, data: data)
  }

  private static func known(_ code: UInt8, _ identifier: UInt8, _ data: [UInt8]) -> Self? {
    var reader = ByteReader(data)
    switch (code, data.count) {
    case (Code.commandReject, 2...):
      guard let reason = try? reader.uint16("reason") else { return nil }
      return .commandReject(identifier: identifier, reason: reason, data: reader.rest())
    case (Code.connectionParameterUpdateRequest, 8):
      guard let intervalMin = try? reader.uint16("minimum interval"), let intervalMax = try? reader.uint16("maximum interval"),
        let latency = try? reader.uint16("latency"), let timeout = try? reader.uint16("timeout")
      else { return nil }
      return .connectionParameterUpdateRequest(
        identifier: identifier,
        ConnectionParameters(
          intervalMin: .init(rawValue: intervalMin), intervalMax: .init(rawValue: intervalMax), latency: latency,
          supervisionTimeout: .init(rawValue: timeout)))
    case (Code.connectionParameterUpdateResponse, 2):
      guard let result = try? reader.uint16("result") else { return nil }
      return .connectionParameterUpdateResponse(identifier: identifier, isAccepted: result == 0)
    default: return nil
    }
  }

  package var identifier: UInt8 {
    switch self {
    case .commandReject(let identifier, _, _), .connectionParameterUpdateRequest(let identifier, _),
      .connectionParameterUpdateResponse(let identifier, _), .other(_, let identifier, _):
      identifier
    }
  }

  package var code: UInt8 {
    switch self {
    case .commandReject: Code.commandReject
    case .connectionParameterUpdateRequest: Code.connectionParameterUpdateRequest
    case .connectionParameterUpdateResponse: Code.connectionParameterUpdateResponse
    case .other(let code, _, _): code
    }
  }

  /// Whether the sender waits for a response. False for responses and for Flow Control Credit (0x16).
  package var wantsResponse: Bool { ![0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x15, 0x16, 0x18, 0x1A].contains(code) }

  package var encoded: [UInt8] {
    var data = ByteWriter()
    switch self {
    case .commandReject(_, let reason, let rest):
      data.uint16(reason)
      data.append(rest)
    case .connectionParameterUpdateRequest(_, let wanted):
      for value in [wanted.intervalMin.rawValue, wanted.intervalMax.rawValue, wanted.latency, wanted.supervisionTimeout.rawValue] {
        data.uint16(value)
      }
    case .connectionParameterUpdateResponse(_, let isAccepted): data.uint16(isAccepted ? 0 : 1)
    case .other(_, _, let bytes): data.append(bytes)
    }
    let bytes = data.bytes.prefix(0xFFFF)
    var writer = ByteWriter(capacity: bytes.count + 4)
    writer.uint8(code)
    writer.uint8(identifier)
    writer.uint16(UInt16(bytes.count))
    writer.append(bytes)
    return writer.bytes
  }
}
