package import BluetoothLE
package import BluetoothLEText
package import Traces

extension ADStructure {
  /// Creates a Manufacturer Specific Data structure: the company identifier, least significant byte first, then the vendor's data.
  package static func manufacturer(_ company: UInt16, _ data: [UInt8]) -> Self {
    Self(type: ADType.manufacturerData, data: [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data)
  }

  /// Creates Service Data with a 16-bit UUID if one exists, else with the 128-bit UUID.
  package static func serviceData(_ uuid: UUID, _ data: [UInt8]) -> Self {
    Self(type: uuid.short == nil ? ADType.serviceData128 : ADType.serviceData16, data: uuid.attBytes + data)
  }
}

extension BluetoothLE.Channel {
  package func waitUntilWritable() async throws { _ = try await waitUntilWritable(until: nil) }
}

extension BluetoothLE.Packet {
  /// The packet in H4 form.
  package var encoded: [UInt8] {
    switch self {
    case .command(let command): command.encoded
    case .event(let event): event.encoded
    case .acl(let data): data.encoded
    case .unknown(let indicator, let bytes): [indicator] + bytes
    }
  }
}

extension Server {
  package convenience init(database: AttributeDatabase, channel: any BluetoothLE.Channel, rxMTU: Int) {
    self.init(store: AttributeStore(database), bearer: Bearer(channel, rxMTU: rxMTU))
  }

  /// Sends an indication to a client that subscribed, and waits for its confirmation.
  /// - Returns: False if the client has no subscription, or unsubscribes before the indication's turn.
  package func indicate(_ handle: AttributeHandle, _ value: [UInt8]) async throws -> Bool {
    if let closed { throw closed }
    guard configuration(ofValue: handle) & 2 != 0 else { return false }
    return try await bearer.indicate(HandleValue(handle, value)).value()
  }
}

extension Snoop {
  /// Parses a whole btsnoop file.
  package static func parse(_ file: [UInt8]) throws(MalformedPacket) -> [Record] {
    var reader = try SnoopReader(file)
    var records: [Record] = []
    while let record = try reader.next() { records.append(record) }
    return records
  }
}

extension Subscription {
  /// Waits without a limit for the next value.
  package func next() async throws -> ValueEvent {
    guard let event = try await next(until: nil) else { throw CancellationError() }
    return event
  }
}

extension XMLText {
  /// Returns whether XML permits a scalar (XML 1.0 §2.2, production 2).
  package static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }
}
