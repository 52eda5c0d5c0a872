import TestSupport
import Testing

/// What people type without reading the manual: a plain name for a device, a time with a unit.
@Suite(.timeLimit(.minutes(5))) struct TypedNamesTests {
  @Test func aWordIsTheNameOfADevice() throws {
    let read = try Blectl.run("read", "Band-7", "battery_level")
    #expect(read.status == 0 && read.text == "3c  60 %\n", "\(read.errors)")
    let execute = try Blectl.run("-q", "-e", "read battery_level", "Band-7")
    #expect(execute.status == 0 && execute.text == "3c  60 %\n", "\(execute.errors)")
  }

  @Test func inASession() throws {
    let result = try Blectl.run("-q", "repl", input: Array("connect Band-7\nread battery_level\ndisconnect Band-7\n".utf8))
    #expect(result.status == 0 && result.text.contains("3c  60 %"), "\(result.text) \(result.errors)")
  }

  @Test func inAScript() throws {
    let script = TemporaryPath()
    try script.write(Array("device Band-7\ntest \"battery\"\n  read 2a19\n  expect == 3c\nend\n".utf8))
    let result = try Blectl.run("run", script.path)
    #expect(result.status == 0, "\(result.text) \(result.errors)")
  }

  @Test func aNameThatIsNotHeard() throws {
    let result = try Blectl.run("read", "Band-8", "2a19")
    #expect(result.status == 2 && result.errors.contains("name:Band-8"), "\(result.errors)")
  }

  @Test(arguments: [
    ["scan", "-d", "1500ms"], ["scan", "--duration", "1s"], ["read", "Band-7", "2a19", "-t", "1m"],
    ["write", "Panel", "fff8", "00", "--gap", "2ms"], ["read", "Band-7", "2a19", "--interval", "0.03s"],
    ["-e", "sleep 20ms; set timeout 2s; read 2a19", "Band-7"], ["mac-from-adv", "-d", "500ms"],
  ])
  func timesHaveUnits(_ arguments: [String]) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0, "\(arguments): \(result.errors)")
  }

  @Test func aScanThatHearsNothingSaysWhy() throws {
    let result = try Blectl.run("scan", "--phy", "coded", "-d", "2")
    #expect(result.status == 0 && result.errors.contains("--phy 1m,coded"), "\(result.errors)")
  }

  @Test func unitsAreKept() throws {
    let result = try Blectl.run("scan", "-d", "1500ms", "-n", "100")
    #expect(result.errors.contains(" in 1.5 s"), "\(result.errors)")
  }

  // MARK: Abbreviations

  @Test(arguments: [
    (["read", "Band-7", "batt"], "3c  60 %\n", "batt means 2a19 (handle 0x0011)"),
    (["read", "Band-7", "180f/battery_lev"], "3c  60 %\n", "180f/battery_lev means 2a19 (handle 0x0011)"),
    (["read", "Band-7", "device_inf/manuf"], nil, "device_inf/manuf means 2a29"),
  ])
  func theBeginningOfAName(_ arguments: [String], _ text: String?, _ note: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0 && result.errors.contains("note: \(note)"), "\(result.errors)")
    if let text { #expect(result.text == text) }
  }

  @Test func theBeginningOfAUUID() throws {
    let file = try TemporaryFolder.file(
      Array(
        """
        [{"name": "Long", "address": "C0:00:00:00:00:01/random", "advertisement": {"name": "Long"}, "services": [{"uuid": "7a1e0001-5c1d-4a2b-9f00-000000000001", "characteristics": [
          {"uuid": "7a1e0002-5c1d-4a2b-9f00-000000000001", "properties": ["read"], "value": "01"},
          {"uuid": "7a1e0003-5c1d-4a2b-9f00-000000000001", "properties": ["read"], "value": "02"}]}]}]
        """.utf8))
    for name in ["7a1e0002", "7A1E0002", "7a1e0002-5c1d", "7a1e0001/7a1e0002"] {
      let result = try Blectl.run(["read", "Long", name], adapter: "sim:\(file)")
      #expect(result.status == 0 && result.text.hasPrefix("01"), "\(name): \(result.errors)")
      #expect(result.errors.contains("note: \(name) means 7a1e0002-5c1d-4a2b-9f00-000000000001"), "\(result.errors)")
    }
    let several = try Blectl.run(["read", "Long", "7a1e0"], adapter: "sim:\(file)")
    #expect(several.status == 2 && several.errors.contains("2 attributes match 7a1e0: "), "\(several.errors)")
    let none = try Blectl.run(["read", "Long", "7a1e0009"], adapter: "sim:\(file)")
    #expect(none.status == 2 && none.errors.contains("has no attribute 7a1e0009"), "\(none.errors)")
  }

  @Test func severalNamesBeginSo() throws {
    let result = try Blectl.run("scan", "--service", "device", "-d", "1")
    #expect(result.status == 2 && result.errors.contains("services start with device: device_information, "), "\(result.errors)")
    let one = try Blectl.run("scan", "--service", "heart", "-d", "1", "--json")
    #expect(try one.records.compactMap { $0.string("name") }.contains("Band-7"), "\(one.text)")
    #expect(one.errors.contains("heart means heart_rate (180d)"), "\(one.errors)")
  }

  @Test func theBeginningOfADeviceThatTheSessionHasHeard() throws {
    let lines = "scan -d 2 --json\nconnect ban\nread Pan fff7 -t 20\nread Band-7 2a19\nconnect gate\nconnect Nobody -t 1\n"
    let result = try Blectl.run(["repl"], input: Array(lines.utf8))
    #expect(result.errors.contains("note: ban means Band-7") && result.errors.contains("note: Pan means Panel"), "\(result.errors)")
    #expect(result.errors.contains("note: gate means GateLock") && result.text.contains("3c  60 %\n"), "\(result.text)")
    #expect(result.errors.contains("line 6: Cannot find name:Nobody"), "\(result.errors)")
    let several = try Blectl.run(["repl"], input: Array("scan -d 2 --json\nconnect x\nconnect \"\"\n".utf8))
    #expect(!several.errors.contains("means"), "\(several.errors)")
  }

  // MARK: What is meant

  @Test func aScanTakesNames() throws {
    let result = try Blectl.run("scan", "Gate", "-d", "1", "--json")
    #expect(try Set(result.records.compactMap { $0.string("name") }) == ["GateLock"], "\(result.text)")
    let address = try Blectl.run("scan", "D1:00:00:00:00:02", "-d", "1", "--json")
    #expect(try Set(address.records.compactMap { $0.string("address") }) == ["D1:00:00:00:00:02"], "\(address.text)")
    #expect(try Blectl.run("scan", "mac:A4:C1:38:00:11:22").errors.contains("blectl mac-from-adv mac:A4:C1:38:00:11:22"))
  }

  @Test(arguments: [
    (["decode", "0a1100"], "decoding 0a1100 as att", "Read Request"), (["decode", "0201060302f0ff"], "as adv", "fff0"),
    (["decode", "04", "0e", "04", "01", "03", "0c", "00"], "as hci", "Command Complete"),
  ])
  func whatIsDecodedIsDetected(_ arguments: [String], _ note: String, _ text: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0 && result.errors.contains(note) && result.text.contains(text), "\(result.text) \(result.errors)")
  }

  @Test func aFileToDecodeIsDetected() throws {
    let trace = TemporaryFolder.path()
    _ = try Blectl.run("--trace", trace, "read", "Band-7", "2a19")
    let result = try Blectl.run("decode", trace)
    #expect(result.status == 0 && result.errors.contains(" as trace"), "\(result.errors)")
    let scan = try TemporaryFolder.file(try Blectl.run("scan", "-n", "2", "--json").output)
    #expect(try Blectl.run("decode", scan).errors.contains(" as adv"))
    let unknown = try Blectl.run("decode", "ffffff")
    #expect(unknown.status == 64 && unknown.errors.contains("Name its kind (adv, att, hci, value UUID or trace)"), "\(unknown.errors)")
  }

  @Test(arguments: [
    (["read", "Band-7", "batery_level"], "Did you mean battery_level?"),
    (["read", "Band-7", "all"], "blectl services name:Band-7 --values"),
    (["scan", "--service", "hart_rate"], "Did you mean heart_rate?"), (["scan", "--manufacturer", "aple"], "Did you mean apple?"),
    (["read", "unknown", "name:Band-7"], "The device comes first: read name:Band-7 unknown"),
    (["write", "Band-7", "ff02", "01", "--wait", "ff01"], "To wait for an answer: --expect ff01"),
    (["read", "Bend-7", "2a19", "-t", "2"], "Did you mean Band-7?"),
  ])
  func whatWasMeant(_ arguments: [String], _ mention: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status != 0 && result.errors.contains(mention), "\(result.errors)")
  }

  @Test func onATerminalTheTimeIsCountedDown() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "read", "Nobody", "2a19", "-t", "3"], columns: 80, rows: 24, environment: ["BLECTL_CLOCK": "virtual"])
    let (status, text) = terminal.finish()
    #expect(status == 2)
    #expect(text.contains("Looking for name:Nobody: 2 s left, 4 devices heard"), "\(text)")
  }
}
