package import Bluetooth

/// Any ATT PDU (Vol 3 Part F §3.4). The directions are enums of their own, so that a switch over one is a complete dispatcher.
package enum PDU: Equatable, Sendable {
  case request(Request)
  case response(Response)
  case command(Command)
  case unsolicited(Unsolicited)
  case confirmation
  /// An opcode that the specification does not assign; `Opcode.isUnknownCommand` says how to treat it.
  case unknown(Opcode)

  /// A whole PDU, opcode first. - Throws: for no octets, wrong lengths and trailing octets.
  package init(parsing bytes: [UInt8]) throws(MalformedPacket) {
    guard let first = bytes.first else { throw MalformedPacket("ATT PDU: no opcode", at: 0) }
    let opcode = Opcode(rawValue: first)
    switch opcode {
    case .request: self = .request(try Request(parsing: bytes))
    case .response, .error: self = .response(try Response(parsing: bytes))
    case .command: self = .command(try Command(parsing: bytes))
    case .unsolicited: self = .unsolicited(try Unsolicited(parsing: bytes))
    case .confirmation:
      guard bytes.count == 1 else { throw MalformedPacket("\(opcode): \(bytes.count - 1) trailing byte(s)", at: 1) }
      self = .confirmation
    case .unknown: self = .unknown(opcode)
    }
  }

  /// As on the air; empty for `.unknown`, whose parameters are not kept.
  package var bytes: [UInt8] {
    switch self {
    case .request(let pdu): pdu.bytes
    case .response(let pdu): pdu.bytes
    case .command(let pdu): pdu.bytes
    case .unsolicited(let pdu): pdu.bytes
    case .confirmation: [Opcode.confirmation.rawValue]
    case .unknown: []
    }
  }
}

/// Client to server; each is answered by the response of the same name or by an Error Response.
package enum Request: Equatable, Sendable {
  /// §3.4.2.1. Octets that the client can receive; below 23 is the receiver's to judge.
  case exchangeMTU(clientRxMTU: UInt16)
  /// §3.4.3.1
  case findInformation(HandleRange)
  /// §3.4.3.3. `type` is always a 16-bit UUID.
  case findByTypeValue(HandleRange, type: UInt16, value: [UInt8])
  /// §3.4.4.1
  case readByType(HandleRange, type: UUID)
  /// §3.4.4.3
  case read(AttributeHandle)
  /// §3.4.4.5
  case readBlob(AttributeHandle, offset: UInt16)
  /// §3.4.4.7. Two handles or more.
  case readMultiple([AttributeHandle])
  /// §3.4.4.9
  case readByGroupType(HandleRange, type: UUID)
  /// §3.4.4.11. Two handles or more.
  case readMultipleVariable([AttributeHandle])
  /// §3.4.5.1
  case write(AttributeHandle, value: [UInt8])
  /// §3.4.6.1
  case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
  /// §3.4.6.3. 0x00 cancels all prepared writes, 0x01 writes them; others are the server's to refuse.
  case executeWrite(flags: UInt8)
}

/// Server to client, the answer to the one outstanding request.
package enum Response: Equatable, Sendable {
  /// §3.4.1.1. `handle` is the attribute that caused it, 0x0000 when none.
  case error(request: Opcode, handle: AttributeHandle, code: ErrorCode)
  /// §3.4.2.2. Octets that the server can receive; below 23 is the receiver's to judge.
  case exchangeMTU(serverRxMTU: UInt16)
  /// §3.4.3.2. Never empty; all types in their 16-bit form or all in their 128-bit form.
  case findInformation([HandleType])
  /// §3.4.3.4. Found attributes and the last handles of their groups; never empty.
  case findByTypeValue([HandleRange])
  /// §3.4.4.2. Never empty; values of one length, at most 253 octets.
  case readByType([HandleValue])
  /// §3.4.4.4. The first ATT_MTU − 1 octets of the value.
  case read([UInt8])
  /// §3.4.4.6. At most ATT_MTU − 1 octets of the value from the offset; empty when the offset is the value's length.
  case readBlob([UInt8])
  /// §3.4.4.8. The values one after the other, boundaries not marked, cut at ATT_MTU − 1.
  case readMultiple([UInt8])
  /// §3.4.4.10. Never empty; values of one length, at most 251 octets.
  case readByGroupType([HandleGroup])
  /// §3.4.4.12. `truncated` is the length that the cut last value has in full.
  case readMultipleVariable([[UInt8]], truncated: UInt16?)
  /// §3.4.5.2
  case write
  /// §3.4.6.2. An echo of the request.
  case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
  /// §3.4.6.4
  case executeWrite
}

/// Client to server, not answered.
package enum Command: Equatable, Sendable {
  /// §3.4.5.3
  case write(AttributeHandle, value: [UInt8])
  /// §3.4.5.4. `signature` has 12 octets: sign counter, then the MAC.
  case signedWrite(AttributeHandle, value: [UInt8], signature: [UInt8])
}

/// Server to client, not asked for.
package enum Unsolicited: Equatable, Sendable {
  /// §3.4.7.1
  case notification(HandleValue)
  /// §3.4.7.2. The client shall confirm it.
  case indication(HandleValue)
  /// §3.4.7.4. `isTruncated`: the PDU ended inside the last tuple, which is left out.
  case multipleNotification([HandleValue], isTruncated: Bool)
}
