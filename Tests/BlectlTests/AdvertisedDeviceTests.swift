import BluetoothLEDeviceFiles
import Foundation
import TestSupport

@testable import Presentation
@testable import blectl

/// Device files describe advertisements and names: `scan`, `mac-from-adv` and `services` with `--device`.
@Suite(.timeLimit(.minutes(15))) struct AdvertisedDeviceTests {
  private static let tracker = "\(ExampleTests.folder)/tracker.json"
  private static let lock = "\(ExampleTests.folder)/gate-lock.json"
  private static let band = "\(ExampleTests.folder)/band-7.json"

  /// Three devices of one company: one that matches the file, one with truncated data, and one with another layout.
  private static let three = #"""
    {"device": "Gate\\Sense", "match": {"name": "Good"}, "names": {"fff1": "Gate", "2a19": "Own", "fff0": "Sense"},
     "advertisement": {"mac": "mfg:0305@-6:be", "manufacturer_data": {"0305": {"header": "02", "fields": [
       {"name": "count", "type": "u64le"}, {"name": "level", "type": "u8", "scale": 0.5, "unit": "%"},
       {"name": "state", "type": "u8", "values": {"open": 1, "shut": 0}}, {"name": "name", "type": "text", "length": 2},
       {"name": "steps", "type": "u8", "count": 2}]}}},
     "commands": {"go": {"request": {"header": "01"}, "to": "fff1"}},
     "simulate": {"name": "Good", "address": "D1:00:00:00:0E:01/random",
       "advertisement": {"flags": 6, "manufacturer_data": {"0305": "02 ffffffffffffffff 7b 01 1b5b 0102"}}, "scan_response": {"name": "Good"},
       "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", "properties": ["write"]}]},
         {"uuid": "180f", "characteristics": [{"uuid": "2a19", "properties": ["read"], "value": "01"}]}],
       "others": [
         {"name": "Cut", "address": "D1:00:00:00:0E:02/random", "scan_response": {"name": "Cut"},
          "advertisement": {"flags": 6, "manufacturer_data": {"0305": "02 ffff"}}},
         {"name": "Foreign", "address": "D1:00:00:00:0E:03/random", "scan_response": {"name": "Foreign"},
          "advertisement": {"flags": 6, "manufacturer_data": {"0305": "03 ffff"}}}]}}
    """#

  private func three(_ arguments: String...) throws -> (file: String, result: ProcessResult) {
    let file = try TemporaryFolder.file(Self.three)
    return (file, try Blectl.run(arguments.map { $0 == "FILE" ? file : $0 }, adapter: "sim:\(file)"))
  }

  // MARK: scan

  @Test func scannedAsJSON() throws {
    let result = try three("scan", "-d", "2", "--device", "FILE", "--json").result
    let records = try result.records.filter { $0["manufacturer_data"]?.keys == ["0305"] }
    func of(_ address: String) throws -> Record { try #require(records.first { $0.string("address") == address }) }
    #expect(
      result.text.contains(
        ##""decoded":{"device_0305":{"count":18446744073709551615,"level":61.5,"state":"open","name":"\u001b[","steps":[1,2]}}}"##),
      "\(result.text)")
    let cut = try of("D1:00:00:00:0E:02")
    #expect(cut["decoded"]?.isNull("device_0305") == true)
    #expect(cut.string("decoded_error") == "device_0305: cut: 3 of 15 bytes")
    let foreign = try of("D1:00:00:00:0E:03")
    #expect(foreign["decoded"]?.isNull("device_0305") == true)
    #expect(foreign.string("decoded_error") == "device_0305: not in the device file")
    #expect(result.status == 0 && result.errors.isEmpty)
    // Without --device there is no decoded field.
    #expect(try !three("scan", "-d", "2", "--json").result.text.contains("decoded"))
  }

  @Test func scannedAsText() throws {
    let lines = try three("scan", "-d", "2", "-v", "--device", "FILE").result.lines
    // Escaped, like any text from the air.
    let good = ##"Gate\\Sense: count 18446744073709551615, level 61.5 %, state open, name \x1b[, steps 1, 2"##
    for text in [good, "Gate\\\\Sense: cut: 3 of 15 bytes", "Gate\\\\Sense: not in the device file"] {
      #expect(lines.contains { $0.hasPrefix("D1:") && $0.hasSuffix(" (\(text))") }, "\(lines)")
      #expect(lines.contains { $0.contains("Manufacturer Specific Data  0305 ") && $0.hasSuffix("  \(text)") }, "\(lines)")
    }
    #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } })
  }

  @Test func scannedAsATable() throws {
    let file = try TemporaryFolder.file(Self.three)
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim:\(file)", "scan", "-d", "3", "--device", file], columns: 220, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1"])
    let (status, text) = terminal.finish()
    #expect(status == 0 && text.contains("Gate\\\\Sense: count 18446744073709551615, level 61.5 %, state open"), "\(text)")
    // Data that does not match is reported and shown as it is.
    #expect(text.contains("Gate\\\\Sense: cut: 3 of 15 bytes · ") && text.contains("0305:02ffff"), "\(text)")
  }

  @Test func aFileWithoutManufacturerDataIsSaid() throws {
    let result = try Blectl.run("scan", "-d", "1", "--device", Self.band)
    #expect(result.status == 0 && result.errors.contains("band-7.json describes no manufacturer data"), "\(result.errors)")
    #expect(try Blectl.run("scan", "-d", "1", "--device", Self.lock).errors.isEmpty)
  }

  /// Truncated data of any length gives a record and a text.
  @Test func everyTruncationIsARecord() throws {
    let device = try DeviceFile.parse(Array(Self.three.utf8), name: "three.json")
    let formats = AdvertisingFormats(device: device)
    let whole = Hex.decode("02ffffffffffffffff7b011b5b0102") ?? []
    for count in 0...whole.count {
      let found = formats.all(manufacturerData: [(0x0305, Array(whole[..<count]))], serviceData: [])
      var json = RecordWriter()
      AdvertisedText.json(&json, found)
      let record = try Record(String(decoding: json.finished(), as: UTF8.self))
      let isWhole = count == whole.count
      #expect(record.string("decoded_error") == (isWhole ? nil : "device_0305: cut: \(count) of 15 bytes"))
      if !isWhole { #expect(record["decoded"]?["device_0305"] == nil, "\(count)") }
      #expect(AdvertisedText.line(found[0]).hasPrefix(isWhole ? "Gate\\Sense: count" : "Gate\\Sense: cut: \(count) "))
    }
  }

  // MARK: mac-from-adv

  @Test func theRuleOfTheFile() throws {
    // This lock's data has the MAC reversed, as its file specifies.
    let result = try Blectl.run("mac-from-adv", "name:GateLock", "--first", "--device", Self.lock, "--json", adapter: "sim:\(Self.lock)")
    let record = try #require(try result.records.first, "\(result.errors)")
    #expect(record.string("mac")?.hasPrefix("A4:C1:38:00:11:") == true && record.string("rule") == "mfg:0305@-6:le")
    let offline = try Blectl.run("mac-from-adv", "--device", Self.tracker, "--hex", "09ff0305010203040506", "--json")
    #expect(offline.status == 2 && offline.errors.contains("no match for mfg:0305@-6:be."), "\(offline.errors)")
    let found = try Blectl.run(["mac-from-adv", "--device", Self.tracker], input: Array("09ff0503010203040506\n".utf8))
    #expect(found.lines.first?.hasPrefix("01:02:03:04:05:06  manufacturer_data/0305  offset 0  big-endian") == true, "\(found.errors)")
  }

  @Test func aFileWithoutARuleIsWrongUse() throws {
    let file = try TemporaryFolder.file(#"{"device": "Plain", "advertisement": {"manufacturer_data": {"0305": {"header": "01"}}}}"#)
    let result = try Blectl.run("mac-from-adv", "--device", file, "--hex", "020106")
    #expect(
      result.status == 64 && result.errors.contains(file) && result.errors.contains("advertisement.mac is missing"), "\(result.errors)")
    for (option, word) in [("--rule=mfg:0305@-6:le", "--rule"), ("--learn", "--learn")] {
      let both = try Blectl.run("mac-from-adv", option, "--device", Self.lock)
      #expect(both.status == 64 && both.errors.contains("--device and \(word) exclude each other"), "\(both.errors)")
    }
  }

  // MARK: services

  @Test func namesOfTheFile() throws {
    let (_, result) = try three("services", "name:Good", "--device", "FILE")
    #expect(result.text.contains("fff1 Gate  0x") && result.text.contains("fff0 Sense  primary"), "\(result.text)")
    // The Bluetooth SIG has a name for this one.
    #expect(result.text.contains("2a19 Battery Level  0x"), "\(result.text)")
    let records = try three("services", "name:Good", "--device", "FILE", "--json").result.records
    let service = try #require(records.first { $0.string("uuid") == "fff0" })
    #expect(service.string("service_name") == "Sense" && service.records("characteristics").first?.string("name") == "Gate")
    let plain = try three("services", "name:Good", "--json").result
    #expect(!plain.text.contains("Gate"))
  }

  @Test func theUsersNamesStandAboveThem() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: "\(folder)/blectl", withIntermediateDirectories: true)
    try #"{"uuids": {"fff1": "Mine"}}"#.write(toFile: "\(folder)/blectl/names.json", atomically: true, encoding: .utf8)
    let file = try TemporaryFolder.file(Self.three)
    let text = try Blectl.run(
      ["services", "name:Good", "--device", file], environment: ["XDG_CONFIG_HOME": folder], adapter: "sim:\(file)"
    ).text
    #expect(text.contains("fff1 Mine  0x") && text.contains("fff0 Sense  "), "\(text)")
  }

  /// A session uses the names after `call` has found the file.
  @Test func namesInASession() throws {
    let (_, before) = try three("-e", "services", "name:Good")
    #expect(before.status == 0 && !before.text.contains("fff1 Gate"))
    let (_, after) = try three("-e", "call go; services", "name:Good")
    #expect(after.status == 0 && after.text.contains("fff1 Gate  0x"), "\(after.text) \(after.errors)")
  }

  // MARK: All of them

  @Test func aFileThatCannotBeUsed() throws {
    let file = try TemporaryFolder.file("{\n  \"device\": 1}")
    for command in [["scan"], ["mac-from-adv"], ["services", "name:Good"], ["call", "name:Good", "go"]] {
      // The adapter does not exist, so the error is reported before anything is sent.
      let result = try Blectl.run(command + ["--device", file], adapter: "hci99")
      #expect(result.status == 66 && result.errors.contains("\(file):2:13: device: Expected a string, found a number"), "\(result.errors)")
      #expect(try Blectl.run(command + ["--device", "\(file).none"], adapter: "hci99").status == 66)
      #expect(try Blectl.run(command + ["--device", "-"], adapter: "hci99").status == 64)
    }
  }

  @Test func inAScript() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.three.write(toFile: "\(folder)/three.json", atomically: true, encoding: .utf8)
    let script = """
      device name:Good
      test "advertised"
        scan --device three.json --count 1 --address D1:00:00:00:0E:01 --passive
        expect field device_0305.level == 61.5
        expect field decoded.device_0305.state == open
        mac-from-adv name:Good --device three.json --first
        expect field mac == 7B:01:1B:5B:01:02
        services --device three.json
      end
      """
    try script.write(toFile: "\(folder)/all.blectl", atomically: true, encoding: .utf8)
    let result = try Blectl.run(["run", "all.blectl"], folder: folder, adapter: "sim:\(folder)/three.json")
    #expect(result.status == 0, "\(result.text)\(result.errors)")
  }
}
