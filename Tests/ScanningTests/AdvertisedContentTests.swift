import TestSupport

@testable import BluetoothLE

/// The layout of advertisements, read back by our own decoders.
@Suite(.timeLimit(.minutes(15))) struct AdvertisedContentTests {
  private typealias Content = AdvertisedContent

  private static func content(_ build: (inout AdvertisedContent) -> Void) -> AdvertisedContent {
    var content = AdvertisedContent()
    build(&content)
    return content
  }

  private static let long = UUID("00112233-4455-6677-8899-aabbccddeeff") ?? UUID(0)
  private static let beacon = IBeacon(uuid: long, major: 0x0102, minor: 3, power: -60)

  /// Contents, and the advertising data and scan response.
  private static let layouts: [(String, AdvertisedContent, String, String)] = [
    ("nothing", content { _ in }, "020106", ""),
    ("a name", content { $0.name = "Lock" }, "020106 05094c6f636b", ""),
    (
      "everything has an order",
      content {
        ($0.name, $0.services) = ("L", [UUID(0xFFE0), UUID(0x180F)])
        $0.manufacturerData = [.init(company: 0x0305, data: [1, 2])]
        $0.measurements = ["temperature=21.5"]
      }, "020106 0716d2fc40026608 0503e0ff0f18 05ff05030102 02094c", ""
    ),
    (
      "an iBeacon fills the advertisement", content { ($0.name, $0.beacon) = ("Shop", beacon) },
      "020106 1aff4c00021500112233445566778899aabbccddeeff01020003c4", "050953686f70"
    ),
    (
      "a long service and a name", content { ($0.name, $0.services) = ("Twelve bytes", [long, UUID(0xFFE0)]) },
      "020106 0303e0ff 1107ffeeddccbbaa99887766554433221100", "0d095477656c7665206279746573"
    ),
    ("raw data", content { ($0.raw, $0.scanResponse) = ([1, 2, 3], [4]) }, "010203", "04"),
    ("a raw scan response", content { ($0.name, $0.scanResponse) = ("N", [0xFF]) }, "020106 02094e", "ff"),
    (
      "extended", content { ($0.name, $0.beacon, $0.isExtended) = ("A shop with a long name", beacon, true) },
      "020106 1aff4c00021500112233445566778899aabbccddeeff01020003c4 1809" + Hex.encode(Array("A shop with a long name".utf8)), ""
    ),
    (
      "an extended scan response",
      content { ($0.scanResponse, $0.isExtended, $0.isConnectable) = ([UInt8](repeating: 9, count: 32), true, false) },
      "", String(repeating: "09", count: 32)
    ),
  ]

  @Test func structuresHaveTheirPlaces() throws {
    for (title, content, data, response) in Self.layouts {
      let made = try content.advertising()
      #expect(Hex.encode(made.data) == data.replacing(" ", with: "") && Hex.encode(made.scanResponse) == response, "\(title)")
    }
  }

  /// 7, 24, 20 and 8 bytes: if the first were in the advertisement, the others would not fit.
  @Test func placesThatTheFirstFitMisses() throws {
    let content = Self.content {
      $0.manufacturerData = [3, 20, 16, 4].map { .init(company: 0xFFFF, data: [UInt8](repeating: UInt8($0), count: $0)) }
    }
    let made = try content.advertising()
    #expect(made.data.count <= 31 && made.scanResponse.count <= 31)
    let found = [made.data, made.scanResponse].flatMap { Advertisement($0).manufacturerData.map(\.data.count) }.sorted()
    #expect(found == [3, 4, 16, 20])
  }

  @Test func theDecoderReadsTheContent() throws {
    let content = Self.content {
      ($0.name, $0.services) = ("Ünïcode", [UUID(0x180F), Self.long, UUID(0xFFE0)])
      $0.manufacturerData = [.init(company: 0x0499, data: [9]), .init(company: 0x0305, data: [])]
      ($0.beacon, $0.isExtended, $0.isConnectable) = (Self.beacon, true, false)
    }
    let made = try content.advertising()
    let read = Advertisement(made.data)
    #expect(read.errors.isEmpty && read.flags == 6 && read.displayName?.raw == content.name)
    #expect(Set(read.serviceUUIDs) == Set(content.services))
    #expect(read.manufacturerData.dropFirst().map(\.company) == [0x0499, 0x0305] && read.manufacturerData.last?.data == [])
    let beacon = DecodedData.manufacturer(0x004C, read.manufacturerData.first?.data ?? [])
    #expect(
      beacon?.format == "ibeacon" && beacon?["uuid"] == .text(Self.long.fullDescription) && beacon?["major"] == .integer(258)
        && beacon?["minor"] == .integer(3) && beacon?["tx_power"] == .integer(-60))
    #expect(made.isExtended && !made.isConnectable)
  }

  @Test func contentThatDoesNotFit() {
    func error(_ build: (inout AdvertisedContent) -> Void) -> String {
      do throws(AdvertisedContentError) { return "\(try Self.content(build).advertising())" } catch { return error.description }
    }
    let name = String(repeating: "n", count: 30)
    #expect(
      error { $0.name = name }
        == "Cannot advertise the name: it has 32 bytes, with 28 free in the advertisement and 31 in the scan response. "
        + "Advertise less, or use extended advertising.")
    #expect(error { ($0.name, $0.beacon) = (String(repeating: "n", count: 29), Self.beacon) }.hasPrefix("Advertising("))
    #expect(
      error {
        ($0.name, $0.beacon, $0.services) = ("Name", Self.beacon, [Self.long, UUID(0xFFE0), Self.long])
      } == "Cannot advertise the list of 128-bit services: it has 34 bytes, with 1 free in the advertisement and 27 in the scan response. "
        + "Advertise less, or use extended advertising.")
    #expect(
      error { ($0.name, $0.scanResponse) = (name, []) }
        == "Cannot advertise the name: it has 32 bytes, with 28 free in the advertisement and 0 in the scan response. "
        + "Advertise less, or use extended advertising.")
    #expect(error { $0.raw = [UInt8](repeating: 0, count: 32) } == "Cannot advertise the raw data: 32 bytes (maximum 31).")
    #expect(error { $0.scanResponse = [UInt8](repeating: 0, count: 32) } == "Cannot advertise the scan response: 32 bytes (maximum 31).")
    #expect(error { ($0.raw, $0.name) = ([], "N") } == "Raw advertising data replaces all other content. Give one of them.")
    #expect(
      error { ($0.scanResponse, $0.isExtended) = ([1], true) }
        == "An extended advertisement cannot have a scan response if it is connectable or has data.")
    #expect(
      error { $0.manufacturerData = [.init(company: 0x004C, data: [UInt8](repeating: 0, count: 253))] }
        == "Cannot advertise the manufacturer data of 0x004c: 255 bytes (maximum 254).")
    let many = [UInt8](repeating: 0, count: 250)
    #expect(
      error { content in
        content.isExtended = true
        content.manufacturerData = (0..<7).map { .init(company: $0, data: many) }
      } == "Cannot advertise the manufacturer data of 0x0006: it has 254 bytes, with 123 free in the advertisement.")
  }

  @Test func manySmallStructuresAreQuick() {
    let content = Self.content { content in content.manufacturerData = (0..<15).map { .init(company: $0, data: []) } }
    #expect(throws: AdvertisedContentError.self) { try content.advertising() }
  }

  @Test(arguments: ["", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "x/1/2", "ffe0/1", "ffe0/65536/1", "ffe0/1/2/-200", "ffe0/1/2/3/4"])
  func wrongBeacons(_ text: String) { #expect(throws: AdvertisedContentError.invalidBeacon(text)) { try IBeacon(parsing: text) } }

  @Test func beaconsAsText() throws {
    #expect(try IBeacon(parsing: "00112233-4455-6677-8899-aabbccddeeff/258/3/-60") == Self.beacon)
    #expect(try IBeacon(parsing: "00112233-4455-6677-8899-aabbccddeeff/258/3").power == -59)
  }

  // MARK: BTHome

  /// Measurements and their objects in hex.
  private static let measurements: [(String, String)] = [
    ("temperature=21.5", "026608"), ("temperature=-40", "0260f0"), ("temperature=400", "45a00f"), ("temperature=0.35", "022300"),
    ("battery=87", "0157"), ("battery=low", "1501"), ("humidity=55.05", "038115"), ("pressure=1008.83", "04138a01"),
    ("illuminance=13460.67", "05138a14"), ("count=96", "0960"), ("count=960", "3dc003"), ("count=-1", "59ff"),
    ("count=70000", "3e70110100"),
    ("mass=80.3kg", "065e1f"), ("mass=74.86lb", "073e1d"), ("distance=12mm", "400c00"), ("distance=7.8m", "414e00"),
    ("power=69.14", "0b021b00"), ("power=on", "1001"), ("door=open", "1a01"), ("door=0", "1a00"), ("motion=true", "2101"),
    ("lock=unlocked", "1f01"), ("button=long_press", "3a04"), ("command=toggle", "3b0002"), ("command=step_up:3", "3b010303"),
    ("dimmer=rotate_left:3", "3c0103"), ("dimmer=none", "3c0000"), ("timestamp=1684093277", "505d396164"),
    ("text=Hello", "530548656c6c6f"), ("raw=48656c", "540348656c"), ("firmware_version=0.1.2.4", "f104020100"),
    ("firmware_version=6.1.0", "f2000106"), ("light_level=bright", "6402"), ("packet_id=9", "0009"), ("speed=-1.5", "62a01ce9ff"),
  ]

  @Test(arguments: measurements) func measurementsAsObjects(_ text: String, _ hex: String) throws {
    #expect(Hex.encode(try BTHome.encode([text])) == "40" + hex)
  }

  /// The decoder finds the name, and the value if it is a number.
  @Test(arguments: measurements.map(\.0)) func theDecoderReadsMeasurements(_ text: String) throws {
    let decoded = try #require(DecodedData.service(UUID(0xFCD2), try BTHome.encode([text])))
    guard case .records(let objects)? = decoded["objects"], let object = objects.first, decoded["rest"] == nil else {
      Issue.record("\(decoded)")
      return
    }
    let parts = text.split(separator: "=").map(String.init)
    #expect(objects.count == 1 && object.first { $0.name == "name" }?.value == .text(parts[0]))
    let unit = object.first { $0.name == "unit" }.flatMap { if case .text(let unit) = $0.value { unit } else { nil } } ?? ""
    let number = Double(parts[1].hasSuffix(unit) ? String(parts[1].dropLast(unit.count)) : parts[1])
    switch object.first(where: { $0.name == "value" })?.value {
    case .number(let value): #expect(value == number)
    case .integer(let value): #expect(Double(value) == number ?? 2)
    case .bool, .text: break
    case let other: Issue.record("\(text): \(String(describing: other))")
    }
  }

  @Test func objectsAscend() throws {
    #expect(
      Hex.encode(try BTHome.encode(["door=open", "temperature=2", "battery=1", "temperature=1"])) == "400101" + "02c800" + "026400" + "1a01"
    )
  }

  @Test func wrongMeasurements() {
    func error(_ text: String) -> String {
      do throws(AdvertisedContentError) { return Hex.encode(try BTHome.encode([text])) } catch { return error.description }
    }
    #expect(error("temprature=1").hasPrefix("Unknown measurement \"temprature=1\". Use NAME=VALUE with: acceleration, battery, "))
    #expect(error("temperature").hasPrefix("Unknown measurement"))
    #expect(error("humidity=55.055").hasPrefix("Cannot advertise \"55.055\" as humidity. Use 0.0 to 655.35 in steps of 0.01"))
    #expect(error("distance=12").contains("0.0mm to 65535.0mm"))
    for text in [
      "battery=256", "battery=", "battery=-1", "door=ajar", "temperature=1e1", "temperature=1.2.3", "temperature=.", "raw=x", "button=4",
      "temperature=9999999999999", "dimmer=rotate_left:256", "command=on:1", "firmware_version=1.2", "firmware_version=01.2.3",
      "timestamp=-1",
      "text=" + String(repeating: "x", count: 256),
    ] { #expect(error(text).hasPrefix("Cannot advertise "), "\(text)") }
  }
}
