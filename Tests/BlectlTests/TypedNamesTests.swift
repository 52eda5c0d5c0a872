import TestSupport

/// Input from people who have not read the manual: a plain name for a device, a time with a unit.
@Suite(.timeLimit(.minutes(15))) struct TypedNamesTests {
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

  /// Without a current device, as on the command line. With one, an earlier line must have named the device.
  @Test(arguments: [
    ("read Band-7 2a19", true), ("read band-7 2a19", true), ("call Band-7 battery", true), ("notify Band-7 -n 1", true),
    ("read 2a19", false),
    ("read batt", false), ("call battery", false), ("call history from=3", false), ("write batt 00", false),
    ("connect Panel; connect Band-7; use Panel; read Band-7 2a19", true), ("connect Panel; read Band-7 2a19", false),
    ("scan -d 2 -q; connect Panel; read Band-7 2a19", false),
  ])
  func aNameInEachKindOfSession(_ line: String, _ isDevice: Bool) throws {
    for result in [
      try Blectl.run("-q", "-e", line), try Blectl.run("repl", input: Array(line.utf8)),
      try Blectl.run(["repl", "--json"], input: Array(line.replacing("; ", with: "\n").utf8)),
    ] {
      #expect((result.status == 0) == isDevice, "\(result.text.suffix(500)) \(result.errors)")
      let refused = (result.errors + result.text).contains(/No device is connected|Unknown attribute .{1,2}Band-7|Band-7 is not connected/)
      #expect(refused != isDevice, "\(result.errors)")
    }
  }

  private func errors(_ lines: String...) throws -> String {
    try Blectl.run("repl", input: Array(lines.joined(separator: "\n").utf8)).errors
  }

  @Test func aConnectedDeviceAlone() throws {
    let errors = try errors(
      "connect Band-7", "connect Panel", "subscribe Band-7", "unsubscribe band-7", "read Panel", "services Panel", "write Panel",
      "subscribe '*'; read Panel -h; read Panel --all; unsubscribe", "subscribe Panel --nonsense")
    #expect(!errors.contains("line 3") && !errors.contains("line 4"), "\(errors)")
    #expect(errors.contains("line 5: Missing ATTRIBUTE of the device Panel. For example: read Panel 2a00\n"), "\(errors)")
    #expect(errors.contains("line 7: Missing ATTRIBUTE of the device Panel. For example: write Panel fff8 …\n"), "\(errors)")
    #expect(!errors.contains("line 8") && errors.contains("line 9: Unknown option --nonsense."), "\(errors)")
  }

  @Test func aDeviceThatIsNotConnected() throws {
    let errors = try errors(
      "scan -d 2 -q", "connect Band-7", "read Panel fff7", "write panel fff8 00", "subscribe Panel", "disconnect Panel",
      "disconnect name:Nobody", "unsubscribe name:Panel")
    for number in 3...8 where number != 7 { #expect(errors.lowercased().contains("line \(number): panel is not connected. "), "\(errors)") }
    #expect(errors.contains("line 3: Panel is not connected. Connected: Band-7. To connect: connect Panel\n"), "\(errors)")
    #expect(errors.contains("line 6: Panel is not connected. Connected: Band-7. To disconnect: disconnect Band-7\n"), "\(errors)")
    #expect(errors.contains("line 7: Nobody is not connected. "), "\(errors)")
  }

  /// Mute is an assigned attribute, too.
  @Test func aDeviceWithTheNameOfAnAttribute() throws {
    let devices = ["Mute", "Band"].enumerated().map {
      #"{"name": "\#($0.element)", "address": "D1:00:00:00:01:0\#($0.offset)/random", "advertisement": {"name": "\#($0.element)"}}"#
    }
    let adapter = "sim:\(try TemporaryFolder.file("[\(devices.joined(separator: ", "))]"))"
    let lines = ["scan -d 2 -q", "connect Band", "read Mute 2a00", "write Mute 2a00 ff", "read mute", "connect name:Mute", "use Band"]
    let result = try Blectl.run(["repl"], input: Array((lines + ["read Mute 2a00"]).joined(separator: "\n").utf8), adapter: adapter)
    for number in [3, 4] {
      #expect(
        result.errors.contains("line \(number): Mute is not connected. Connected: Band. To connect: connect name:Mute\n"),
        "\(result.errors)")
    }
    #expect(result.errors.contains("has no attribute mute") && !result.errors.contains("line 8"), "\(result.errors)")
    #expect(result.lines.last == "Mute", "\(result.text)")
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
    (["read", "Band-7", "batt"], "3c  60 %\n", "batt means battery_level, 2a19 (handle 0x0011)"),
    (["read", "Band-7", "180f/battery_lev"], "3c  60 %\n", "180f/battery_lev means battery_level, 2a19 (handle 0x0011)"),
    (["read", "Band-7", "device_inf/manuf"], nil, "device_inf/manuf means manufacturer_name_string, 2a29"),
  ])
  func theBeginningOfAName(_ arguments: [String], _ text: String?, _ note: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 0 && result.errors.contains("note: \(note)"), "\(result.errors)")
    if let text { #expect(result.text == text) }
  }

  @Test func theBeginningOfAUUID() throws {
    let file = try TemporaryFolder.file(
      """
      [{"name": "Long", "address": "C0:00:00:00:00:01/random", "advertisement": {"name": "Long"}, "services": [{"uuid": "7a1e0001-5c1d-4a2b-9f00-000000000001", "characteristics": [
        {"uuid": "7a1e0002-5c1d-4a2b-9f00-000000000001", "properties": ["read"], "value": "01"},
        {"uuid": "7a1e0003-5c1d-4a2b-9f00-000000000001", "properties": ["read"], "value": "02"}]}]}]
      """)
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
    #expect(result.status == 2 && result.errors.contains("services: device_information, "), "\(result.errors)")
    let one = try Blectl.run("scan", "--service", "heart", "-d", "1", "--json")
    #expect(try one.records.compactMap { $0.string("name") }.contains("Band-7"), "\(one.text)")
    #expect(one.errors.contains("heart means heart_rate (180d)"), "\(one.errors)")
  }

  @Test func theBeginningOfADeviceThatTheSessionHasHeard() throws {
    let repl = try ReplTerminal()
    try repl.enter("scan -d 2 --json -q", "connect ban")
    try repl.says { $0.hasPrefix("note: ban means Band-7") }
    try repl.says { $0.hasPrefix("Connected to Band-7") }
    try repl.enter("-v read Pan fff7 -t 20")
    try repl.says { $0.hasPrefix("note: Pan means Panel") }
    try repl.enter("use gate")
    try repl.says { $0.contains("gate is not connected") }
    _ = repl.leave()
  }

  @Test func severalDevicesThatTheSessionHasHeard() throws {
    let devices = ["Sensor10", "Sensor2", "Lamp[1]*", "Lamp1 x"].enumerated().map {
      #"{"name": "\#($0.element)", "address": "D1:00:00:00:01:0\#($0.offset)/random", "advertisement": {"name": "\#($0.element)"}}"#
    }
    let repl = try ReplTerminal(adapter: "sim:\(try TemporaryFolder.file("[\(devices.joined(separator: ", "))]"))")
    try repl.enter("scan -d 2 --json -q", "connect sens")
    try repl.says { $0.hasPrefix("blectl: \"sens\" matches 2 devices: Sensor10, Sensor2.") }
    try repl.enter("connect Lamp[")
    try repl.says { $0.hasPrefix("Connected to Lamp[1]*") }
    _ = repl.leave()
  }

  /// In a session for programs, names must be complete, so results do not depend on other devices.
  @Test func inProgramsNamesAreWhole() throws {
    let result = try Blectl.run(["repl"], input: Array("scan -d 2 --json\nconnect ban -t 1\nconnect Band-7\n".utf8))
    #expect(result.errors.contains("line 2: Cannot find name:ban") && !result.errors.contains("means"), "\(result.errors)")
    let script = try TemporaryFolder.file("device Band-7\ntest \"t\"\nread batt\nend\n")
    let checked = try Blectl.run("run", "--dry-run", script)
    #expect(checked.status == 64 && checked.errors.contains("Unknown attribute \"batt\""), "\(checked.errors)")
  }

  // MARK: What is meant

  @Test func aScanTakesNames() throws {
    let result = try Blectl.run("scan", "Gate", "-d", "1", "--json")
    #expect(try Set(result.records.compactMap { $0.string("name") }) == ["GateLock"], "\(result.text)")
    let address = try Blectl.run("scan", "D1:00:00:00:00:02", "-d", "1", "--json")
    #expect(try Set(address.records.compactMap { $0.string("address") }) == ["D1:00:00:00:00:02"], "\(address.text)")
    let mac = try Blectl.run("scan", "mac:A4:C1:38:00:11:22", "-d", "1", "--json")
    #expect(try Set(mac.records.compactMap { $0.string("address") }) == ["D1:00:00:00:00:01"], "\(mac.text)")
  }

  @Test(
    arguments: [
      (["decode", "0a1100"], nil, "Decoding 0a1100 as att.", "Read Request"), (["decode", "0201060302f0ff"], nil, "as adv", "fff0"),
      (["decode", "04", "0e", "04", "01", "03", "0c", "00"], nil, "as hci", "Command Complete"),
      // Lines of logs and of source code.
      (["decode", "ACL Data RX: 02 0b 20 09 00 05 00 04 00 1b 15 00 00 48"], nil, "as hci", "Handle Value Notification"),
      (["decode", "ACL", "Data", "RX:", "04", "0e", "04", "01", "03", "0c", "00"], nil, "as hci", "Command Complete"),
      (["decode", "< Read Request 0a1100"], nil, "as att", "Read Request"), (["decode", "att", "Sent: 0a1100"], nil, "", "Read Request"),
      (["decode", "ATT", "> 0x0a, 0x11, 0x00"], nil, "", "Read Request"),
      (["decode", "{0x0a, 0x11, 0x00}"], nil, "as att", "Read Request"), (["decode", #"{"raw":"020106"}"#], nil, "as adv", "Flags"),
      // Standard input.
      (["decode"], "# log\n\n0a1100\n0b64\n", "Decoding standard input as att.", "Read Response"),
      (["decode", "-"], "02 01 06 03 02 f0 ff", "as adv", "fff0"), (["decode", "-"], "x > Sent: 0a1100\n", "as att", "Read Request"),
      (["decode", "-"], "> 04 0E 04\n  01 03 0C 00\n", "as hci", "Command Complete"),
      (["decode"], "\u{2}\u{1}\u{6}\u{5}\u{9}Lamp", "as adv", "Lamp"),
      (["decode", "-"], "btsnoop\0\0\0\0\u{1}\0\0\u{3}\u{ea}", "as trace", "0 command"),
    ] as [([String], String?, String, String)])
  func whatIsDecodedIsDetected(_ arguments: [String], _ input: String?, _ note: String, _ text: String) throws {
    let result = try Blectl.run(arguments, input: input?.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    #expect(result.status == 0 && result.errors.contains(note) && result.text.contains(text), "\(result.text) \(result.errors)")
  }

  @Test func theExactUUIDComesFirst() throws {
    let file = try TemporaryFolder.file(
      """
      [{"name": "Two", "address": "C0:00:00:00:00:01/random", "advertisement": {"name": "Two"}, "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "12345678", "properties": ["read"], "value": "01"},
        {"uuid": "12345678-1111-4a2b-9f00-000000000001", "properties": ["read"], "value": "02"}]}]}]
      """)
    let result = try Blectl.run(["read", "Two", "12345678"], adapter: "sim:\(file)")
    #expect(result.status == 0 && result.text.hasPrefix("01"), "\(result.text)\(result.errors)")
    let none = try Blectl.run(["read", "Two", "1234567[3]"], adapter: "sim:\(file)")
    #expect(none.status == 2 && none.errors.contains("only 2 of 1234567"), "\(none.errors)")
  }

  @Test func whatDoesNotFitTheKindThatIsDetected() throws {
    #expect(try Blectl.run("decode", "0a1100", "--summary").status == 64)
    #expect(try Blectl.run("decode", "0").status == 64)
    let commented = try TemporaryFolder.file("# a comment\n0a1100\n")
    #expect(try Blectl.run("decode", commented).errors.contains(" as att"))
    #expect(try Blectl.run("decode", "0201060302f0ff", "-t", "3").errors.contains("--timeout has no effect on decode."))
  }

  @Test func aFileToDecodeIsDetected() throws {
    let trace = TemporaryFolder.path()
    _ = try Blectl.run("--trace", trace, "read", "Band-7", "2a19")
    let result = try Blectl.run("decode", trace)
    #expect(result.status == 0 && result.errors.contains(" as trace"), "\(result.errors)")
    let scan = try TemporaryFolder.file(try Blectl.run("scan", "-n", "2", "--json").output)
    #expect(try Blectl.run("decode", scan).errors.contains(" as adv"))
    let unknown = try Blectl.run("decode", "ffffff")
    let advice = "Name its kind (adv, att, hci, value UUID, trace or firmware)"
    #expect(unknown.status == 64 && unknown.errors.contains(advice), "\(unknown.errors)")
  }

  @Test(arguments: [
    (["read", "Band-7", "batery_level"], "Did you mean battery_level?"),
    (["read", "Band-7", "all"], "blectl read name:Band-7 --all"),
    (["scan", "--service", "hart_rate"], "Did you mean heart_rate?"), (["scan", "--manufacturer", "aple"], "Did you mean apple?"),
    (["read", "unknown", "name:Band-7"], "Put the device first: blectl read name:Band-7 unknown"),
    (["write", "Band-7", "ff02", "01", "--wait", "ff01"], "To wait for an answer: --expect ff01"),
    (["read", "Bend-7", "2a19", "-t", "2"], "Did you mean Band-7?"),
    (["read", "battery_level", "Band-7"], "blectl read Band-7 battery_level"),
    (["Band-7", "read", "2a19"], "The command comes first: blectl read Band-7 2a19"), (["devices"], "Did you mean scan?"),
    (["write", "Panel", "fff6", "01", "--no-response"], "Did you mean --mode command?"),
    (["connect", "Band-7", "--conn-interval", "30"], "Did you mean --interval?"), (["scan", "--active"], "unless you add --passive"),
    (["write", "Band-7", "010203", "ff02"], "write name:Band-7 ff02 010203"), (["read", "Band-7", "17"], "0x0011 is 17"),
    (["-e", "Band-7", "read 2a19"], "blectl -e 'read 2a19' Band-7"),
    (["read", "C0:FF:EE:OO:OO:07", "2a19"], "six bytes of two hex digits"),
    (["read", "addr:C0:FF:EE:00:00:07", "2a19"], "Did you mean C0:FF:EE:00:00:07?"),
    (["services", "uuid:180d"], "Did you mean service:180d?"),
    (["read", "A4:C1:38:00:11:22", "ffe2"], "Use mac:A4:C1:38:00:11:22"),
    (["services", "mac:D1:00:00:00:00:01"], "without the prefix: D1:00:00:00:00:01"),
    (["read", "Band-7", "180d/2a19"], "in another service: 180f/2a19"), (["read", "Panel", "fff7/2901"], "Its descriptor is fff7@2901"),
    (["-e", "write ff02 1b9901; wait ff01 567b", "Band-7"], "wait ff01=567b"), (["-e", "wait 2s", "Band-7"], "To pause: sleep 2s"),
    (["-e", "read 2a19, write ff02 01", "Band-7"], "Separate commands with a semicolon"),
    (["decode", "2a19", "3c"], "decode value 2a19 3c"),
    (["write", "Panel", "fff8", "\\x1b"], "without \\x"), (["write", "Panel", "fff8", "300", "--as", "u8"], "use u16le or u16be"),
    (["write", "Band-7", "ff02", "01", "--expect", "ff01:567b"], "ff01=567b"), (["scan", "--min-rssi", "60"], "Did you mean -60?"),
    (["scan", "Band-7", "D1:00:00:00:00:02"], "Give names or addresses, not both."), (["scan", "AA:BB"], "Invalid address"),
    (["alias", "D1:00:00:00:00:01", "door"], "The alias comes first: blectl alias door D1:00:00:00:00:01"),
    (["alias", "door"], "blectl alias door PEER"), (["alias", "door=Band-7"], "blectl alias door Band-7"),
    (["alias", "@door", "Band-7"], "Omit the @: door"), (["connect", "@door"], "To define it: blectl alias door PEER"),
    (["man", "scan"], "man blectl. For the help of a command: blectl scan --help"), (["man"], "man blectl."),
    (["replay", "my trace"], "blectl -i replay:'my trace' scan"),
    (["wait", "-i", "sim", "ff01=567b", "Band-7", "-n", "3"], "blectl -e 'wait ff01=567b -n 3' Band-7"),
    (["sleep", "2"], "To start one: blectl repl. To run only this: blectl -e 'sleep 2'\n"), (["rssi"], "blectl -e rssi PEER"),
    (["subscribe", "Band-7", "2a37"], "subscribe is a command of sessions. Use: blectl notify Band-7 2a37\n"),
    (["raed", "-h"], "Did you mean read?"),
    (["-e", "read 2a19", "read 2a00", "Band-7"], "blectl -e 'read 2a19; read 2a00' Band-7"),
    (["-e", "read 2a19", "read 2a00"], "blectl -e 'read 2a19; read 2a00' PEER"),
    (["connect", "name", "Band-7"], "as one word: blectl connect name:Band-7"),
    (["read", "service", "180d", "2a19", "--json"], "as one word: blectl read service:180d 2a19"),
    (["connect", "name=Band-7"], "Did you mean name:Band-7?"), (["connect", "name"], "as in name:Band-7"),
    (["connect", "Ba", "-t", "2"], "(Band-7, GateLock, Panel, SafeLock). Did you mean Band-7?"),
    (["connect", "an", "-t", "2"], "Try 'name:*an*'"),
    (["scan", "Band-7", "--sort", "-rssi"], "without a hyphen: --sort rssi"),
    (["scan", "--sort", "rssi", "--raw"], "--raw prints packets as they arrive. Omit one of them."),
    (["decode", "value", "3c", "2a19"], "blectl decode value 2a19 3c"), (["decode", "3c", "2a19"], "blectl decode value 2a19 3c"),
    (["decode", "0a120"], "odd number of digits"),
    (["write", "Band-7", "1b9901", "ff02"], "comes before the value: blectl write name:Band-7 ff02 1b9901"),
    (["-e", "write 1b9901 ff02", "Band-7"], "comes before the value: write ff02 1b9901"),
    (["write", "Band-7", "ff02=1b9901"], "Did you mean: blectl write Band-7 ff02 1b9901"),
    (["-e", "write ff02:1b9901", "Band-7"], "Did you mean: write ff02 1b9901"),
    (["read", "Band-7", "Battery", "Level"], "Did you mean battery_level?"),
    (["write", "Band-7", "Battery", "Level", "01"], "one word: battery_level"),
    (["read", "Band-7", "2a19", "--format", "json"], "Use --json"), (["read", "Band-7", "2a19", "--format", "u8"], "--as u8"),
    (["read", "Band-7", "2a19", "--as", "hexx"], "Did you mean hex?"),
    (["call", "Band-7", "history", "from", "3"], "name=value: from=3"),
    (["services", "Band-7", "--csv"], "read, run and scan take it. For records here, use --json."),
    (["tune", "Panel", "fff6", "--verify", "notify:fff7", "--svg", "-"], "--svg takes the name of a file"),
    // Values and addresses in several words.
    (["write", "Band-7", "ff02", "1b9901", "--expect", "ff01", "567b"], "first bytes: --expect ff01=567b\n"),
    (["write", "Band-7", "ff02", "1b9901", "--expect", "567b"], "write its attribute before it: ATTRIBUTE=567b"),
    (["write", "Band-7", "ff02", "1b9901", "--expect", "567b3c0d00"], "write its attribute before it: ATTRIBUTE=567b3c0d00"),
    (["call", "Band-7", "battery", "--expect", "ff01"], "Without a file: write PEER ATTRIBUTE VALUE --expect ff01=567b"),
    (["notify", "Band-7", "ff01", "--expect", "ff01"], "blectl -e 'wait ff01=567b' PEER"),
    (["write", "Band-7", "ff02", "27", "153", "1"], "'27 153 1' --as u8 (decimal)"),
    (["write", "Band-7", "ff02", "27,153,1"], "For decimal numbers, use --as u8."),
    (["mac-from-adv", "A4", "C1", "38", "00", "11", "22"], "Did you mean: blectl mac-from-adv A4:C1:38:00:11:22\n"),
    (["connect", "A4", "C1", "38", "00", "11", "22", "-q"], "Did you mean: blectl connect A4:C1:38:00:11:22 -q\n"),
    (["mac-from-adv", "learn", "A4:C1:38:00:11:22"], "Did you mean --learn?"), (["mac-from-adv", "Panel"], "on the label: --learn MAC"),
    (["call", "battery"], "The device comes first: call PEER battery"),
    // Commands of other programs, and commands in the place of an option.
    (["send", "Band-7", "ff02", "f"], "For a file: send-file."), (["record", "my log"], "blectl --record 'my log' COMMAND"),
    (["hcitool", "lescan"], "Did you mean scan?"), (["read_gatt_char", "Band-7"], "Did you mean read?"),
    (["power", "on"], "blectl doctor"),
    (["alias", "delete", "door"], "blectl alias --delete door"), (["alias", "rm", "@door"], "blectl alias --delete door"),
    (["config", "timeout"], #"{"defaults": {"timeout": VALUE}}"#), (["config", "timeout", "5"], #"{"defaults": {"timeout": 5}}"#),
    (["config", "set", "mode", "request"], #"{"defaults": {"mode": "request"}}"#), (["config", "--set", "timeout=5"], "into config.json"),
    (["completion", "bash"], "source <(blectl --generate-completion-script bash)"),
    (["--completion", "fish"], "blectl --generate-completion-script fish | source"),
    // Options in the wrong place, and those of other programs.
    (["-b", "C0:FF:EE:00:00:07", "read", "2a19"], "Use: blectl read C0:FF:EE:00:00:07 2a19\n"),
    (["--char-read", "-a", "0x2a", "-b", "C0:FF:EE:00:00:07"], "Use: blectl gatttool --char-read -a 0x2a -b C0:FF:EE:00:00:07\n"),
    (["--replay", "s.btsnoop", "scan"], "blectl -i replay:s.btsnoop scan"), (["-n", "3", "--json", "scan"], "blectl --json scan -n 3"),
    (["-i", "sim", "Band-7", "-e", "read 2a19", "--json"], "blectl -i sim --json -e 'read 2a19' Band-7"),
    (["replay:s.btsnoop", "scan", "-d", "1"], "needs -i: blectl -i replay:s.btsnoop scan -d 1\n"),
    (["scan", "replay:s.btsnoop"], "needs -i: blectl scan -i replay:s.btsnoop"),
    (["scan", "-i", "my.json"], "Did you mean sim:my.json?"), (["scan", "-i", "s.pcapng"], "Did you mean replay:s.pcapng?"),
    (["scan", "-i", "simulator"], "Did you mean sim?"), (["scan", "-i", "1"], "Did you mean hci1?"),
    (["scan", "--company", "apple"], "Did you mean --manufacturer?"), (["scan", "--uuids", "180d"], "Did you mean --service?"),
    (["scan", "-u", "180d"], "Did you mean --service?"), (["read", "Band-7", "-u", "2a19"], "Write the attribute without an option"),
    (["send-file", "Panel", "fff6", "f", "--continue"], "Did you mean --resume?"),
    (["run", "--continue", "f"], "Did you mean --keep-going?"),
    (["write", "Panel", "fff6", "00", "--chunk-size", "9"], "Did you mean --chunk?"), (["scan", "--list"], "Did you mean --devices?"),
    (["scan", "--time", "5s"], "For a time limit: --duration 5s"), (["run", "--report", "x", "f"], "Reports are --junit FILE"),
    (["run", "--test", "x", "f"], "Did you mean --only?"), (["services", "Band-7", "--svg", "x"], "It belongs to notify, tune."),
    (["notify", "Band-7", "2a37", "--every", "5"], "read PEER ATTRIBUTE --every SECONDS"),
    (["services", "Band-7", "-d", "5"], "For a time limit: --timeout."), (["services", "Band-7", "-o", "x"], "use --json"),
  ])
  func whatWasMeant(_ arguments: [String], _ mention: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status != 0 && result.errors.contains(mention), "\(result.errors)")
  }

  /// A scan for a word that no device has as its name succeeds, but the note shows what the word may mean.
  @Test(arguments: [
    (["5"], "For the scan time: --duration 5"), (["180d"], "For devices with a service: --service 180d"),
    (["help"], "For the help: blectl scan --help"), (["on"], "Leave out \"on\": blectl scan\n"),
    (["-t", "2", "-d", "1"], "no effect on scan. To limit its time: --duration 2"),
  ])
  func whatAScanMayMean(_ words: [String], _ mention: String) throws {
    let result = try Blectl.run(["scan"] + words)
    #expect(result.status == 0 && result.errors.contains(mention), "\(result.errors)")
  }

  @Test func aFileAsAValue() throws {
    let path = try TemporaryFolder.file([1, 2])
    let result = try Blectl.run("write", "Panel", "fff8", path)
    #expect(result.status == 64 && result.errors.contains("is a file. To write its bytes as one value: @\(path). "), "\(result.errors)")
    #expect(try Blectl.run("write", "Panel", "fff8", "@\(path)").status == 0)
  }

  @Test func aConnectionIntervalOfASecond() throws {
    let result = try Blectl.run("read", "Band-7", "2a19", "--interval", "1000")
    #expect(result.status == 0 && result.errors.contains("To read every 1 s: --every 1\n"), "\(result.errors)")
    #expect(try !Blectl.run("read", "Band-7", "2a19", "--interval", "30").errors.contains("--every"))
  }

  @Test func aSwappedAlias() throws {
    let state = ["XDG_STATE_HOME": TemporaryFolder.path()]
    let unheard = try Blectl.run(["alias", "door", "Band-7"], environment: state)
    #expect(unheard.status == 0 && unheard.errors.contains("@door means name:Band-7, which blectl has not heard yet."), "\(unheard.errors)")
    #expect(try Blectl.run(["connect", "@door"], environment: state).status == 0)
    let swapped = try Blectl.run(["alias", "Band-7", "gate"], environment: state)
    #expect(swapped.status == 64 && swapped.errors.contains("The alias comes first: blectl alias gate Band-7"), "\(swapped.errors)")
    let known = try Blectl.run(["alias", "gate", "Band-7"], environment: state)
    #expect(known.status == 0 && known.errors.isEmpty, "\(known.errors)")
  }

  /// A log of `-vv` has progress messages. A recorded script is no recording.
  @Test func filesThatAreNoTraces() throws {
    let log = try TemporaryFolder.file(try Blectl.run("-vv", "read", "Band-7", "2a19").errors)
    for words in [["decode", log], ["decode", "trace", log], ["decode", "att", log]] {
      let result = try Blectl.run(words)
      #expect(result.status == 0 && result.text.contains("Read By Type Response  handle 0x0011"), "\(result.errors)")
      #expect(result.errors.contains("Skipped 2 lines of \"\(log)\" without a packet."), "\(result.errors)")
    }
    let script = try TemporaryFolder.file("device Band-7\n\ntest \"recorded\"\n  read 2a19\nend\n")
    for words in [["decode", script], ["decode", "trace", script], ["scan", "-i", "replay:\(script)"]] {
      let result = try Blectl.run(words)
      #expect(result.status == 66 && result.errors.contains("Run it: blectl run \(script)"), "\(result.errors)")
    }
    let empty = try TemporaryFolder.file(Array("btsnoop\0\0\0\0\u{1}\0\0\u{3}".utf8) + [0xEA])
    let scan = try Blectl.run("scan", adapter: "replay:\(empty)")
    #expect(scan.errors.contains("shows no device. To see what it has: blectl decode trace \(empty)"), "\(scan.errors)")
  }

  @Test func onATerminalTheTimeIsCountedDown() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "read", "Nobody", "2a19", "-t", "3"], columns: 80, rows: 24, environment: ["BLECTL_CLOCK": "virtual"])
    let (status, text) = terminal.finish()
    #expect(status == 2)
    #expect(text.contains("Looking for name:Nobody: 2 s left, 5 devices heard"), "\(text)")
  }
}
