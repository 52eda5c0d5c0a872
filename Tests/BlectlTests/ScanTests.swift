import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ScanTests {
  static let fields: Set = [
    "event", "time", "address", "address_type", "rssi", "pdu", "connectable", "name", "services", "manufacturer_data", "service_data",
    "tx_power", "raw",
  ]

  @Test func recordsHaveTheFieldsOfTheContract() throws {
    let result = try Blectl.run("scan", "--duration", "3", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(
      Set(records.compactMap { $0.string("address") }) == [
        "D1:00:00:00:00:01", "D1:00:00:00:00:02", "C0:FF:EE:00:00:07", "D1:00:00:00:00:10", "D1:00:00:00:00:50",
      ])
    for record in records {
      #expect(record.keys.isSuperset(of: Self.fields), "\(Self.fields.subtracting(record.keys))")
      #expect(record.string("event") == "advertisement")
      #expect(record.string("time")?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }
    let band = try #require(records.first { $0.string("address") == "C0:FF:EE:00:00:07" && $0.string("pdu") == "adv_ind" })
    #expect(band.string("address_type") == "public")
    #expect(band.bool("connectable") == true)
    #expect(band["manufacturer_data"]?.string("0157") != nil)
  }

  /// Reports with a reserved event type, or cut short, are counted, and a normal one is shown.
  @Test func reportsThatCannotBeReadAreCounted() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(["scan", "--count", "1", "--json"], adapter: controller.adapter, virtual: false)
    #expect(controller.command(0x200C)?.first == 1)
    for bytes: [UInt8] in [
      [15, 2, 1, 9, 1, 1, 0, 0, 0, 0, 0xC0, 3, 2, 1, 6, 0xC4], [5, 2, 1, 0, 1, 2], [15, 2, 1, 0, 1, 3, 0, 0, 0, 0, 0xC0, 3, 2, 1, 6, 0xC4],
    ] { controller.send([4, 0x3E] + bytes) }
    let result = running.wait()
    #expect(result.status == 0)
    #expect(try result.records.map { $0.string("address") } == ["C0:00:00:00:00:03"])
    let note = try Record(result.errors.trimmingCharacters(in: .newlines)).string("note")
    #expect(note?.hasPrefix("Skipped 2 advertising reports of \(controller.adapter)") == true, "\(result.errors)")
  }

  /// Recorded: a controller that reports the first part of a chain of ten advertising events, and never the rest.
  @Test func partsOfSeveralEventsAreNotOne() throws {
    let trace = try TemporaryFolder.file(Array(try Vectors.own("chainlost.btsnoop")))
    let result = try Blectl.run(["scan", "-d", "4", "--json", "--duplicates"], adapter: "replay:\(trace)", virtual: false)
    let records = try result.records
    let parts = records.filter { $0.bool("truncated") == true }
    #expect(parts.count == 10 && Set(parts.map { $0.string("raw") ?? "" }).count == 1, "\(result.text)")
    #expect(parts.allSatisfy { $0.string("raw")?.utf8.count == 400 && $0.string("name") == "TestAdv" })
    // Each part is released when the next one arrives, and the last one when no more could follow.
    let times = parts.compactMap { $0.string("time")?.suffix(7).dropLast() }
    #expect(Set(times).count == 10 && records.count == 16)
  }

  @Test func advertisementsAndScanResponsesStayApartAndComeOnce() throws {
    let records = try Blectl.run("scan", "--duration", "5", "--json").records
    let keys = records.map { "\($0.string("address") ?? "") \($0.string("pdu") ?? "") \($0.string("raw") ?? "")" }
    #expect(Set(keys).count == keys.count)
    #expect(Set(records.compactMap { $0.string("pdu") }) == ["adv_ind", "scan_rsp"])
    let passive = try Blectl.run("scan", "--duration", "5", "--json", "--passive").records
    #expect(Set(passive.compactMap { $0.string("pdu") }) == ["adv_ind"])
  }

  @Test func duplicatesPrintEveryReport() throws {
    let once = try Blectl.run("scan", "--duration", "5", "--json").records.count
    #expect(try Blectl.run("scan", "--duration", "5", "--json", "--duplicates").records.count > 5 * once)
  }

  @Test(arguments: [
    (["--name", "gate*"], ["D1:00:00:00:00:01", "D1:00:00:00:00:02"]), (["--address", "d1:00:00:00:00:02"], ["D1:00:00:00:00:02"]),
    (["--manufacturer", "0x0157"], ["C0:FF:EE:00:00:07"]), (["--manufacturer", "0305:ffff"], []),
    (["--service", "fff0"], ["D1:00:00:00:00:10"]), (["--name", "lock"], ["D1:00:00:00:00:01", "D1:00:00:00:00:02", "D1:00:00:00:00:50"]),
    (["--name", "panel", "--name", "band*"], ["D1:00:00:00:00:10", "C0:FF:EE:00:00:07"]), (["--name", "ate?"], []),
    (["--service", "fff0", "--service", "heart_rate"], ["D1:00:00:00:00:10", "C0:FF:EE:00:00:07"]),
    (["--manufacturer", "0157", "--manufacturer", "0305:01", "--name", "band-7"], ["C0:FF:EE:00:00:07"]),
    (["--address", "c0:ff:ee:00:00:07/public", "--address", "D1:00:00:00:00:10"], ["D1:00:00:00:00:10", "C0:FF:EE:00:00:07"]),
    (["--address", "c0:ff:ee:00:00:07/random"], []),
    (["--min-rssi", "0"], []), (["--name", "nobody"], []),
  ])
  func filters(_ filter: [String], _ addresses: [String]) throws {
    let result = try Blectl.run(["scan", "--duration", "3", "--json"] + filter)
    #expect(result.status == 0)
    #expect(Set(try result.records.compactMap { $0.string("address") }) == Set(addresses))
  }

  @Test func filtersThatHideEverythingSaySo() throws {
    let result = try Blectl.run("scan", "--duration", "3", "--name", "nobody")
    #expect(result.status == 0 && result.text.isEmpty)
    #expect(result.errors == "note: No device matches the filters. Heard 5 devices.\n")
    #expect(try Blectl.run("scan", "--duration", "3", "--name", "lock").errors.isEmpty)
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "3", "--name", "nobody"], columns: 100, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1"])
    let lines = Screen(terminal.finish().text, rows: 24).lines
    #expect(lines.contains("0 devices, 0 records in 3 s, 5 devices filtered out"), "\(lines)")
    #expect(lines.contains("note: No device matches the filters. Heard 5 devices."), "\(lines)")
  }

  @Test func anAliasCanBeFilteredFor() throws {
    let home = TemporaryPath()
    let folder = URL(fileURLWithPath: home.path).appendingPathComponent("blectl")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(#"{"aliases":{"panel":"D1:00:00:00:00:10"}}"#.utf8).write(to: folder.appendingPathComponent("config.json"))
    let result = try Blectl.run(["scan", "--duration", "2", "--json", "--address", "@panel"], environment: ["XDG_CONFIG_HOME": home.path])
    #expect(Set(try result.records.compactMap { $0.string("address") }) == ["D1:00:00:00:00:10"])
    #expect(try Blectl.run("scan", "--duration", "2", "--address", "@nobody").status == 2)
    #expect(try Blectl.run("scan", "--address", "name:Panel").status == 64)
  }

  /// `--sort` orders devices, so a pipe gets devices, also as records.
  @Test func anOrderInAPipeShowsDevices() throws {
    let devices = try Blectl.run("scan", "--duration", "1", "--sort", "rssi")
    #expect(devices.status == 0 && devices.errors.isEmpty, "\(devices.errors)")
    let lines = devices.text.split(separator: "\n")
    #expect(
      lines.map { $0.prefix(17) } == [
        "D1:00:00:00:00:10", "D1:00:00:00:00:01", "C0:FF:EE:00:00:07", "D1:00:00:00:00:50", "D1:00:00:00:00:02",
      ])
    let json = try Blectl.run("scan", "--duration", "1", "--sort", "name", "--json", "-n", "2")
    #expect(try json.records.map { $0.string("name") } == ["Band-7", "GateLock"] && json.errors.isEmpty, "\(json.text) \(json.errors)")
    #expect(try json.records.allSatisfy { $0.string("event") == "device" })
    #expect(try Blectl.run("scan", "--duration", "1").errors.isEmpty)
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "1", "--sort", "name"], columns: 80, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual"])
    #expect(!terminal.finish().text.contains("no effect"))
  }

  /// `--log` appends the records of `--json` to a file, whatever else is shown.
  @Test func theLogHasTheRecords() throws {
    let log = TemporaryPath()
    let wanted = try Blectl.run("scan", "--duration", "2", "--json").text
    #expect(try !Blectl.run("scan", "--duration", "2", "--log", log.path).text.contains("{"))
    #expect(try String(contentsOfFile: log.path, encoding: .utf8) == wanted)
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "2", "--log", log.path], columns: 80, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual"])
    #expect(terminal.finish().status == 0)
    #expect(try String(contentsOfFile: log.path, encoding: .utf8) == wanted + wanted)
    // Beside devices, no other output has the packets.
    let all = TemporaryPath()
    #expect(try Blectl.run("scan", "--devices", "--duration", "2", "--log", all.path).status == 0)
    let packets = try Blectl.run("scan", "--duration", "2", "--json", "--duplicates").text
    #expect(packets.count > wanted.count)
    #expect(try String(contentsOfFile: all.path, encoding: .utf8) == packets)
    let full = try Blectl.run("scan", "--duration", "2", "--log", "/dev/full")
    #expect(full.status == 74 && full.errors.contains("Cannot write \"/dev/full\": No space"))
    #expect(try Blectl.run("scan", "--duration", "2", "--log", "/nonexistent/log").status == 74)
  }

  /// Data in a known format has its own field and its place in the table. Other devices have none.
  @Test func whatIsInAKnownFormatIsDecoded() throws {
    let file = TemporaryPath()
    try file.write(
      Array(
        """
        [{"name": "T", "address": "D1:00:00:00:00:20/random", "advertisement": {"flags": 6, "service_data": {"fcd2": "4002ca0903bf131f01"}}},
         {"name": "N", "address": "D1:00:00:00:00:21/random", "advertisement": {"manufacturer_data": {"0305": "0102"}}}]
        """.utf8))
    let records = try Blectl.run("scan", "--duration", "2", "--json", adapter: "sim:\(file.path)").records
    let sensor = try #require(records.first { $0.string("address")?.hasSuffix("20") == true && $0.string("pdu") == "adv_ind" })
    #expect(sensor["service_data"]?.string("fcd2") == "4002ca0903bf131f01")
    #expect(sensor["decoded"]?["bthome"]?.bool("encrypted") == false)
    #expect(records.filter { $0["decoded"] != nil }.allSatisfy { $0.string("address")?.hasSuffix("20") == true })
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim:\(file.path)", "scan", "--duration", "1"], columns: 120, rows: 24, environment: ["BLECTL_CLOCK": "virtual"])
    #expect(terminal.finish().text.contains("BTHome 25.06 °C, humidity 50.55 %, lock unlocked"))
  }

  /// bthome.io/encryption: with the key, with a wrong one, and with none.
  @Test func whatIsEncryptedIsReadWithItsKey() throws {
    let file = TemporaryPath()
    try file.write(
      Array(
        """
        [{"name": "E", "address": "54:48:E6:8F:80:A5/public", "interval_ms": 500,
          "advertisement": {"flags": 6, "service_data": {"fcd2": "41e445f3c9962b332211006c7c4519"}}}]
        """.utf8))
    let right = "231d39c1d7cc1ab1aee224cd096db932"
    func record(_ options: String...) throws -> Record {
      let result = try Blectl.run(["scan", "--count", "1", "--json"] + options, adapter: "sim:\(file.path)")
      #expect(result.status == 0, "\(result.errors)")
      return try #require(try result.records.first)
    }
    for key in [right, "5448E68F80A5=" + right, "54:48:e6:8f:80:a5=\(right.uppercased())"] {
      let bthome = try record("--key", "00:00:00:00:00:01=000102030405060708090a0b0c0d0e0f", "--key", key)["decoded"]?["bthome"]
      #expect(bthome?.bool("encrypted") == true && bthome?.int("counter") == 1_122_867)
      #expect(bthome?.records("objects").count == 2)
    }
    let wrong = try record("--key", "000102030405060708090a0b0c0d0e0f")
    #expect(wrong.string("decoded_error") == "bthome: wrong key" && wrong["decoded"]?["bthome"]?.bool("encrypted") == true)
    #expect(try record()["decoded_error"] == nil)
    for key in ["", "00", right + "00", "nobody=" + right, "=" + right, right + "=", "54:48:E6:8F:80:A5=\(right)=\(right)"] {
      #expect(try Blectl.run("scan", "--key", key).status == 64)
    }
  }

  @Test func countEndsEarlyOrFails() throws {
    let enough = try Blectl.run("scan", "--count", "2", "--json")
    #expect(enough.status == 0)
    #expect(try enough.records.count == 2)
    #expect(try Blectl.run("scan", "--count", "2", "--duration", "1", "--name", "nobody").status == 2)
  }

  /// An advertisement and its scan response share one event, and a busy controller reports thousands at once.
  @Test(arguments: [1, 3, 5, 6]) func countIsExact(_ count: Int) throws {
    #expect(try Blectl.run("scan", "--count", "\(count)", "--json").records.count == count)
    #expect(try Blectl.run("scan", "--count", "\(count)", "--duplicates").lines.count == count)
  }

  @Test func plainLinesOnAPipe() throws {
    let result = try Blectl.run("scan", "--duration", "2")
    #expect(result.lines.contains { $0.hasPrefix("C0:FF:EE:00:00:07/public ") && $0.contains("Band-7") })
    #expect(!result.text.contains("\u{1B}"))
    #expect(result.errors.isEmpty)
    #expect(try Blectl.run("scan", "--duration", "2", "--raw").lines.allSatisfy { $0.split(separator: " ").count >= 4 })
  }

  @Test func globalOptionsStandBeforeOrAfterTheCommand() throws {
    let before = try Blectl.run(["-i", "sim", "--json", "scan", "--duration", "1"], adapter: nil)
    let after = try Blectl.run(["scan", "--duration", "1", "--json", "-i", "sim"], adapter: nil)
    #expect(before.status == 0)
    #expect(before.text == after.text)
  }
}
