import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct ClientSelectorTests {
  static let table: AttributeTable = {
    func item(_ uuid: UInt32, _ handle: AttributeHandle, _ descriptors: [(UInt32, AttributeHandle)] = []) -> Characteristic {
      var item = Characteristic(
        uuid: UUID(uuid), handle: handle, valueHandle: handle.next, endHandle: descriptors.last?.1 ?? handle.next, properties: [.read])
      item.descriptors = descriptors.map { Descriptor(uuid: UUID($0.0), handle: $0.1) }
      return item
    }
    var lock = Service(uuid: UUID(0xFFE0), handle: 0x10, endHandle: 0x1F, isPrimary: true)
    lock.characteristics = [item(0xFFE1, 0x11), item(0xFFE1, 0x13), item(0xFFE2, 0x15, [(0x2901, 0x17), (0x2902, 0x18)])]
    var other = Service(uuid: UUID(0xFFE0), handle: 0x20, endHandle: 0x2F, isPrimary: true)
    other.characteristics = [item(0xFFE3, 0x21), item(0xFFE2, 0x23, [(0x2902, 0x25), (0x2902, 0x26)])]
    var battery = Service(uuid: UUID(0x180F), handle: 0x30, endHandle: 0xFFFF, isPrimary: true)
    battery.characteristics = [item(0x2A19, 0x31)]
    var information = Service(uuid: UUID(0x180A), handle: 0x40, endHandle: 0x4F, isPrimary: true)
    information.characteristics = [item(0x2A29, 0x41), item(0x2A23, 0x43)]
    var monitor = Service(uuid: UUID(0x1818), handle: 0x50, endHandle: 0x5F, isPrimary: true)
    monitor.characteristics = [item(0x2A63, 0x51), item(0x2A5D, 0x53)]
    monitor.characteristics[0].properties = [.notify]
    var heart = Service(uuid: UUID(0x180D), handle: 0x60, endHandle: 0x6F, isPrimary: true)
    heart.characteristics = [item(0x2A37, 0x61), item(0x2A38, 0x63), item(0x2A39, 0x65)]
    return AttributeTable(services: [lock, other, battery, information, monitor, heart])
  }()

  @Test(
    arguments: [
      ("0x0012", 0x12, "ffe1"), ("0x12", 0x12, "ffe1"), ("0X0017", 0x17, "2901"), ("0x0011", 0x11, nil), ("0x7fff", 0x7FFF, nil),
      ("2a19", 0x32, "2a19"),
      ("00002A19-0000-1000-8000-00805F9B34FB", 0x32, "2a19"), ("00002a19", 0x32, "2a19"), ("0x00002a19", 0x32, "2a19"),
      ("180f/2a19", 0x32, "2a19"), ("battery_level", 0x32, "2a19"), ("180f/battery_level[1]", 0x32, "2a19"),
      ("ffe1[1]", 0x12, "ffe1"), ("ffe1[2]", 0x14, "ffe1"), ("ffe2[2]", 0x24, "ffe2"), ("ffe0[1]/ffe2", 0x16, "ffe2"),
      ("ffe0[2]/ffe2", 0x24, "ffe2"),
      ("ffe0/ffe3", 0x22, "ffe3"), ("ffe0/ffe1[2]", 0x14, "ffe1"), ("ffe2[1]@2902", 0x18, "2902"), ("ffe2@2901", 0x17, "2901"),
      ("0x0016@2902", 0x18, "2902"),
      ("battery", 0x32, "2a19"), ("Battery Service", 0x32, "2a19"), ("battery_service/battery", 0x32, "2a19"),
      ("cycling_power", 0x52, "2a63"),
      ("0x0015@2901", 0x17, "2901"), ("ffe0[2]/ffe2@2902[2]", 0x26, "2902"), ("2901", 0x17, "2901"),
    ] as [(String, Int, String?)])
  func resolves(_ text: String, _ handle: Int, _ uuid: String?) throws {
    let found = try Self.table.resolve(Selector(text))
    #expect(found.handle.number == handle && found.uuid?.description == uuid)
  }

  @Test(
    arguments: [
      ("ffe0/*", [0x10, 0x20]), ("ffe0[2]/*", [0x20]), ("ffe0[3]/*", []), ("battery_service/*", [0x30]), ("battery_s/*", [0x30]),
      ("0x180f/*", [0x30]), ("1809/*", []),
    ])
  func services(_ text: String, _ handles: [Int]) throws {
    let part = try #require(try Selector.service(inAllOf: text))
    #expect(Self.table.services(part).map(\.handle.number) == handles)
    #expect(try Selector.service(inAllOf: "ffe0/ffe1") == nil)
    #expect(throws: GATTError.self) { try Selector.service(inAllOf: "/*") }
  }

  /// The name of an attribute in reports selects it again.
  @Test(
    arguments: [
      (0x12, "ffe1[1]"), (0x14, "ffe1[2]"), (0x16, "ffe2[1]"), (0x24, "ffe2[2]"), (0x22, "ffe3"), (0x32, "battery_level"),
      (0x17, "ffe2[1]@characteristic_user_description"), (0x18, "ffe2[1]@client_characteristic_configuration"),
      (0x26, "ffe2[2]@client_characteristic_configuration[2]"), (0x10, nil), (0x11, nil), (0x7FFF, nil),
    ] as [(AttributeHandle, String?)])
  func hasAName(_ handle: AttributeHandle, _ name: String?) throws {
    #expect(Self.table.name(at: handle) == name)
    if let name { #expect(try Self.table.resolve(Selector(name)).handle == handle) }
  }

  @Test(
    arguments: [
      ("ffe1", [0x0012, 0x0014]), ("ffe0/ffe2", [0x0016, 0x0024]), ("ffe2@2902", [0x0018, 0x0025, 0x0026]), ("2902", [0x18, 0x25, 0x26]),
      ("heart_rate", [0x62, 0x66]),
    ] as [(String, [AttributeHandle])]) func ambiguousOnesListTheCandidates(_ text: String, _ candidates: [AttributeHandle]) throws
  {
    let selector = try Selector(text)
    #expect {
      try Self.table.resolve(selector)
    } throws: {
      guard case GATTError.ambiguous(selector, let found) = $0 else { return false }
      // Every listed name can be typed.
      return found.map(\.handle) == candidates
        && found.allSatisfy { (try? Self.table.resolve(Selector($0.selector)).handle) == $0.handle }
    }
  }

  @Test(
    arguments: [
      ("ffe9", .attribute), ("ffe0", .isService(table.services[0])), ("180f", .isService(table.services[2])),
      ("device_information", .isService(table.services[3])), ("ffe1[3]", .only(2, of: "ffe1")),
      ("fff0/ffe1", .service(UUID(0xFFF0))),
      ("ffe2@2904", .descriptor(UUID(0x2904))), ("180f/ffe1", .elsewhere("ffe0/ffe1")), ("0x7fff@2902", .descriptor(UUID(0x2902))),
      ("ffe0[3]/ffe1", .only(2, of: "ffe0")),
    ] as [(String, GATTError.Missing)]) func missingOnesSayWhatThereIs(_ text: String, _ missing: GATTError.Missing) throws
  {
    let selector = try Selector(text)
    #expect(throws: GATTError.notFound(selector, missing)) { try Self.table.resolve(selector) }
  }

  @Test(
    arguments: [
      ("", .emptyPart), ("/", .emptyPart), ("ffe0/", .emptyPart), ("/ffe1", .emptyPart), ("a/b/c", .tooManyParts),
      ("ffe0/ffe1/ffe2", .tooManyParts),
      ("0x", .noHandle), ("0x0000", .noHandle), ("0x10000", .noHandle), ("0xfffff", .noHandle),
      ("ffe", .unknownName("ffe")),
      ("ffe1[", .wrongIndex), ("ffe1[0]", .wrongIndex), ("ffe1[]", .wrongIndex), ("ffe1[-1]", .wrongIndex), ("ffe1[a]", .wrongIndex),
      ("ffe1[999999999999999999999]", .wrongIndex), ("ffe1@", .emptyPart), ("@2902", .emptyPart),
      ("ffe1@2902@2902", .unknownName("2902@2902")),
      ("ffe0/0x0012", .handleInService), ("no_such_name", .unknownName("no_such_name")), ("ffe1[１]", .wrongIndex),
      ("ｆｆｅ１", .unknownName("ｆｆｅ１")),
      ("1\u{1b}[31m", .wrongIndex), ("[2]", .emptyPart),
    ] as [(String, Selector.Fault)]) func refusesOthers(_ text: String, _ fault: Selector.Fault)
  {
    #expect(throws: GATTError.invalidSelector(text, fault)) { _ = try Selector(text) }
  }

  @Test func plainHandlesNeedNoDiscovery() throws {
    #expect(try Selector("0x0012").plainHandle == 0x12)
    #expect(try Selector("0x0012@2902").plainHandle == nil)
    #expect(try Selector("ffe1").plainHandle == nil)
  }
}
