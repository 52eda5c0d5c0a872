import Foundation
import TestSupport

/// `--csv`, `--format`, `--output` and `--time`, and the devices of a scan.
@Suite(.timeLimit(.minutes(15))) struct RecordOptionTests {
  private func lines(_ arguments: String...) throws -> [String] {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    return result.text.split(separator: "\n").map(String.init)
  }

  @Test func anHourOfHeartRateIsATable() throws {
    let rows = try lines("notify", "Band-7", "heart_rate_measurement", "-d", "60m", "--csv", "--time", "relative")
    #expect(rows[0] == "time,name,uuid,handle,value,text,flags,heart_rate,energy_expended,rr")
    #expect(rows[1] == "0.000,Band-7,2a37,21,0048,,0,72,,")
    #expect(rows.count > 3500 && rows.dropFirst().allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 10 })
  }

  /// A reading every minute, from the first minute of the day to the last.
  @Test func aDayOfTemperatureIsALinePerMinute() throws {
    let device = try TemporaryFolder.file(
      #"""
      {"name": "Weather", "address": "A4:C1:38:00:00:21/public", "advertisement": {"name": "Weather"},
       "services": [{"uuid": "181a", "characteristics": [{"uuid": "2a6e", "properties": ["read"], "value": {"i16le": -2150}}]}]}
      """#)
    let result = try Blectl.run(
      ["read", "Weather", "temperature", "--every", "1m", "-d", "1440m", "--format", "{time} {temperature}", "--time", "relative"],
      adapter: "sim:\(device)")
    let lines = result.text.split(separator: "\n")
    #expect(result.status == 0 && lines.count == 1440, "\(lines.count) \(result.errors)")
    for (minute, line) in lines.enumerated() {
      let parts = line.split(separator: " ")
      // The answer arrives within two connection intervals.
      let late = (Double(parts[0]) ?? 0) - Double(minute * 60)
      #expect(parts.count == 2 && abs(late) < 1 && parts[1] == "-21.5", "\(line)")
    }
  }

  @Test func tenDevicesAreComparedBySignal() throws {
    let devices = (1...10).map { number in
      #"{"name": "Beacon \#(number)", "address": "D1:00:00:00:01:\#(number + 10)/random", "rssi": \#(-40 - number * 5), "advertisement": {"name": "Beacon \#(number)"}}"#
    }
    let file = try TemporaryFolder.file("[\(devices.shuffled().joined(separator: ","))]")
    let result = try Blectl.run(["scan", "--devices", "--sort", "rssi", "--format", "{name}"], adapter: "sim:\(file)")
    #expect(result.text.split(separator: "\n").map(String.init) == (1...10).map { "Beacon \($0)" }, "\(result.errors)")
  }

  @Test func aTemplateIsALinePerRecord() throws {
    #expect(
      try lines("notify", "Band-7", "2a37", "-n", "2", "--format", "{name}: {heart_rate} {heart_rate.unit}") == [
        "Band-7: 72 bpm", "Band-7: 74 bpm",
      ])
    #expect(
      try lines("read", "Band-7", "2a00", "2a19", "--csv").map { $0.split(separator: ",", omittingEmptySubsequences: false).suffix(2) } == [
        ["device_name", "battery_level"], ["Band-7", ""], ["", "60"],
      ])
    #expect(try lines("mac-from-adv", "GateLock", "--first", "--format", "{mac} {rule}")[0].hasPrefix("A4:C1:38:00:11:"))
    #expect(try lines("adapters", "--csv")[0] == "name,address,up,bus,le")
    #expect(try lines("-e", "read 2a19 --format '{battery_level}%'; read 2a19", "Band-7") == ["60%", "3c  60 %"])
  }

  /// A field that no record can have is refused before blectl connects.
  @Test func anUnknownFieldIsRefusedAndTheFieldsAreListed() throws {
    for arguments in [["peers", "--format", "{nmae}"], ["notify", "Band-7", "2a37", "-n", "1", "--format", "{nmae}"]] {
      let result = try Blectl.run(arguments)
      #expect(result.status == 64 && result.output.isEmpty)
      #expect(result.errors.hasPrefix("blectl: No record has the field {nmae}. Did you mean {name}? Fields: "), "\(result.errors)")
    }
    #expect(try Blectl.run("peers", "--format", "{name").errors.hasPrefix("blectl: --format has { at position 1 without its counterpart."))
  }

  @Test func commandsWithoutRecordsRefuseTheOptions() throws {
    for option in [["--csv"], ["--format", "{a}"], ["--output", "x"], ["--time", "utc"]] {
      #expect(try Blectl.run(["services", "Band-7"] + option).status == 64, "\(option)")
      let raw = try Blectl.run(["read", "Band-7", "2a19", "--raw"] + option)
      #expect(
        raw.status == 64 && raw.errors == "blectl: This form of read prints no records, so it takes no \(option[0]).\n", "\(raw.errors)")
    }
    #expect(try !Blectl.run("services", "--help").text.contains("--csv"))
    #expect(try Blectl.run("read", "--help").text.contains("--csv"))
  }

  @Test(arguments: [
    (["--csv", "--json"], "--json and --csv exclude each other."),
    (["--csv", "--format={name}"], "--csv and --format exclude each other."),
    (["--time", "noon"], "--time needs local, utc, relative or none, not \"noon\"."), (["--format"], "--format needs a value."),
    (["--csv", "--bogus"], "Unknown option --bogus"), (["--format", "{name}", "--format", "{name}"], "--format is given twice."),
  ])
  func mistakesAreNamed(_ options: [String], _ sentence: String) throws {
    let result = try Blectl.run(["peers"] + options)
    #expect(result.status == 64 && result.errors.contains(sentence), "\(result.errors)")
  }

  @Test func theResultGoesToAFile() throws {
    let path = TemporaryFolder.path()
    let result = try Blectl.run("read", "Band-7", "2a19", "--csv", "--output", path)
    #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty)
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix(",Band-7,2a19,17,3c,,60\n"))
    let full = try Blectl.run("read", "Band-7", "2a19", "--output", "/dev/full")
    #expect(full.status == 74 && full.errors == "blectl: Cannot write to \"/dev/full\": No space left on device.\n", "\(full.errors)")
    #expect(try Blectl.run("read", "Band-7", "2a19", "--output", "\(path)/x").status == 74)
    let device = try TemporaryFolder.file("{}")
    #expect(try Blectl.run("scan", "--device", device, "--output", device).status == 64)
    #expect(try String(contentsOfFile: device, encoding: .utf8) == "{}")
  }

  /// Values of several types: a column of numbers for each, empty without a value, and no units in cells.
  @Test func eachValueHasItsColumn() throws {
    func rows(_ words: String...) throws -> [String] { try Blectl.run(words + ["--csv", "--time", "none"]).lines }
    let read = try rows("read", "Band-7", "2a19", "2a00")
    #expect(
      read == [
        "name,uuid,handle,value,text,battery_level,device_name", "Band-7,2a19,17,3c,,60,", "Band-7,2a00,3,42616e642d37,Band-7,,Band-7",
      ], "\(read)")
    let all = try rows("read", "Band-7", "--all")
    #expect(all.first?.contains(",battery_level") == true && !all.joined().contains(" %"), "\(all)")
    let notify = try rows("notify", "Band-7", "2a37", "2a19", "-n", "2")
    #expect(notify.first?.contains(",heart_rate,") == true && notify.first?.hasSuffix(",battery_level") == true, "\(notify)")
    #expect(!notify.joined().contains("bpm") && !notify.joined().contains("="), "\(notify)")
  }

  /// A column that stands for several values has no units either, but a template has.
  @Test func unitsAreForTemplates() throws {
    let device = """
      [{"name": "T", "address": "D1:00:00:00:00:05/random", "advertisement": ["0616d2fc400164"]}]
      """
    let adapter = "sim:" + (try TemporaryFolder.file(device))
    func scan(_ options: String...) throws -> String { try Blectl.run(["scan", "-n", "1"] + options, adapter: adapter).text }
    #expect(try !scan("--csv").contains(" %") && scan("--format", "{decoded}").contains(" %"))
  }

  /// A row per test, with the reason of a failure, and no rows for steps or the summary.
  @Test func aRunIsATableOfTests() throws {
    let script = "device Band-7\ntest a\n  read 2a19\nend\ntest \"b, c\"\n  read 2a19\n  expect as u8 == 61\nend\n"
    let file = try TemporaryFolder.file(script)
    let result = try Blectl.run("run", file, "--csv", "--time", "none")
    let rows = result.text.split(separator: "\n")
    #expect(result.status == 7 && rows.count == 3, "\(result.text)")
    #expect(rows[0] == "file,line,name,peer,status,seconds,reason,error.message")
    #expect(rows[2].contains("\"b, c\"") && rows[2].hasSuffix(",,The result does not match."))
  }

  // MARK: Devices

  @Test func eachDeviceIsARecord() throws {
    let records = try Blectl.run("scan", "-d", "3", "--devices", "--json").records
    #expect(
      records.map { $0.string("address") }
        == ["D1:00:00:00:00:10", "D1:00:00:00:00:01", "C0:FF:EE:00:00:07", "D1:00:00:00:00:50", "D1:00:00:00:00:02"])
    let band = records[2]
    #expect(records.allSatisfy { $0["decoded"] != nil })
    #expect(band.string("event") == "device" && band.string("name") == "Band-7" && band.bool("connectable") == true)
    #expect(band["rssi"]?.int("last") != nil && band["rssi"]?.double("mean") != nil && (band.double("interval_ms") ?? 0) > 100)
    #expect(band.string("mac") == "C0:FF:EE:00:00:07" && band["manufacturer_data"]?.string("0157") != nil)
    #expect(
      try lines("scan", "-d", "3", "--devices", "--sort", "name", "--format", "{name}")
        == ["Band-7", "GateLock", "GateLock", "Panel", "SafeLock"])
    #expect(try lines("scan", "--devices", "-n", "2", "--format", "{address}").count == 2)
    #expect(try lines("scan", "-d", "3", "--devices", "--every", "1", "--name", "Panel", "--format", "{rssi}").count == 3)
    let rows = try lines("scan", "-d", "3", "--devices", "--every", "1", "-n", "2", "--time", "relative", "--csv").map { $0.prefix(7) }
    #expect(
      rows.first == "time,ad" && rows.count == 7 && rows.dropFirst().map { $0.prefix(2) } == ["0.", "0.", "1.", "1.", "2.", "2."], "\(rows)"
    )
  }

  /// The strongest device is known only after the whole scan. Without an order, the scan stops at N.
  @Test(arguments: [
    (["--devices", "--sort", "rssi", "-n", "1"], "D1:00:00:00:00:10\n"),
    (["--sort", "rssi", "-n", "2"], "D1:00:00:00:00:10\nD1:00:00:00:00:01\n"), (["--devices", "-n", "1"], "C0:FF:EE:00:00:07\n"),
  ])
  func theFirstInAnOrderAreKnownAtTheEnd(_ options: [String], _ addresses: String) throws {
    let result = try Blectl.run(["scan", "--format", "{address}"] + options)
    #expect(result.status == 0 && result.text == addresses, "\(result.text)\(result.errors)")
  }

  @Test func wrongCombinationsAreRefused() throws {
    for arguments in [["--devices", "--raw"], ["--devices", "--duplicates"], ["--every", "1"], ["--devices", "--every", "0"]] {
      #expect(try Blectl.run(["scan"] + arguments).status == 64, "\(arguments)")
    }
  }

  @Test func thePersonLearnsOnceThatRecordsArePackets() throws {
    let folder = TemporaryFolder.path()
    func text() throws -> String {
      let terminal = try PseudoTerminal(
        [Blectl.path, "-i", "sim", "scan", "-n", "1", "--json"], columns: 80, rows: 24,
        environment: ["BLECTL_CLOCK": "virtual", "XDG_STATE_HOME": folder])
      return terminal.finish().text
    }
    #expect(try text().contains("--devices"))
    #expect(try !text().contains("--devices"))
  }
}
