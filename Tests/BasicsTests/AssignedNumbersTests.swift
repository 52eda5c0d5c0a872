import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct AssignedNumbersTests {
  @Test(arguments: [
    ("1800", "Generic Access", "generic_access"), ("2800", "Primary Service", "primary_service"),
    ("2803", "Characteristic", "characteristic"), ("2902", "Client Characteristic Configuration", "client_characteristic_configuration"),
    ("2a19", "Battery Level", "battery_level"), ("2a23", "System ID", "system_id"),
    ("2a29", "Manufacturer Name String", "manufacturer_name_string"),
    ("2a37", "Heart Rate Measurement", "heart_rate_measurement"), ("2b2a", "Database Hash", "database_hash"),
    ("00002a19-0000-1000-8000-00805f9b34fb", "Battery Level", "battery_level"),
  ])
  func names(_ text: String, _ name: String, _ snake: String) throws {
    let uuid = try #require(UUID(text))
    #expect(AssignedNumbers.name(of: uuid) == name)
    #expect(AssignedNumbers.snakeName(of: uuid) == snake)
    #expect(AssignedNumbers.uuid(named: snake) == uuid)
    #expect(AssignedNumbers.uuid(named: name.uppercased()) == uuid)
  }

  @Test(arguments: [
    ("battery", "180f"), ("battery_service", "180f"), ("Heart Rate", "180d"), ("heart_rate_service", "180d"),
    ("generic_access_service", "1800"),
    // A characteristic precedes a service of the same name. The suffix still finds the service.
    ("device_time", "2b90"), ("device_time_service", "1847"), ("current_time", "2a2b"), ("current_time_service", "1805"),
    ("battery-level", "2a19"), ("nordic_led_and_button_service", "00001523-1212-efde-1523-785feabcd123"),
  ])
  func lookup(_ name: String, _ uuid: String) { #expect(AssignedNumbers.uuid(named: name)?.description == uuid) }

  @Test func unknown() throws {
    for text in ["ffe1", "0000", "ffff", "12345678", "f000aa01-0451-4000-b000-000000000001", "00000000-0000-0000-0000-000000000000"] {
      #expect(AssignedNumbers.name(of: try #require(UUID(text))) == nil)
    }
    for name in [
      "", "_", "service", "battery_levels", "2a19", "\u{0}", "Ⅷ", "!!battery!!", "battery_level!", "\"battery\"", "_battery", "a:b",
    ] {
      #expect(AssignedNumbers.uuid(named: name) == nil, "\(name)")
    }
    #expect(AssignedNumbers.company(0xFEFE) == nil)
  }

  @Test(
    arguments: [
      (0x0000, "Ericsson AB"), (0x004C, "Apple, Inc."), (0x0059, "Nordic Semiconductor ASA"), (0x0006, "Microsoft"),
      (0x0157, "Anhui Huami Information Technology Co., Ltd."),
    ] as [(UInt16, String)])
  func companies(_ id: UInt16, _ name: String) { #expect(AssignedNumbers.company(id) == name) }

  @Test(
    arguments: [
      (0x0000, "Unknown"), (0x0040, "Phone"), (0x0041, "Phone"), (0x03C1, "Keyboard"), (0x03C4, "Gamepad"), (0x0341, "Heart Rate Belt"),
      (0x007F, "Phone"), (0xFFFF, nil),
    ] as [(UInt16, String?)])
  func appearances(_ value: UInt16, _ name: String?) { #expect(AssignedNumbers.appearance(value) == name) }

  /// The search needs sorted lines with keys of one length. It must find every line.
  @Test func tablesAreSorted() throws {
    for (table, digits) in [
      (AssignedNumbers.shortUUIDs, 4), (AssignedNumbers.longUUIDs, 32), (AssignedNumbers.companies, 4), (AssignedNumbers.appearances, 4),
    ] {
      let lines = table.split(separator: "\n", omittingEmptySubsequences: false)
      let keys = lines.map { $0.prefix(digits) }
      #expect(keys == keys.sorted())
      #expect(Set(keys).count == keys.count)
      for line in lines { #expect(line.dropFirst(digits).first == " " && line.utf8.count > digits + 1) }
    }
    for line in AssignedNumbers.companies.split(separator: "\n") {
      let id = try #require(UInt16(line.prefix(4), radix: 16))
      #expect(AssignedNumbers.company(id) == String(line.dropFirst(5)))
    }
    for line in (AssignedNumbers.shortUUIDs + "\n" + AssignedNumbers.longUUIDs).split(separator: "\n") {
      let key = try #require(line.firstIndex(of: " "))
      #expect(AssignedNumbers.name(of: try #require(UUID(line[..<key]))) == String(line[key...].dropFirst()))
    }
  }

  @Test func everyNumberIsAnswered() {
    for number in UInt16.min...UInt16.max {
      _ = (AssignedNumbers.company(number), AssignedNumbers.appearance(number), AssignedNumbers.name(of: UUID(UInt32(number))))
    }
  }
}
