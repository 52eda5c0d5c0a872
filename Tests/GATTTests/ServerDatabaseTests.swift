import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ServerDatabaseTests {
  typealias Service = AttributeDatabase.ServiceDescription
  typealias Characteristic = AttributeDatabase.CharacteristicDescription
  typealias Descriptor = AttributeDatabase.DescriptorDescription

  @Test func layoutOfServices() throws {
    var first = Service(uuid("180f"))
    var level = Characteristic(uuid("2a19"), [.read, .notify])
    level.value = [60]
    first.characteristics = [level]
    var second = Service(uuid("12345678-0000-0000-0000-0123456789ab"))
    second.handle = 0x0010
    second.includes = [.init(0)]
    var wide = Characteristic(uuid("12345678-0001-0000-0000-0123456789ab"), [.write, .extendedProperties])
    var extended = Descriptor(uuid("2900"))
    extended.value = [1, 0]
    wide.descriptors = [extended, Descriptor(uuid("2901"))]
    second.characteristics = [wide]
    let database = try AttributeDatabase(services: [first, second])
    let table = database.attributes.map { "\($0.handle.number) \($0.type) \(Hex.encode($0.value))" }
    #expect(
      table == [
        "1 2800 0f18", "2 2803 120300192a", "3 2a19 3c", "4 2902 0000",
        "16 2800 ab8967452301000000000000785634" + "12", "17 2802 010004000f18",
        "18 2803 881300ab8967452301000000000100785634" + "12", "19 12345678-0001-0000-0000-0123456789ab ", "20 2900 0100", "21 2901 ",
      ])
    #expect(database[1]?.role == .service(endHandle: 4))
    #expect(database[16]?.role == .service(endHandle: 21))
    #expect(database[3]?.role == .value([.read, .notify], configuration: 4))
    #expect(database[4]?.role == .configuration(ofValue: 3, allowed: 1))
    #expect(database[19]?.permissions == .write)
    #expect(database[5] == nil)
    #expect(database.valueHandles == [[3], [19]])
    #expect(database.allowsReliableWrite(19) && database.allowsReliableWrite(21) && !database.allowsReliableWrite(3))
    #expect(!database.allowsReliableWrite(16) && !database.allowsReliableWrite(5))
  }

  @Test(
    arguments: [
      ("duplicate handle", 0, 1, nil), ("handle zero", 1, nil, nil), ("value of 513", 0, 0, nil), ("descriptor of 513", 0, 0, 1),
      ("maximum 513", 0, 0, nil), ("value above its own maximum", 0, 0, nil), ("configuration without notify", 0, 0, 1),
      ("two configurations", 0, 0, 2), ("extended without descriptor", 0, 0, nil), ("descriptor without extended", 0, 0, nil),
      ("includes itself", 1, nil, nil), ("includes nothing", 1, nil, nil), ("no room", 1, 0, nil),
    ] as [(String, Int, Int?, Int?)])
  func refused(_ what: String, service: Int, characteristic: Int?, descriptor: Int?) throws {
    var services = [Service(uuid("180d")), Service(uuid("180f"))]
    services[0].characteristics = [Characteristic(uuid("2a37"), .read), Characteristic(uuid("2a38"), .read)]
    services[0].characteristics[0].descriptors = [Descriptor(uuid("2901")), Descriptor(uuid("2904"))]
    services[1].characteristics = [Characteristic(uuid("2a19"), .read)]
    switch what {
    case "duplicate handle": services[0].characteristics[1].handle = 3
    case "handle zero": services[1].handle = 0
    case "value of 513": services[0].characteristics[0].value = [UInt8](repeating: 1, count: 513)
    case "descriptor of 513": services[0].characteristics[0].descriptors[1].value = [UInt8](repeating: 1, count: 513)
    case "maximum 513": services[0].characteristics[0].maximumLength = 513
    case "value above its own maximum":
      services[0].characteristics[0].maximumLength = 1
      services[0].characteristics[0].value = [1, 2]
    case "configuration without notify": services[0].characteristics[0].descriptors[1].uuid = uuid("2902")
    case "two configurations":
      services[0].characteristics[0].properties = .notify
      services[0].characteristics[0].descriptors = [Descriptor(uuid("2902")), Descriptor(uuid("2901")), Descriptor(uuid("2902"))]
    case "extended without descriptor": services[0].characteristics[0].properties = .extendedProperties
    case "descriptor without extended": services[0].characteristics[0].descriptors[1].uuid = uuid("2900")
    case "includes itself": services[1].includes = [.init(1)]
    case "includes nothing": services[1].includes = [.init(2)]
    default: services[1].handle = 0xFFFF
    }
    do {
      _ = try AttributeDatabase(services: services)
      Issue.record("\(what): accepted")
    } catch {
      #expect(error.service == service && error.characteristic == characteristic && error.descriptor == descriptor, "\(what): \(error)")
      #expect(!error.reason.isEmpty)
    }
  }

  @Test func moreThan65535Attributes() throws {
    var service = Service(uuid("180d"))
    service.characteristics = [Characteristic](repeating: Characteristic(uuid("2a37"), .read), count: 32_767)
    let full = try AttributeDatabase(services: [service])
    #expect(full.attributes.last?.handle == 0xFFFF)
    service.characteristics.append(Characteristic(uuid("2a37"), .read))
    do {
      _ = try AttributeDatabase(services: [service])
      Issue.record("accepted")
    } catch { #expect(error.characteristic == 32_767) }
  }

  @Test func attributesAsGiven() throws {
    typealias Attribute = AttributeDatabase.Attribute
    let service = Attribute(handle: 4, type: uuid("2800"), permissions: .read, value: [0, 0x18], role: .service(endHandle: 8))
    func database(_ others: Attribute...) throws -> AttributeDatabase { try AttributeDatabase(attributes: [service] + others) }
    _ = try database(Attribute(handle: 9, type: uuid("2800"), permissions: .read, value: [], role: .service(endHandle: 9)))
    #expect(throws: AttributeDatabase.Invalid.self) {
      try database(Attribute(handle: 8, type: uuid("2800"), permissions: .read, value: [], role: .service(endHandle: 9)))
    }
    #expect(throws: AttributeDatabase.Invalid.self) {
      try database(Attribute(handle: 4, type: uuid("2a00"), permissions: .read, value: []))
    }
    #expect(throws: AttributeDatabase.Invalid.self) {
      try database(Attribute(handle: 9, type: uuid("2800"), permissions: .read, value: [], role: .service(endHandle: 3)))
    }
  }
}
