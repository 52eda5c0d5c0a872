import BluetoothLESimulator
import TestSupport

/// What a client learns of a database: its hash and its table.
@Suite(.timeLimit(.minutes(15))) struct DatabaseContentsTests {
  private static func database() throws -> AttributeDatabase {
    typealias Characteristic = AttributeDatabase.CharacteristicDescription
    var glucose = AttributeDatabase.ServiceDescription(UUID(0x1808))
    glucose.includes = [.init(3)]
    var measurement = Characteristic(UUID(0x2A18), [.read, .indicate, .extendedProperties])
    var extended = AttributeDatabase.DescriptorDescription(.characteristicExtendedProperties)
    extended.value = [0, 0]
    measurement.descriptors = [.init(.clientCharacteristicConfiguration), extended]
    glucose.characteristics = [measurement]
    var battery = AttributeDatabase.ServiceDescription(UUID(0x180F), [Characteristic(UUID(0x2A19), .read)])
    battery.isPrimary = false
    return try AttributeDatabase(services: [
      .init(UUID(0x1800), [Characteristic(UUID(0x2A00), [.read, .write]), Characteristic(UUID(0x2A01), .read)]),
      .init(
        UUID(0x1801),
        [
          Characteristic(.serviceChanged, .indicate), Characteristic(UUID(0x2B29), [.read, .write]), Characteristic(.databaseHash, .read),
        ]), glucose, battery,
    ])
  }

  /// The example of the specification (Vol 3 Part G Appendix B), in the order of a PDU: least significant byte first.
  @Test func hashOfTheSpecification() throws {
    var database = try Self.database()
    #expect(Hex.encode(Array(database.databaseHash.reversed())) == "f1ca2d48ecf58bac8a8830bbb9fba990")
    database.updateHash()
    #expect(database[0x000D]?.value == database.databaseHash && database[0x000D]?.value.count == 16)
    // Values do not count.
    database.setValue([1], of: 0x0003)
    #expect(Hex.encode(Array(database.databaseHash.reversed())) == "f1ca2d48ecf58bac8a8830bbb9fba990")
  }

  /// The table is the one that a client discovers.
  @Test(.onLoop) @LoopActor func tableIsWhatAClientDiscovers() async throws {
    let database = try Self.database()
    let (near, far) = MemoryChannel.pair()
    let server = Server(database: database, channel: near, rxMTU: 64)
    server.start()
    var table = try await Client(far).discover()
    // The table of a database has no includes and no extended properties.
    for index in table.services.indices {
      table.services[index].includes = []
      for item in table.services[index].characteristics.indices { table.services[index].characteristics[item].extendedProperties = nil }
    }
    #expect(table == AttributeTable(database))
  }
}
