// SPDX-License-Identifier: Apache-2.0
/// An HCI event from controller to host (Vol 4 Part E §7.7). The host decodes events, and the virtual controller encodes them.
package enum Event: Sendable, Equatable {
  case disconnectionComplete(status: ControllerErrorCode, handle: ConnectionHandle, reason: ControllerErrorCode)
  /// The Encryption Change event, v1 or v2. The key size is in bytes, nil in v1.
  case encryptionChange(status: ControllerErrorCode, handle: ConnectionHandle, isEnabled: Bool, keySize: UInt8? = nil)
  case encryptionKeyRefreshComplete(status: ControllerErrorCode, handle: ConnectionHandle)
  case readRemoteVersionComplete(status: ControllerErrorCode, handle: ConnectionHandle, version: UInt8, company: UInt16, subversion: UInt16)
  case commandComplete(CommandComplete)
  case commandStatus(CommandStatus)
  case hardwareError(UInt8)
  case numberOfCompletedPackets(CompletedPackets.List)
  case leConnectionComplete(ConnectionComplete)
  case leAdvertisingReports(AdvertisingReports<LegacyAdvertisingReport>)
  case leExtendedAdvertisingReports(AdvertisingReports<ExtendedAdvertisingReport>)
  case leDirectedAdvertisingReports(AdvertisingReports<DirectedAdvertisingReport>)
  case leConnectionUpdateComplete(
    status: ControllerErrorCode, handle: ConnectionHandle, interval: ConnectionInterval, latency: UInt16, supervisionTimeout: Centiseconds)
  case leReadRemoteFeaturesComplete(status: ControllerErrorCode, handle: ConnectionHandle, features: LEFeatures)
  /// The LE Long Term Key Request event. `random` and `ediv` name the key from LE legacy pairing, otherwise they are 0.
  case leLongTermKeyRequest(handle: ConnectionHandle, random: UInt64, ediv: UInt16)
  case leRemoteConnectionParameterRequest(
    handle: ConnectionHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16,
    supervisionTimeout: Centiseconds)
  /// The LE Data Length Change event. Bytes are payload bytes, and times are in µs.
  case leDataLengthChange(handle: ConnectionHandle, maxTxOctets: UInt16, maxTxTime: UInt16, maxRxOctets: UInt16, maxRxTime: UInt16)
  /// The LE Advertising Set Terminated event. `handle` is the link that the set led to, if the status is Success.
  /// `events` is the number of advertising events, if their maximum ended the set, otherwise 0.
  case leAdvertisingSetTerminated(status: ControllerErrorCode, advertisingHandle: UInt8, handle: ConnectionHandle, events: UInt8)
  case lePHYUpdateComplete(status: ControllerErrorCode, handle: ConnectionHandle, tx: UInt8, rx: UInt8)
  /// An LE Meta event that has no other case, with its parameters. The subevent is nil if the event is empty.
  case leOther(subevent: UInt8?, [UInt8])
  /// An event that has no other case, with its code and parameters.
  case other(code: UInt8, [UInt8])

  /// The Command Complete event (Vol 4 Part E §7.7.14).
  package struct CommandComplete: Sendable, Equatable {
    /// The number of commands that the controller now accepts (Num_HCI_Command_Packets).
    package var credits: UInt8
    package var opcode: Opcode
    /// The return parameters in bytes, which usually start with the status.
    package var parameters: [UInt8]

    package init(credits: UInt8 = 1, opcode: Opcode, parameters: [UInt8]) {
      (self.credits, self.opcode, self.parameters) = (credits, opcode, parameters)
    }

    /// Creates the Command Complete event of a successful command.
    package init<C: Command>(_: C.Type, credits: UInt8 = 1, _ returned: C.Return) {
      var writer = ByteWriter(capacity: 66)
      writer.uint8(ControllerErrorCode.success.rawValue)
      returned.encode(into: &writer)
      self.init(credits: credits, opcode: C.opcode, parameters: writer.bytes)
    }
  }

  /// The Command Status event (Vol 4 Part E §7.7.15).
  package struct CommandStatus: Sendable, Equatable {
    package var status: ControllerErrorCode
    package var credits: UInt8
    package var opcode: Opcode

    package init(status: ControllerErrorCode, credits: UInt8 = 1, opcode: Opcode) {
      (self.status, self.credits, self.opcode) = (status, credits, opcode)
    }
  }

  /// The event LE Connection Complete (Vol 4 Part E §7.7.65.1) or LE Enhanced Connection Complete v1 or v2 (Vol 4 Part E §7.7.65.10).
  package struct ConnectionComplete: Sendable, Equatable {
    package enum Form: UInt8, Sendable {
      case plain = 0x01
      case enhanced = 0x0A
      case enhancedV2 = 0x29
    }

    package var form: Form
    package var status: ControllerErrorCode
    package var handle: ConnectionHandle
    /// The role of the local device. 0 is central, 1 is peripheral.
    package var role: UInt8
    package var peer: PeerAddress
    package var interval: ConnectionInterval
    package var latency: UInt16
    package var supervisionTimeout: Centiseconds
    package var clockAccuracy: UInt8
    /// The resolvable private address of the local device, in enhanced forms only. Zero if the device uses none.
    package var localResolvableAddress = Address(rawValue: 0)
    /// The resolvable private address of the peer, in enhanced forms only. Zero if the peer uses none.
    package var peerResolvableAddress = Address(rawValue: 0)
    /// The advertising handle, in the form `enhancedV2` only.
    package var advertisingHandle: UInt8 = 0xFF
    /// The sync handle of periodic advertising, in the form `enhancedV2` only.
    package var syncHandle: UInt16 = 0xFFFF

    package init(
      form: Form = .plain, status: ControllerErrorCode, handle: ConnectionHandle, role: UInt8 = 0, peer: PeerAddress,
      interval: ConnectionInterval, latency: UInt16, supervisionTimeout: Centiseconds, clockAccuracy: UInt8 = 0
    ) {
      self.form = form
      self.status = status
      self.handle = handle
      self.role = role
      self.peer = peer
      self.interval = interval
      self.latency = latency
      self.supervisionTimeout = supervisionTimeout
      self.clockAccuracy = clockAccuracy
    }
  }

  /// Parses an HCI Event packet.
  /// - Parameter reader: The reader, after the H4 indicator. Its bytes must end with the packet.
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    let code = try reader.uint8("HCI event: code")
    let length = Int(try reader.uint8("HCI event: length"))
    var parameters = ByteReader(try reader.slice(length, "HCI event: parameters"))
    try reader.finish("HCI event")
    try self.init(code: code, parsing: &parameters)
  }

  private init(code: UInt8, parsing reader: inout ByteReader) throws(MalformedPacket) {
    switch code {
    case 0x05:
      self = .disconnectionComplete(
        status: try reader.status(), handle: try reader.handle(), reason: ControllerErrorCode(rawValue: try reader.uint8("reason")))
    case 0x08, 0x59:
      self = .encryptionChange(
        status: try reader.status(), handle: try reader.handle(), isEnabled: try reader.uint8("encryption") != 0,
        keySize: code == 0x59 ? try reader.uint8("key size") : nil)
    case 0x30: self = .encryptionKeyRefreshComplete(status: try reader.status(), handle: try reader.handle())
    case 0x0C:
      self = .readRemoteVersionComplete(
        status: try reader.status(), handle: try reader.handle(), version: try reader.uint8("version"),
        company: try reader.uint16("company"),
        subversion: try reader.uint16("subversion"))
    case 0x0E:
      self = .commandComplete(
        CommandComplete(
          credits: try reader.uint8("Command Complete: credits"), opcode: Opcode(rawValue: try reader.uint16("Command Complete: opcode")),
          parameters: reader.rest()))
    case 0x0F:
      self = .commandStatus(
        CommandStatus(
          status: try reader.status(), credits: try reader.uint8("Command Status: credits"),
          opcode: Opcode(rawValue: try reader.uint16("Command Status: opcode"))))
    case 0x10: self = .hardwareError(try reader.uint8("hardware code"))
    case 0x13:
      let count = Int(try reader.uint8("Number Of Completed Packets: count"))
      self = .numberOfCompletedPackets(.init(bytes: try reader.slice(4 * count, "completed packets")))
    case 0x3E: try self.init(leMeta: &reader)
    default: self = .other(code: code, reader.rest())
    }
    try reader.finish("HCI event")
  }

  /// The event in H4 form, with at most the first 255 bytes of the parameters. Callers must split many reports into several events.
  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 64)
    let code = encode(into: &writer)
    let parameters = writer.bytes.prefix(255)
    return [Packet.eventIndicator, code, UInt8(parameters.count)] + parameters
  }

  /// Writes the parameters of the event. Returns the event code.
  private func encode(into writer: inout ByteWriter) -> UInt8 {
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      writer.put(status, handle, reason)
      return 0x05
    case .encryptionChange(let status, let handle, let isEnabled, let keySize):
      writer.put(status, handle, UInt8(isEnabled ? 1 : 0))
      guard let keySize else { return 0x08 }
      writer.uint8(keySize)
      return 0x59
    case .encryptionKeyRefreshComplete(let status, let handle):
      writer.put(status, handle)
      return 0x30
    case .readRemoteVersionComplete(let status, let handle, let version, let company, let subversion):
      writer.put(status, handle, version, company, subversion)
      return 0x0C
    case .commandComplete(let complete):
      writer.put(complete.credits, complete.opcode.rawValue)
      writer.append(complete.parameters)
      return 0x0E
    case .commandStatus(let status):
      writer.put(status.status, status.credits, status.opcode.rawValue)
      return 0x0F
    case .hardwareError(let code):
      writer.uint8(code)
      return 0x10
    case .numberOfCompletedPackets(let entries):
      writer.uint8(UInt8(clamping: entries.count))
      for entry in entries.prefix(255) {
        writer.handle(entry.handle)
        writer.uint16(entry.count)
      }
      return 0x13
    case .other(let code, let bytes):
      writer.append(bytes)
      return code
    case .leConnectionComplete(let complete):
      writer.uint8(complete.form.rawValue)
      complete.encode(into: &writer)
    case .leAdvertisingReports(let reports):
      writer.uint8(0x02)
      reports.encode(into: &writer)
    case .leConnectionUpdateComplete(let status, let handle, let interval, let latency, let supervisionTimeout):
      writer.put(0x03 as UInt8, status, handle, interval.rawValue, latency, supervisionTimeout.rawValue)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      writer.put(0x04 as UInt8, status, handle)
      writer.uint64(features.rawValue)
    case .leLongTermKeyRequest(let handle, let random, let ediv):
      writer.put(0x05 as UInt8, handle)
      writer.uint64(random)
      writer.uint16(ediv)
    case .leRemoteConnectionParameterRequest(let handle, let intervalMin, let intervalMax, let latency, let supervisionTimeout):
      writer.put(0x06 as UInt8, handle, intervalMin.rawValue, intervalMax.rawValue, latency, supervisionTimeout.rawValue)
    case .leDataLengthChange(let handle, let maxTxOctets, let maxTxTime, let maxRxOctets, let maxRxTime):
      writer.put(0x07 as UInt8, handle, maxTxOctets, maxTxTime, maxRxOctets, maxRxTime)
    case .leDirectedAdvertisingReports(let reports):
      writer.uint8(0x0B)
      reports.encode(into: &writer)
    case .lePHYUpdateComplete(let status, let handle, let tx, let rx): writer.put(0x0C as UInt8, status, handle, tx, rx)
    case .leExtendedAdvertisingReports(let reports):
      writer.uint8(0x0D)
      reports.encode(into: &writer)
    case .leAdvertisingSetTerminated(let status, let advertisingHandle, let handle, let events):
      writer.put(0x12 as UInt8, status, advertisingHandle, handle, events)
    case .leOther(let subevent, let bytes):
      if let subevent { writer.uint8(subevent) }
      writer.append(bytes)
    }
    // An LE Meta event starts with its subevent code.
    return 0x3E
  }
}

/// A field of a fixed size in the parameters of an event.
private protocol EventField { func encode(into writer: inout ByteWriter) }

extension UInt8: EventField { fileprivate func encode(into writer: inout ByteWriter) { writer.uint8(self) } }
extension UInt16: EventField { fileprivate func encode(into writer: inout ByteWriter) { writer.uint16(self) } }
extension ControllerErrorCode: EventField { fileprivate func encode(into writer: inout ByteWriter) { writer.uint8(rawValue) } }
extension ConnectionHandle: EventField { fileprivate func encode(into writer: inout ByteWriter) { writer.uint16(rawValue) } }

extension ByteWriter {
  fileprivate mutating func put<each Field: EventField>(_ field: repeat each Field) { repeat (each field).encode(into: &self) }
}

extension ByteReader {
  mutating func status() throws(MalformedPacket) -> ControllerErrorCode { ControllerErrorCode(rawValue: try uint8("status")) }

  mutating func time<Time: TimeCount>(_ what: StaticString) throws(MalformedPacket) -> Time { Time(rawValue: try uint16(what)) }

  /// Reads advertising data of a legacy PDU: one byte with their number, and 31 bytes.
  mutating func padded(_ what: StaticString) throws(MalformedPacket) -> [UInt8] {
    let position = offset
    let count = Int(try uint8(what))
    let bytes = try bytes(31, what)
    guard count <= 31 else { throw MalformedPacket("\(what): length \(count)", at: position) }
    return Array(bytes.prefix(count))
  }

  mutating func handle() throws(MalformedPacket) -> ConnectionHandle { ConnectionHandle(try uint16("connection handle")) }

  /// Reads an address type, one byte, and an address, six bytes.
  mutating func peerAddress() throws(MalformedPacket) -> PeerAddress {
    let position = offset
    let type = try uint8("peer address type")
    let address = try address("peer address")
    guard let peer = PeerAddress(hciType: type, address) else { throw MalformedPacket("invalid peer address type \(type)", at: position) }
    return peer
  }
}

extension ByteWriter {
  mutating func handle(_ handle: ConnectionHandle) { uint16(handle.rawValue) }

  mutating func peerAddress(_ peer: PeerAddress) {
    uint8(peer.type.hciValue)
    address(peer.address)
  }

  /// Writes the number of bytes as one byte, and the first 31 bytes, padded with zeros.
  mutating func padded(_ bytes: [UInt8]) {
    let bytes = bytes.prefix(31)
    uint8(UInt8(bytes.count))
    append(bytes)
    append(repeatElement(0, count: 31 - bytes.count))
  }

  /// Writes the number of bytes as one byte, and at most the first 255 bytes.
  mutating func counted(_ bytes: [UInt8]) {
    uint8(UInt8(clamping: bytes.count))
    append(bytes.prefix(255))
  }
}

extension Event {
  /// Parses an LE Meta event (Vol 4 Part E §7.7.65).
  /// - Parameter reader: The parameters of the event, which start with the subevent code.
  init(leMeta reader: inout ByteReader) throws(MalformedPacket) {
    guard !reader.isAtEnd else {
      self = .leOther(subevent: nil, [])
      return
    }
    let subevent = try reader.uint8("LE Meta: subevent")
    switch subevent {
    case 0x01, 0x0A, 0x29:
      self = .leConnectionComplete(try ConnectionComplete(ConnectionComplete.Form(rawValue: subevent) ?? .plain, parsing: &reader))
    case 0x02: self = .leAdvertisingReports(try AdvertisingReports(parsing: &reader))
    case 0x03:
      self = .leConnectionUpdateComplete(
        status: try reader.status(), handle: try reader.handle(), interval: try reader.time("interval"),
        latency: try reader.uint16("latency"), supervisionTimeout: try reader.time("supervision timeout"))
    case 0x04:
      self = .leReadRemoteFeaturesComplete(
        status: try reader.status(), handle: try reader.handle(), features: LEFeatures(rawValue: try reader.uint64("LE features")))
    case 0x05:
      self = .leLongTermKeyRequest(handle: try reader.handle(), random: try reader.uint64("random number"), ediv: try reader.uint16("EDIV"))
    case 0x06:
      self = .leRemoteConnectionParameterRequest(
        handle: try reader.handle(), intervalMin: try reader.time("minimum interval"), intervalMax: try reader.time("maximum interval"),
        latency: try reader.uint16("latency"), supervisionTimeout: try reader.time("supervision timeout"))
    case 0x07:
      self = .leDataLengthChange(
        handle: try reader.handle(), maxTxOctets: try reader.uint16("TX octets"), maxTxTime: try reader.uint16("TX time"),
        maxRxOctets: try reader.uint16("RX octets"), maxRxTime: try reader.uint16("RX time"))
    case 0x0B: self = .leDirectedAdvertisingReports(try AdvertisingReports(parsing: &reader))
    case 0x0C:
      self = .lePHYUpdateComplete(
        status: try reader.status(), handle: try reader.handle(), tx: try reader.uint8("TX PHY"), rx: try reader.uint8("RX PHY"))
    case 0x0D: self = .leExtendedAdvertisingReports(try AdvertisingReports(parsing: &reader))
    case 0x12:
      self = .leAdvertisingSetTerminated(
        status: try reader.status(), advertisingHandle: try reader.uint8("advertising handle"), handle: try reader.handle(),
        events: try reader.uint8("advertising events"))
    default: self = .leOther(subevent: subevent, reader.rest())
    }
  }
}

extension Event.ConnectionComplete {
  fileprivate init(_ form: Form, parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.form = form
    status = try reader.status()
    handle = try reader.handle()
    role = try reader.uint8("role")
    let position = reader.offset
    let type = try reader.uint8("peer address type")
    let address = try reader.address("peer address")
    if let known = PeerAddress(hciType: type, address) {
      peer = known
    } else if status != .success {
      // In failure events, these fields may have any content. Only the status counts.
      peer = PeerAddress(address, .random)
    } else {
      throw MalformedPacket("LE Connection Complete: invalid peer address type \(type)", at: position)
    }
    if form != .plain {
      localResolvableAddress = try reader.address("local resolvable address")
      peerResolvableAddress = try reader.address("peer resolvable address")
    }
    interval = try reader.time("interval")
    latency = try reader.uint16("latency")
    supervisionTimeout = try reader.time("supervision timeout")
    clockAccuracy = try reader.uint8("clock accuracy")
    if form == .enhancedV2 {
      advertisingHandle = try reader.uint8("advertising handle")
      syncHandle = try reader.uint16("sync handle")
    }
  }

  fileprivate func encode(into writer: inout ByteWriter) {
    writer.uint8(status.rawValue)
    writer.handle(handle)
    writer.uint8(role)
    writer.uint8(peer.type.hciValue)
    writer.address(peer.address)
    if form != .plain {
      writer.address(localResolvableAddress)
      writer.address(peerResolvableAddress)
    }
    writer.uint16(interval.rawValue)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout.rawValue)
    writer.uint8(clockAccuracy)
    if form == .enhancedV2 {
      writer.uint8(advertisingHandle)
      writer.uint16(syncHandle)
    }
  }
}

extension Event {
  /// An entry of the Number Of Completed Packets event (Vol 4 Part E §7.7.19).
  package struct CompletedPackets: Sendable, Equatable {
    package var handle: ConnectionHandle
    package var count: UInt16

    package init(handle: ConnectionHandle, count: UInt16) { (self.handle, self.count) = (handle, count) }

    /// The entries of one Number Of Completed Packets event, as a view of the received bytes.
    package struct List: Sendable, Equatable, RandomAccessCollection, ExpressibleByArrayLiteral {
      /// The received bytes of the entries, four bytes per entry.
      private let bytes: ArraySlice<UInt8>

      init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

      package init(arrayLiteral entries: CompletedPackets...) {
        var writer = ByteWriter()
        for entry in entries {
          writer.handle(entry.handle)
          writer.uint16(entry.count)
        }
        bytes = writer.bytes[...]
      }

      package var startIndex: Int { 0 }
      package var endIndex: Int { bytes.count / 4 }

      package subscript(index: Int) -> CompletedPackets {
        let at = bytes.startIndex + 4 * index
        return CompletedPackets(
          handle: ConnectionHandle(UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8),
          count: UInt16(bytes[at + 2]) | UInt16(bytes[at + 3]) << 8)
      }

      package static func == (one: Self, other: Self) -> Bool { one.elementsEqual(other) }
    }
  }
}
