import BluetoothLEFirmware
import BluetoothLESimulator
import Foundation
import TestSupport

/// `update` and `firmware` from a shell, a session and a script, on simulated devices.
@Suite(.timeLimit(.minutes(15))) struct UpdateTests {
  static let sensor = #"{"name": "Sensor", "address": "D1:00:00:00:00:51/random", "advertisement": {"name": "Sensor"}"#
  private static let other = ImageSlots.image(version: ImageVersion(major: 3, minor: 0, revision: 0), size: 30_000)
  static let image = ImageSlots.image(version: ImageVersion(major: 2, minor: 0, revision: 0, build: 7), size: 30_000)

  static func devices(_ mcumgr: String = "{}", link: String = "{}") throws -> String {
    try Blectl.simulator("[\(sensor), \"link\": \(link), \"update\": {\"mcumgr\": \(mcumgr)}}]")
  }

  private func file(_ image: [UInt8] = image) throws -> String { try TemporaryFolder.file(image) }

  private func terminal(_ arguments: [String], _ devices: String, columns: Int = 100) throws -> PseudoTerminal {
    let environment = ["BLECTL_ADAPTER": devices, "BLECTL_CLOCK": "virtual"]
    return try PseudoTerminal([Blectl.path] + arguments, columns: columns, rows: 24, environment: environment, hasKeys: true)
  }

  @Test(arguments: [1, 2, 9]) func anImageIsInstalledProvenAndConfirmed(_ mode: Int) throws {
    let devices = try Self.devices("{\"mode\": \(mode), \"boot_ms\": 60000}")
    let result = try Blectl.run(["update", "Sensor", try file(), "--yes", "--json"], adapter: devices)
    #expect(result.status == 0, "\(result.errors)")
    let updated = try #require(try result.records.last)
    // The time of the restart is none of the upload.
    #expect(updated.double("seconds").map { (0.1...30).contains($0) } == true, "\(result.text)")
    #expect(updated.string("event") == "updated" && updated.string("from") == "1.0.0" && updated.string("to") == "2.0.0+7")
    #expect(updated.int("bytes") == Self.image.count && updated.int("resumed") == 0 && updated.string("protocol") == "mcumgr")
    #expect(updated.string("hash_after") != updated.string("hash_before"))
    #expect(updated.bool("confirmed") == true)
    #expect(try result.records.dropLast().allSatisfy { $0.string("event") == "progress" && $0.int("total") == Self.image.count })
    #expect(try result.records.count > 2)
  }

  @Test func aDryRunSaysWhatItWouldDoAndWritesNothing() throws {
    let file = try file()
    let result = try Blectl.run(["-e", "update \(file) --dry-run; firmware list", "Sensor"], adapter: try Self.devices())
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.contains("Update Sensor from 1.0.0 to 2.0.0+7 over MCUmgr, 30072 bytes: upload, test, restart,"))
    #expect(result.text.contains("the device reverts. Nothing was written.") && !result.text.contains("2.0.0.7"), "\(result.text)")
    let record = try #require(
      try Blectl.run(["update", "Sensor", file, "--dry-run", "--json"], adapter: try Self.devices("{\"mode\": 2}")).records.first)
    #expect(record.string("event") == "update_plan" && record.bool("can_revert") == false && record.int("bytes") == 30_072)
    #expect(record.bool("downgrade") == false)
    let single = try Blectl.run(["update", "Sensor", file, "--dry-run"], adapter: try Self.devices("{\"mode\": 0}"))
    #expect(single.errors.contains("The device has one slot for images. It may refuse an upload"), "\(single.errors)")
  }

  @Test func aDowngradeSaysSo() throws {
    let words = ["update", "Sensor", try file()]
    let devices = try Self.devices(#"{"version": "2.0.0+8"}"#)
    let asked = try Blectl.run(words, adapter: devices)
    #expect(asked.errors.contains("Downgrade Sensor from 2.0.0+8 to 2.0.0+7? To agree, add --yes."), "\(asked.errors)")
    let plan = try Blectl.run(words + ["--dry-run", "--json"], adapter: devices)
    #expect(try plan.records.first?.bool("downgrade") == true, "\(plan.text)")
  }

  @Test func theWantedImageOnTrialIsOnlyConfirmed() throws {
    let file = try file()
    let lines = "update \(file) --yes --no-confirm; update \(file) --dry-run; update \(file); update \(file) --yes"
    let result = try Blectl.run(
      ["-k", "-e", lines, "Sensor"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: try Self.devices())
    #expect(result.text.contains("at its next restart. To keep it: blectl firmware Sensor confirm\n"), "\(result.text)")
    let sentence = "Confirm 2.0.0+7 on Sensor, which runs it on trial"
    #expect(result.text.contains("\(sentence). It then stays after each restart. Nothing was written."), "\(result.text)")
    #expect(result.errors.contains("\(sentence)? It then stays after each restart. To agree,"), "\(result.errors)")
    #expect(result.text.contains("Confirmed 2.0.0+7 on Sensor. It then stays after each restart."), "\(result.text)")
    let other = try self.file(Self.other)
    let blocked = "update \(file) --yes --no-confirm; update \(other) --dry-run"
    let plan = try Blectl.run(["-e", blocked, "Sensor"], adapter: try Self.devices())
    #expect(plan.text.contains("30072 bytes: restart to end an earlier update, upload, test,"), "\(plan.text)")
    #expect(plan.errors.contains("Another image, 2.0.0+7, is on trial. The update restarts the device to end this."), "\(plan.errors)")
  }

  /// The next restart would start the other image.
  @Test func theWantedImageStaysThoughAnotherIsPending() throws {
    let (file, hash) = (try file(), Hex.encode(try #require(try ImageFile(Self.other).hash).prefix(4)))
    let before = "update \(file) --yes; firmware upload \(try self.file(Self.other)) --yes; firmware test \(hash)"
    let lines = "\(before); update \(file) --dry-run; update \(file) --yes; firmware list"
    let state = ["XDG_STATE_HOME": TemporaryFolder.path()]
    let result = try Blectl.run(["-e", lines, "Sensor"], environment: state, adapter: try Self.devices())
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("Another image, 3.0.0, is pending: the next restart starts it."), "\(result.errors)")
    let plan = "Restart Sensor to end an earlier update, and keep 2.0.0+7: restart to end an earlier update, compare."
    #expect(result.text.contains("\(plan) Nothing was written."), "\(result.text)")
    #expect(result.text.contains("Sensor keeps 2.0.0+7. The earlier update has ended.\n"), "\(result.text)")
    #expect(result.text.split(separator: "\n").suffix(2).contains { $0.contains(/2\.0\.0\+7 +active confirmed bootable/) })
  }

  /// Nothing was uploaded, so there is no rate.
  @Test(arguments: ["--yes", "--json"]) func anImageThatTheDeviceHasIsNotUploaded(_ option: String) throws {
    let (file, hash) = (try file(), Hex.encode(try #require(try ImageFile(Self.image).hash).prefix(4)))
    let lines = "firmware upload \(file) --yes; firmware upload \(file) --yes; firmware test \(hash); update \(file) --yes"
    let result = try Blectl.run([option == "--json" ? "--json" : "-q", "-e", lines, "Sensor"], adapter: try Self.devices())
    #expect(result.status == 0, "\(result.errors)")
    guard option == "--json" else {
      #expect(result.text.contains(/Uploaded 2\.0\.0\+7 to Sensor: 30072 bytes in [0-9.]+ s, [0-9.]+ kB.s\./), "\(result.text)")
      #expect(result.text.contains("Sensor has 2.0.0+7 already. To start it once: "), "\(result.text)")
      return #expect(result.text.hasSuffix("Updated Sensor from 1.0.0 to 2.0.0+7. The device had the image already.\n"), "\(result.text)")
    }
    let records = try result.records.filter { ["uploaded", "updated"].contains($0.string("event")) }
    #expect(records.map { $0.int("bytes") } == [30_072, 0, 0] && records.map { $0.isNull("seconds") } == [false, true, true])
  }

  @Test func nothingIsWrittenWithoutConsent() throws {
    for (mode, sentence) in [
      (1, "from 1.0.0 to 2.0.0+7? To agree, add --yes."), (2, "2.0.0+7? The device cannot return to the old image."),
    ] {
      let result = try Blectl.run(["update", "Sensor", try file(), "-vv"], adapter: try Self.devices("{\"mode\": \(mode)}"))
      #expect(result.status == 64 && result.text.isEmpty && result.errors.contains(sentence), "\(result.errors)")
      // An upload is command 1 of group 1.
      #expect(!result.errors.contains(/Write Command [0-9a-f]{6}0a..[0-9a-f]{4}0001..01/))
    }
    for words in [["confirm"], ["erase"], ["reset"], ["upload", try file()]] {
      let result = try Blectl.run(["firmware", "Sensor"] + words, adapter: try Self.devices())
      #expect(result.status == 64 && result.text.isEmpty && result.errors.contains("--yes"), "\(result.errors)")
    }
  }

  @Test func aTerminalAsks() throws {
    for (key, status, sentence) in [
      ("n", 130, " Nothing was written to Sensor."), ("\u{3}", 130, " Nothing was written to Sensor."),
      ("\u{4}", 130, " Nothing was written to Sensor."), ("Y", 0, "Updated Sensor from 1.0.0"),
    ] as [(String, Int32, String)] {
      let script = TemporaryFolder.path()
      let terminal = try terminal(["update", "Sensor", try file(), "--record", script], try Self.devices())
      #expect(terminal.wait(for: "y or n:"))
      terminal.type(key)
      let (ended, text) = terminal.finish()
      #expect(ended == status && text.contains(sentence), "\(text)")
      // A script cannot ask.
      let recorded = try String(contentsOfFile: script, encoding: .utf8)
      #expect(recorded.contains("\n  update --yes ") == (status == 0), "\(recorded)")
      if status == 0 { #expect(try Blectl.run("run", "--dry-run", script).status == 0) }
    }
  }

  /// A terminal of 80 columns has room for the first digits, which suffice for commands.
  @Test func aTerminalShowsTheFirstDigitsOfAHash() throws {
    let hash = try Blectl.run("firmware", "Sensor", "list", "--json", adapter: try Self.devices()).records.first?.string("hash") ?? ""
    let (status, text) = try terminal(["firmware", "Sensor", "list"], try Self.devices(), columns: 80).finish()
    #expect(status == 0 && text.contains(/0 +0 +1\.0\.0 +active confirmed bootable +[0-9a-f]{16}\s/), "\(text)")
    #expect(hash.count == 64 && text.contains(hash.prefix(16)))
    let piped = try Blectl.run("firmware", "Sensor", "list", adapter: try Self.devices())
    #expect(piped.text.contains(hash))
  }

  @Test func anImageThatRunsIsNotSentAgain() throws {
    let file = try file()
    let result = try Blectl.run(
      ["-e", "update \(file) --yes; update \(file); firmware list", "Sensor"],
      environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: try Self.devices())
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.contains("Sensor already runs this image (2.0.0+7). Nothing was uploaded."), "\(result.text)")
    #expect(result.errors.contains("The content is the same, but the signature may differ."))
    #expect(result.text.contains(/0 +0 +2\.0\.0\+7 +active confirmed bootable/))
  }

  @Test func aLostLinkIsNotTheEnd() throws {
    let link = #"{"cut_after_octets": 14000, "cuts": 2}"#
    let result = try Blectl.run(["update", "Sensor", try file(), "--yes", "--json"], adapter: try Self.devices(link: link))
    #expect(result.status == 0, "\(result.errors)")
    let updated = try #require(try result.records.last)
    #expect(updated.string("to") == "2.0.0+7" && updated.int("resumed") == 2)
    #expect((updated.int("bytes") ?? 0) < Self.image.count + 6000, "\(updated.int("bytes") ?? 0)")
    #expect(result.errors.contains("Continuing at byte "))
    // The limit of attempts is for those without progress.
    let slow = try Blectl.run(
      ["update", "Sensor", try file(), "--yes", "--json"], adapter: try Self.devices(link: #"{"cut_after_octets": 2000}"#))
    let resumptions = try slow.records.last?.int("resumed") ?? 0
    #expect(slow.status == 0 && resumptions > 8, "\(slow.errors)")
    let endless = try Blectl.run(
      ["update", "Sensor", try file(), "--yes", "-t", "3"], adapter: try Self.devices(link: #"{"cut_after_octets": 600}"#))
    #expect(endless.status == 6 && endless.errors.contains("To continue, run the same command again."), "\(endless.errors)")
  }

  @Test func filesThatDoNotFitAreRefused() throws {
    var damaged = Self.image
    damaged[100] ^= 1
    for (file, options, status, sentence) in [
      (try file(damaged), [], 66, "The image is damaged"), (Vectors.path("dfu.zip"), [], 66, "the device speaks MCUmgr"),
      ("/nonexistent.bin", [], 66, "no such file"), (try self.file(), ["--prn", "3"], 64, "--prn has no meaning for MCUmgr"),
      (try self.file(), ["--image", "3"], 64, "The device has no image 3. List its images: blectl firmware Sensor list"),
      (try self.file(), ["--resume", "--no-resume"], 64, "exclude"),
    ] as [(String, [String], Int32, String)] {
      let result = try Blectl.run(["update", "Sensor", file, "--yes"] + options, adapter: try Self.devices())
      #expect(result.status == status && result.text.isEmpty && result.errors.contains(sentence), "\(result.status) \(result.errors)")
    }
    let swapped = try Blectl.run("update", try self.file(), "Sensor", "--yes")
    #expect(swapped.status == 64 && swapped.errors.contains("Put the device first: blectl update Sensor --yes /"), "\(swapped.errors)")
    let line = try Blectl.run(["-e", "update \(try self.file()) Sensor --yes", "Sensor"], adapter: try Self.devices())
    #expect(line.status == 64 && line.errors.contains("Put the device first: update Sensor --yes /"), "\(line.errors)")
    let large = try Blectl.run(["update", "Sensor", try file(), "--yes"], adapter: try Self.devices("{\"slot_size\": 28672}"))
    #expect(large.status == 66 && large.errors.contains("its slot takes at most 24576"), "\(large.errors)")
    let other = try Blectl.run("update", "Band-7", try file(), "--yes")
    #expect(other.status == 2 && other.errors.contains("Nordic Secure DFU. List its services: blectl services Band-7\n"), "\(other.errors)")
  }

  @Test func legacyDFUIsNamed() throws {
    let devices = try Blectl.simulator(
      "[\(Self.sensor), \"services\": [{\"uuid\": \"00001530-1212-efde-1523-785feabcd123\", \"characteristics\": []}]}]")
    let result = try Blectl.run(["update", "Sensor", Vectors.path("dfu.zip"), "--yes"], adapter: devices)
    #expect(result.status == 5 && result.errors.contains("legacy DFU"), "\(result.errors)")
  }

  /// The bootloader itself, or an application that starts it. It has the address of the application, or the next one.
  @Test(arguments: [("DfuTarg", "{}"), ("Sensor", #"{"buttonless": "no_bonds"}"#), ("Sensor", #"{"buttonless": "bonds"}"#)])
  func aNordicBootloader(_ name: String, _ dfu: String) throws {
    let devices = try Blectl.simulator("[\(Self.sensor), \"security\": {\"io\": \"none\"}, \"update\": {\"dfu\": \(dfu)}}]")
    let result = try Blectl.run(
      ["update", name, Vectors.path("dfu.zip"), "--yes", "--pair", "--json"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()],
      adapter: devices)
    #expect(result.status == 0, "\(result.errors)")
    let updated = try #require(try result.records.last)
    #expect(updated.string("event") == "updated" && updated.string("protocol") == "nordic_dfu" && updated.int("bytes") == 184)
    #expect(updated.isNull("from") && updated.isNull("to") && updated.isNull("confirmed"))
    let image = try Blectl.run(["update", name, try file(), "--yes"], adapter: devices)
    #expect(image.status == 66 && image.errors.contains("the device speaks Nordic Secure DFU"), "\(image.errors)")
  }

  @Test func aRefusalIsASentence() throws {
    let refusal = #"{"refuses": {"operation": "execute", "object": "command", "result": 11, "extended": 5}}"#
    let devices = try Blectl.simulator("[\(Self.sensor), \"update\": {\"dfu\": \(refusal)}}]")
    let result = try Blectl.run(["update", "DfuTarg", Vectors.path("dfu.zip"), "--yes", "--json"], adapter: devices)
    #expect(result.status == 5 && result.errors.contains("the version is too low. It accepts no downgrade"), "\(result.errors)")
  }

  // MARK: Several devices

  @Test func aFleet() throws {
    let other = #"{"name": "Other", "address": "D1:00:00:00:00:52/random", "advertisement": {"name": "Other"}, "update": {"mcumgr": {}}}"#
    let plain = #"{"name": "Plain", "address": "D1:00:00:00:00:53/random", "advertisement": {"name": "Plain"}}"#
    let devices = try Blectl.simulator("[\(Self.sensor), \"update\": {\"mcumgr\": {}}}, \(other), \(plain)]")
    let result = try Blectl.run(["update", "Sensor", "Other", "Plain", try file(), "--yes"], adapter: devices)
    #expect(result.status == 2, "\(result.errors)")
    let lines = result.text.split(separator: "\n")
    #expect(lines.suffix(4).map { $0.split(separator: " ").first } == ["DEVICE", "Sensor", "Other", "Plain"], "\(result.text)")
    #expect(lines.last?.contains("failed (exit 2)") == true && lines.contains { $0.contains(/Other +updated +1\.0\.0 +2\.0\.0\+7/) })
    let list = Array("# all\nSensor  # the first\n\nOther\nSensor\n".utf8)
    let piped = try Blectl.run(["update", "-", try file(), "--yes", "--json"], input: list, adapter: devices)
    #expect(piped.status == 0, "\(piped.errors)")
    #expect(try piped.records.filter { $0.string("event") == "updated" }.map { $0.string("name") } == ["Sensor", "Other"])
    let none = try Blectl.run(["update", "-", try file(), "--yes"], input: [], adapter: devices)
    #expect(none.status == 64 && none.errors.contains("The list of devices is empty."), "\(none.errors)")
    // A no, or Ctrl-C, ends the command.
    for key in ["n", "\u{3}"] {
      let terminal = try terminal(["update", "Sensor", "Other", "Plain", try file()], devices)
      #expect(terminal.wait(for: "Update Sensor from 1.0.0 to 2.0.0+7? y or n:"))
      terminal.type("y")
      #expect(terminal.wait(for: "Update Other from 1.0.0 to 2.0.0+7? y or n:"))
      terminal.type(key)
      let (status, text) = terminal.finish()
      #expect(status == 130 && text.contains(" Nothing was written to Other."), "\(text)")
      #expect(text.contains(/Sensor +updated +1\.0\.0 +2\.0\.0\+7\r\nOther +stopped +- +-\r\nPlain +not tried +- +-\r\n$/), "\(text)")
    }
    // Two files do not fit, and the other device has no service. The image is of another kind than the device.
    let wrong = try Blectl.run(["update", "Sensor", "Other", Vectors.path("dfu.zip"), "--yes"], adapter: devices)
    #expect(wrong.status == 66, "\(wrong.errors)")
  }

  // MARK: Sessions and scripts

  /// The connection is a new one, with new handles and the subscriptions of the old one.
  @Test func aSessionKeepsTheConnection() throws {
    let service = #"{"uuid": "ff10", "characteristics": [{"uuid": "ff11", "properties": ["notify", "read"], "value": "01"}]}"#
    let devices = try Blectl.simulator("[\(Self.sensor), \"services\": [\(service)], \"update\": {\"mcumgr\": {}}}]")
    let lines =
      "connect Sensor\nsubscribe ff11\nupdate \(try file()) --yes\nread ff11\nfirmware confirm\nset reconnect on\nupdate \(try file())\n"
    let result = try Blectl.run(["repl", "--json"], input: Array(lines.utf8), adapter: devices)
    let records = try result.records
    #expect(result.status == 64)
    let done = records.filter { $0.string("event") == "done" && !$0.isNull("peer") }
    #expect(done.map { $0.int("status") } == [0, 0, 0, 0, 64, 0], "\(result.text) \(result.errors)")
    #expect(records.contains { $0.string("event") == "reconnected" && $0.int("subscriptions") == 1 })
    #expect(records.contains { $0.string("event") == "value" && $0.string("value") == "01" })
  }

  /// Elsewhere, a lost connection ends the session of `connect`.
  @Test func aSessionOfOneDeviceSurvivesTheRestart() throws {
    let lines = "update \(try file()) --yes\nfirmware list\n"
    let result = try Blectl.run(["connect", "Sensor"], input: Array(lines.utf8), adapter: try Self.devices())
    #expect(result.status == 0 && result.text.contains(/2\.0\.0\+7 +active confirmed/), "\(result.text) \(result.errors)")
  }

  @Test func imagesStepByStep() throws {
    let steps = "firmware upload \(try file()) --yes; firmware list; firmware test 0000; firmware info"
    let result = try Blectl.run(["-k", "-e", steps, "Sensor"], adapter: try Self.devices())
    let sentence = "No image has a hash that starts with 0000. List them: blectl firmware Sensor list"
    #expect(result.status == 2 && result.errors.contains(sentence), "\(result.errors)")
    let hash = try #require(result.text.firstMatch(of: /blectl firmware Sensor test ([0-9a-f]{8})/)?.1)
    // At a prompt, commands mean the current device.
    let lines = Array("connect Sensor\nfirmware upload \(try file()) --yes\nfirmware test 0000\nexit\n".utf8)
    let typed = try Blectl.run(["repl"], input: lines, adapter: try Self.devices())
    #expect(typed.text.contains("To start it once: firmware test \(hash)"), "\(typed.text)")
    #expect(typed.errors.contains("List them: firmware list\n"), "\(typed.errors)")
    #expect(result.text.contains(/Mode +swap scratch: the device reverts/) && result.text.contains("Slot 1"), "\(result.text)")
    let test = "firmware upload \(try file()) --yes; firmware test \(hash); firmware erase --yes"
    let tested = try Blectl.run(["-e", test, "Sensor"], adapter: try Self.devices())
    #expect(tested.text.contains(/0 +1 +2\.0\.0\+7 +pending bootable/), "\(tested.text)")
    #expect(tested.status == 5 && tested.errors.contains("The device refused the request \"erase\": "), "\(tested.errors)")
  }

  /// The next line speaks to the restarted device.
  @Test func aSessionGoesOnAfterAReset() throws {
    let hash = Hex.encode(try #require(try ImageFile(Self.image).hash).prefix(4))
    let lines = "firmware upload \(try file()) --yes; firmware test \(hash); firmware reset --yes; firmware list"
    let result = try Blectl.run(["-e", lines, "Sensor"], adapter: try Self.devices())
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.contains { $0.contains("2.0.0+7") && $0.contains("active") }, "\(result.text)")
  }

  @Test func aScriptExpectsTheVersion() throws {
    func run(_ lines: String) throws -> ProcessResult {
      let script = try TemporaryFolder.file("device Sensor\ntest a\n\(lines)\nend\n")
      return try Blectl.run(["run", script], adapter: try Self.devices())
    }
    let file = try file()
    let passed = try run(
      "expect firmware version 1.0.0\nupdate \(file) --yes\nexpect firmware version 2.0.0+7\nexpect firmware version 2.0.0.7")
    #expect(passed.status == 0, "\(passed.text) \(passed.errors)")
    let failed = try run("update \(file) --yes\nexpect firmware version 1.0.1")
    #expect(failed.status == 7 && failed.text.contains("The firmware has another version."), "\(failed.text) \(failed.errors)")
    // Nobody waits for the answers of an update.
    #expect(!failed.text.contains("da2e7828"), "\(failed.text)")
    let asks = try run("update \(file)")
    #expect(asks.status == 64 && asks.errors.contains("A script cannot ask. Add --yes"), "\(asks.errors)")
  }

  /// A script takes its file from its own folder, not from the current one.
  @Test func aRecordedScriptFindsItsFile() throws {
    let (image, other) = (try file(), TemporaryFolder.path())
    let folder = String(image.prefix(upTo: try #require(image.lastIndex(of: "/"))))
    let up = String(repeating: "../", count: FileManager.default.currentDirectoryPath.split(separator: "/").count)
    let (typed, name) = (up + image.dropFirst(), String(image.dropFirst(folder.count + 1)))
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    for (script, path) in [("\(folder)/\(name).blectl", name), ("\(other)/a.blectl", image)] {
      for words in [["update", "Sensor", typed, "--yes"], ["-e", "firmware upload \(typed) --yes", "Sensor"]] {
        let result = try Blectl.run(words + ["--record", script], adapter: try Self.devices())
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: script, encoding: .utf8)
        #expect(text.contains("\(words[0] == "update" ? "update" : "firmware upload") \(path) --yes\n"), "\(text)")
        let again = try Blectl.run(["run", script], adapter: try Self.devices())
        #expect(again.status == 0, "\(again.text) \(again.errors)")
      }
    }
  }

  /// The file is relative to the folder of the script, and is checked before the script starts.
  @Test func aScriptNamesItsFile() throws {
    let image = try file()
    let name = "./\(image.split(separator: "/").last ?? "")"
    func run(_ line: String, _ options: String...) throws -> ProcessResult {
      let script = try TemporaryFolder.file("device Sensor\nset word zz\ntest a\n\(line)\nend\n")
      return try Blectl.run(["run", script] + options, adapter: try Self.devices())
    }
    for line in ["update \(name) --yes", "firmware upload \(name) --yes"] {
      let result = try run(line)
      #expect(result.status == 0, "\(result.text) \(result.errors)")
    }
    let text = try TemporaryFolder.file("text")
    for (file, sentence) in [("none.bin", "no such file"), ("${word}.bin", "no such file"), (text, "is text, not")] {
      for line in ["update \(file) --yes", "firmware upload \(file) --yes"] {
        let result = try run(line, "--dry-run")
        #expect(result.status == 66 && result.errors.contains(":4:") && result.errors.contains(sentence), "\(result.errors)")
      }
    }
  }
}
