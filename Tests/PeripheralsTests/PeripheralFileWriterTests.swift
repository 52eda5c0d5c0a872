import BluetoothLESimulator
import TestSupport

@testable import BluetoothLE

/// The files that describe real devices, also irregular ones.
@Suite(.timeLimit(.minutes(15))) struct PeripheralFileWriterTests {
  /// Returns the file of a snapshot, and the peripheral that it describes.
  private func write(_ snapshot: DeviceSnapshot) throws -> (text: String, peripheral: PeripheralDescription) {
    var writer = PeripheralFileWriter(snapshot)
    let text = writer.file().line
    return (text, try #require(try PeripheralFile.parse(Array(text.utf8), name: "x").first))
  }

  private static let peer = PeerAddress(Address(rawValue: 0xD100_0000_0077), .random)

  /// Whatever a device shows, the file is valid.
  @Test func everyDatabaseHasAFile() throws {
    var random = SplitMix64(seed: 4)
    let types = [0x2900, 0x2901, 0x2902, 0x2904, 0xFF01].map { UUID($0) }
    func handle() -> AttributeHandle { AttributeHandle(clamping: Int.random(in: 0...40, using: &random)) }
    func uuid() -> UUID { types.randomElement(using: &random) ?? UUID(0) }
    for _ in 0..<3000 {
      var snapshot = DeviceSnapshot(Self.peer)
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        var service = Service(uuid: uuid(), handle: handle(), endHandle: handle(), isPrimary: Bool.random(using: &random))
        service.includes = (0..<Int.random(in: 0...2, using: &random)).map { _ in
          Include(handle: handle(), startHandle: handle(), endHandle: handle(), uuid: nil)
        }
        service.characteristics = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          var item = Characteristic(
            uuid: uuid(), handle: handle(), valueHandle: handle(), endHandle: handle(),
            properties: Properties(rawValue: UInt8.random(in: 0...255, using: &random)))
          item.descriptors = (0..<Int.random(in: 0...3, using: &random)).map { _ in Descriptor(uuid: uuid(), handle: handle()) }
          return item
        }
        snapshot.table.services.append(service)
      }
      for handle in snapshot.handles {
        var outcome = DeviceSnapshot.Outcome()
        if Bool.random(using: &random) {
          outcome.add([UInt8](repeating: .random(in: 0...127, using: &random), count: .random(in: 0...5, using: &random)))
        }
        if Bool.random(using: &random) { outcome.readRefusal = ErrorCode(rawValue: .random(in: 1...20, using: &random)) }
        if Bool.random(using: &random) { outcome.writeRefusal = ErrorCode(rawValue: .random(in: 1...20, using: &random)) }
        outcome.level = SecurityLevel.allCases.randomElement(using: &random)
        snapshot.outcomes[handle] = outcome
      }
      #expect(throws: Never.self) { try write(snapshot) }
    }
  }

  private func snapshot(_ characteristic: Characteristic, _ outcome: DeviceSnapshot.Outcome = DeviceSnapshot.Outcome()) -> DeviceSnapshot {
    var snapshot = DeviceSnapshot(Self.peer)
    snapshot.table.services = [Service(uuid: UUID(0xFF00), handle: 1, endHandle: 9, isPrimary: true, characteristics: [characteristic])]
    snapshot.outcomes[characteristic.valueHandle] = outcome
    return snapshot
  }

  /// What the format cannot have is missing, and the file says so.
  @Test func gaps() throws {
    var item = Characteristic(uuid: UUID(0xFF01), handle: 2, valueHandle: 3, endHandle: 9, properties: [.read, .extendedProperties])
    item.descriptors = [
      Descriptor(uuid: UUID(0x2902), handle: 4), Descriptor(uuid: UUID(0x2901), handle: 6), Descriptor(uuid: UUID(0x2904), handle: 5),
    ]
    let (text, one) = try write(snapshot(item))
    #expect(one.database.attributes.map(\.handle.number) == [1, 2, 3, 6])
    for part in [
      "The file lacks descriptor 2902 (0x0004), which the properties exclude.", "but no descriptor 2900.",
      #""comment": "The file lacks descriptor 2904: its handle 0x0005 is out of order.""#,
    ] { #expect(text.contains(part), "\(part): \(text)") }
  }

  /// Refusals, the level of the last read, whether it gave a value, and the permissions and errors of the file.
  @Test(
    arguments: [
      (2, nil, nil, #""permissions": []"#), (3, nil, nil, #""read_error": "0x03""#), (8, nil, nil, #""read_error": "0x08""#),
      (0x80, nil, nil, #""read_error": "0x80""#), (15, nil, nil, #""permissions": ["read_encrypted"]"#),
      (5, nil, nil, #""permissions": ["read_encrypted"], "read_error": "0x05""#),
      (5, .unencrypted, nil, #""permissions": ["read_encrypted"], "read_error": "0x05""#),
      (5, .encrypted, nil, #""permissions": ["read_authenticated"]"#),
      (12, .encrypted, nil, #""permissions": ["read_encrypted"], "read_error": "0x0c""#),
      (5, .encrypted, [1], #""value": "01", "permissions": ["read_encrypted"], "read_error": "0x05""#),
      (5, .secureConnections, [1], #""value": "01", "permissions": ["read_authenticated"]"#),
      (15, .authenticated, [1], #""value": "01", "permissions": ["read_encrypted"]"#),
      (8, .authenticated, [1], #""value": "01", "permissions": ["read_encrypted"], "read_error": "0x08""#),
    ] as [(UInt8, SecurityLevel?, [UInt8]?, String)])
  func refusedReads(_ code: UInt8, _ level: SecurityLevel?, _ value: [UInt8]?, _ members: String) throws {
    var outcome = DeviceSnapshot.Outcome()
    (outcome.readRefusal, outcome.level) = (ErrorCode(rawValue: code), level)
    if let value { outcome.add(value) }
    let text = try write(snapshot(Characteristic(uuid: UUID(0xFF01), handle: 2, valueHandle: 3, endHandle: 3, properties: .read), outcome))
      .text
    #expect(text.contains(#""handle": "0x0002", \#(members)}"#), "\(text)")
  }

  /// A device that refuses a read with another error once the link is secure enough, or after it sent a value.
  @Test(
    arguments: [
      ([5, 2], nil, #""permissions": ["read_encrypted"], "read_error": "0x05", "read_reactions": [{"error": "0x02"}]"#),
      ([15, 8, 15], nil, #""permissions": ["read_encrypted"], "read_reactions": [{"error": "0x08"}]"#),
      ([5, 5], nil, #""permissions": ["read_encrypted"], "read_error": "0x05""#),
      ([14, 128], nil, #""read_error": "0x0e", "comment": "The device refused a later read with the error 0x80.""#),
      ([14], [1], #""value": "01", "comment": "The device refused a later read with the error 0x0e.""#),
      ([5], [1], #""value": "01", "permissions": ["read_encrypted"], "read_error": "0x05""#),
    ] as [([UInt8], [UInt8]?, String)])
  func laterRefusals(_ codes: [UInt8], _ value: [UInt8]?, _ members: String) throws {
    var outcome = DeviceSnapshot.Outcome()
    if let value { outcome.add(value) }
    for code in codes { outcome.addReadRefusal(ErrorCode(rawValue: code)) }
    var item = Characteristic(uuid: UUID(0xFF01), handle: 2, valueHandle: 3, endHandle: 4, properties: .read)
    #expect(try write(snapshot(item, outcome)).text.contains(#""handle": "0x0002", \#(members)}"#))
    // Descriptors have no reactions.
    item.descriptors = [Descriptor(uuid: UUID(0x2901), handle: 4)]
    var snapshot = snapshot(item)
    snapshot.outcomes[4] = outcome
    let text = try write(snapshot).text
    #expect(text.contains("refused a later read") == (outcome.laterReadRefusal != nil) && !text.contains("reactions"), "\(text)")
  }

  @Test func longAdvertisements() throws {
    var snapshot = DeviceSnapshot(Self.peer)
    snapshot.add(
      AdvertisingReport(
        pdu: .extended, isConnectable: true, isScannable: false, peer: Self.peer, rssi: nil, data: [UInt8](repeating: 0xAB, count: 32)))
    let (text, one) = try write(snapshot)
    #expect(snapshot.isAdvertisementWhole && one.advertising.data.isEmpty && one.name == "D1:00:00:00:00:77")
    #expect(text.contains("The advertisement is too long for the file, 32 bytes: abab"), "\(text)")
  }
}
