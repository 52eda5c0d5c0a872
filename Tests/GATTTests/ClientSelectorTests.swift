import ATT
import Bluetooth
import GATT
import Testing

@Suite struct ClientSelectorTests {
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
    return AttributeTable(services: [lock, other, battery])
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
      ("0x0015@2901", 0x17, "2901"), ("ffe0[2]/ffe2@2902[2]", 0x26, "2902"), ("2901", 0x17, "2901"),
    ] as [(String, Int, String?)])
  func resolves(_ text: String, _ handle: Int, _ uuid: String?) throws {
    let found = try Self.table.resolve(Selector(text))
    #expect(found.handle.number == handle && found.uuid?.description == uuid)
  }

  @Test(arguments: [
    ("ffe1", "ffe0/ffe1 (handle 0x0012), ffe0/ffe1 (handle 0x0014)"), ("ffe0/ffe2", "(handle 0x0016), ffe0/ffe2 (handle 0x0024)"),
    ("ffe2@2902", "ffe0/ffe2@2902 (handle 0x0018), ffe0/ffe2@2902 (handle 0x0025), ffe0/ffe2@2902 (handle 0x0026)"), ("2902", "0x0025"),
  ]) func ambiguousOnesListTheCandidates(_ text: String, _ candidates: String) throws {
    #expect {
      try Self.table.resolve(Selector(text))
    } throws: {
      ($0 as? BluetoothError)?.kind == .ambiguous && ($0 as? BluetoothError)?.message.contains(candidates) == true
    }
  }

  @Test(arguments: [
    ("ffe9", "services"), ("ffe0", "ffe0/ffe1, ffe0/ffe1, ffe0/ffe2"), ("ffe1[3]", "only 2"), ("fff0/ffe1", "no service fff0"),
    ("ffe2@2904", "no descriptor 2904"),
    ("180f/ffe1", "services"), ("0x7fff@2902", "2902"), ("ffe0[3]/ffe1", "only 2 of ffe0"),
  ]) func missingOnesSayWhatThereIs(_ text: String, _ hint: String) throws {
    #expect {
      try Self.table.resolve(Selector(text))
    } throws: {
      ($0 as? BluetoothError)?.kind == .notFound && ($0 as? BluetoothError)?.message.contains(hint) == true
    }
  }

  @Test(arguments: [
    "", "/", "ffe0/", "/ffe1", "a/b/c", "ffe0/ffe1/ffe2", "0x", "0x0000", "0x10000", "0xfffff", "ffe", "ffe1[", "ffe1[0]", "ffe1[]",
    "ffe1[-1]", "ffe1[a]",
    "ffe1[999999999999999999999]", "ffe1@", "@2902", "ffe1@2902@2902", "ffe0/0x0012", "no_such_name", "ffe1[１]", "ｆｆｅ１", "1\u{1b}[31m",
    "[2]",
  ]) func refusesOthers(_ text: String) {
    #expect {
      _ = try Selector(text)
    } throws: {
      guard let error = $0 as? BluetoothError else { return false }
      return error.kind == .usage && !error.message.contains("\u{1b}")
    }
  }

  @Test func plainHandlesNeedNoDiscovery() throws {
    #expect(try Selector("0x0012").plainHandle == 0x12)
    #expect(try Selector("0x0012@2902").plainHandle == nil)
    #expect(try Selector("ffe1").plainHandle == nil)
  }
}
