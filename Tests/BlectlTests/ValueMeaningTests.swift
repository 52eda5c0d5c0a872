import Foundation
import TestSupport

/// A value means the same everywhere: names.json, 2901 and 2904 apply to one-shot commands, sessions and scripts.
@Suite(.timeLimit(.minutes(15))) struct ValueMeaningTests {
  private static let meter = "name:meter"
  private static let description = "Outdoor \u{1B}[31mtemperature"
  private let file = TemporaryPath()
  private var adapter: String { "sim:\(file.path)" }

  init() throws {
    let sends = #""periodic": {"every_ms": 500, "values": [{"i16le": -253}]}, "#
    try file.write(
      Array(
        DescriptorTests.meter.replacingOccurrences(
          of: #""value": {"i16le": -253},"#, with: #""value": {"i16le": -253}, \#(sends)"#
        ).utf8))
  }

  private func blectl(_ arguments: String..., input: String? = nil) throws -> Blectl.Result {
    try Blectl.run(arguments, input: input.map { Array($0.utf8) }, adapter: adapter)
  }

  private static func isTemperature(_ record: Record?) -> Bool {
    record?["decoded"]?["value"]?.double("value") == -2.53 && record?["decoded"]?["value"]?.string("unit") == "°C"
      && record?.string("user_description") == description
  }

  /// A one-shot command sends no unnecessary requests. With -v, and in a session, it reads the descriptors.
  @Test func readsAskWhereItIsWorthIt() throws {
    #expect(try blectl("read", Self.meter, "fff1").text == "03ff\n")
    for arguments in [["read", Self.meter, "fff1", "-v"], ["-e", "read fff1", Self.meter]] {
      let result = try Blectl.run(arguments, adapter: adapter)
      #expect(result.text == "03ff  -2.53 °C\n", "\(result.errors)")
      #expect(Self.isTemperature(try Blectl.run(arguments + ["--json"], adapter: adapter).records.first))
    }
    // Parts of an aggregate format.
    #expect(try blectl("-e", "read fff2", Self.meter).text == "0107300100  value true, value 77831\n")
  }

  /// A read by handle is one request, whatever the output options.
  @Test(arguments: [["read", meter, "0x000c", "-vv"], ["read", meter, "0x000c", "--json", "-vv"]])
  func aHandleIsOneRequest(_ arguments: [String]) throws {
    let result = try Blectl.run(arguments, adapter: adapter)
    #expect(result.status == 0)
    #expect(result.errors.matches(of: /< [A-Z][A-Za-z ]+ [0-9a-f]+/).count == 1, "\(result.errors)")
  }

  /// Each descriptor is read once per link.
  @Test func descriptorsAreReadOnce() throws {
    let result = try blectl("-e", "read fff1; read fff1; notify fff1 -n 2; read fff1; subscribe fff1; sleep 2", Self.meter, "-vv")
    let handles = result.errors.matches(of: /< Read Request 0a(\w{4})/).map { String($0.1) }
    #expect(handles.filter { $0 == "0e00" }.count == 1 && handles.filter { $0 == "0f00" }.count == 1, "\(result.errors)")
  }

  @Test func whatComesByItself() throws {
    for arguments in [
      ["notify", Self.meter, "fff1", "-n", "1", "-v"], ["-e", "notify fff1 -n 1", Self.meter], ["-e", "wait fff1", Self.meter],
      ["-e", "subscribe fff1; sleep 0.7", Self.meter],
    ] {
      let result = try Blectl.run(arguments, adapter: adapter)
      #expect(result.lines.first?.hasSuffix(" fff1 03ff  -2.53 °C") == true, "\(result.text)\(result.errors)")
      #expect(Self.isTemperature(try Blectl.run(arguments + ["--json"], adapter: adapter).records.first), "\(arguments)")
    }
    let silent = try blectl("notify", Self.meter, "fff1", "-n", "1")
    #expect(silent.lines.first?.hasSuffix(" fff1 03ff") == true, "\(silent.text)")
    let late = try blectl("-e", "wait fff1=77 -t 1", Self.meter)
    #expect(late.status == 4 && late.errors.contains("Last value: 03ff  -2.53 °C"), "\(late.errors)")
  }

  @Test func scriptsExpectIt() throws {
    let script = try TemporaryFolder.file(
      """
      device name:meter
      test "read"
        read fff1
        expect field value.value == -2.53
        expect field user_description contains temperature
        expect fff1 field value.value in -3..-2 within 2s
      end
      test "shown"
        read fff1
        expect == 0000
      end
      """)
    let result = try Blectl.run(["run", script], adapter: adapter)
    #expect(result.status == 7 && result.text.contains("1 passed") && result.text.contains("03ff  -2.53 °C"), "\(result.text)")
  }

  /// A replay of the same commands finds every request in the trace. A shorter trace still works.
  @Test func replays() throws {
    let (trace, short) = (TemporaryPath(), TemporaryPath())
    let commands = ["-e", "read fff1; notify fff1 -n 1", Self.meter, "--json"]
    let live = try Blectl.run(["--trace", trace.path] + commands, adapter: adapter)
    let replayed = try Blectl.run(commands, adapter: "replay:\(trace.path)", virtual: false)
    #expect(Self.isTemperature(try live.records.first) && replayed.text == live.text, "\(replayed.text)\(replayed.errors)")
    #expect(try Blectl.run(["--trace", short.path, "notify", Self.meter, "fff1", "-n", "1"], adapter: adapter).status == 0)
    let raw = try Blectl.run(["-e", "notify fff1 -n 1", Self.meter], adapter: "replay:\(short.path)")
    #expect(raw.status == 0 && raw.lines.first?.hasSuffix(" fff1 03ff") == true, "\(raw.text)\(raw.errors)")
  }

  // MARK: Names

  @Test func namesOfTheUser() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true)
    try Data(#"{"uuids": {"2a19": "Charge", "fff1": "Outside"}}"#.utf8).write(to: URL(fileURLWithPath: folder + "/blectl/names.json"))
    for arguments in [
      ["read", Self.meter, "fff1"], ["read", Self.meter, "outside"], ["notify", Self.meter, "fff1", "-n", "1"],
      ["-e", "wait fff1", Self.meter],
    ] {
      let result = try Blectl.run(arguments + ["--json"], environment: ["XDG_CONFIG_HOME": folder], adapter: adapter)
      #expect(try result.records.first?.string("uuid_name") == "Outside", "\(result.text)\(result.errors)")
    }
    let charge = try Blectl.run(["read", Self.meter, "2a19", "--json"], environment: ["XDG_CONFIG_HOME": folder], adapter: adapter)
    #expect(try charge.records.first?["decoded"]?["battery_level"]?.int("value") == 60)
    #expect(try blectl("read", Self.meter, "2a19", "--json").records.first?.keys.contains("uuid_name") == false)
  }

  // MARK: What earlier commands have found

  @Test func aCachedDatabaseDecodes() throws {
    let air = try ListeningAir([file.path])
    let state = TemporaryFolder.path()
    func run(_ arguments: String..., adapter: String? = nil) throws -> Blectl.Result {
      try Blectl.run(
        arguments, environment: ["XDG_STATE_HOME": state], adapter: adapter ?? air.adapter, virtual: adapter != nil)
    }
    #expect(try run("read", Self.meter, "0x001c").text == "3c\n")
    #expect(try run("services", Self.meter).status == 0)
    // The types of all attributes are known, but values that were never read are not.
    let level = try run("read", Self.meter, "0x001c", "-vv")
    #expect(level.text == "3c  60 %\n", "\(level.text)")
    #expect(level.errors.matches(of: /< [A-Z][A-Za-z ]+ [0-9a-f]+/).count == 1, "\(level.errors)")
    let (byHandle, byType) = (try run("read", Self.meter, "0x001c", "--json"), try run("read", Self.meter, "2a19", "--json"))
    let time = #/"time":"[^"]*",/#
    #expect(
      byHandle.text.replacing(time, with: "") == byType.text.replacing(time, with: "") && byHandle.text.contains("2a19"),
      "\(byHandle.text)\(byType.text)")
    #expect(try run("read", Self.meter, "0x000c").text == "03ff\n")
    #expect(try run("services", Self.meter, "--values").status == 0)
    #expect(try run("read", Self.meter, "0x000c").text == "03ff  -2.53 °C\n")
    #expect(Self.isTemperature(try run("read", Self.meter, "fff1", "--json").records.first))
    // A command that discovers without reading descriptors keeps them in the cache.
    let heard = try run("notify", Self.meter, "fff1", "-n", "1")
    #expect(heard.lines.first?.hasSuffix(" fff1 03ff  -2.53 °C") == true, "\(heard.text)\(heard.errors)")
    #expect(try run("read", Self.meter, "fff2").text == "0107300100  value true, value 77831\n")
    // The simulated air in this process is a different one, with the same addresses.
    #expect(try run("read", Self.meter, "0x000c", adapter: adapter).text == "03ff\n")
  }

  /// The device has changed since: unsuitable values are not decoded, and there is no error.
  @Test func aStaleCacheIsAHintOnly() throws {
    let air = try ListeningAir([file.path])
    let state = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: state + "/blectl", withIntermediateDirectories: true)
    func write(_ attributes: String, peer: String = "D1:00:00:00:00:33/random", air name: String? = nil) throws {
      let line = #"{"air":"\#(name ?? air.adapter)","peer":"\#(peer)","name":"Meter","attributes":[\#(attributes)]}"# + "\n"
      try Data(line.utf8).write(to: URL(fileURLWithPath: state + "/blectl/attributes"))
    }
    func read(_ attribute: String) throws -> Record? {
      let result = try Blectl.run(
        ["read", Self.meter, attribute, "--json"], environment: ["XDG_STATE_HOME": state], adapter: air.adapter, virtual: false)
      #expect(result.status == 0, "\(result.errors)")
      return try result.records.first
    }
    // Two bytes are not a battery level.
    try write(#"{"service":"180f","uuid":"2a19","handle":12,"properties":2}"#)
    #expect(try read("0x000c")?.isNull("uuid") == true && read("0x000c")?.keys.contains("decoded") == false)
    try write(#"{"service":"fff0","uuid":"fff1","handle":12,"properties":2,"formats":["0800002701 0000"]}"#)
    #expect(try read("fff1")?.string("uuid") == "fff1" && read("fff1")?.keys.contains("decoded_error") == false)
    let right = #"{"service":"fff0","uuid":"fff1","handle":12,"properties":2,"user_description":"Old","formats":["0efe2f27010000"]}"#
    try write(right)
    #expect(try read("0x000c")?["decoded"]?["value"]?.double("value") == -2.53 && read("0x000c")?.string("user_description") == "Old")
    for (peer, other) in [("D1:00:00:00:00:33/public", nil), ("D1:00:00:00:00:34/random", nil), ("D1:00:00:00:00:33/random", "hci")] {
      try write(right, peer: peer, air: other)
      #expect(try read("0x000c")?.keys.contains("decoded") == false)
    }
  }
}
