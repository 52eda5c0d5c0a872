import Foundation
import TestSupport

@testable import CommandLine

/// `config.json` holds defaults for options and devices. `config` shows them, and `alias` names devices.
@Suite(.timeLimit(.minutes(15))) struct OptionDefaultsTests {
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/blectl/config.json" }

  init() throws { try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true) }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

  private func blectl(_ arguments: String..., input: String? = nil, with variables: [String: String] = [:], adapter: String? = "sim") throws
    -> Blectl.Result
  {
    let own = ["XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder]
    return try Blectl.run(arguments, input: input.map { Array($0.utf8) }, environment: own.merging(variables) { $1 }, adapter: adapter)
  }

  private func mtu(_ arguments: String...) throws -> Int? {
    try Blectl.run(["connect", "--json"] + arguments, environment: ["XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder]).records.first?
      .int("mtu")
  }

  // MARK: Precedence

  @Test func theDeviceComesBeforeAllDevices() throws {
    try write(#"{"defaults": {"mtu": 100}, "devices": {"C0:FF:EE:00:00:07": {"mtu": 50}, "name:Pan*": {"mtu": 60}, "@door": {"mtu": 23}}}"#)
    #expect(try blectl("alias", "door", "D1:00:00:00:00:01").status == 0)
    // The address is known after the search, whatever the user typed.
    #expect(try mtu("Band-7") == 50 && mtu("C0:FF:EE:00:00:07") == 50 && mtu("mac:C0:FF:EE:00:00:07") == 50)
    let panel = try (mtu("Panel"), mtu("D1:00:00:00:00:10/random"))
    #expect(panel == (60, 60), "\(panel)")
    #expect(try mtu("@door") == 23 && mtu("Band-7", "--mtu", "80") == 80)
    let session = try blectl("repl", "--json", input: "connect Band-7\nconnect @door\n")
    #expect(try session.records.compactMap { $0.int("mtu") }.sorted() == [23, 50], "\(session.text)\(session.errors)")
  }

  @Test func theEnvironmentComesBeforeTheFile() throws {
    try write(#"{"defaults": {"adapter": "sim", "color": "always"}}"#)
    #expect(try blectl("read", "Band-7", "2a19", adapter: nil).status == 0)
    #expect(try blectl("read", "Band-7", "2a19", adapter: "hci77").status == 3)
    #expect(try blectl("-i", "sim", "read", "Band-7", "2a19", adapter: "hci77").status == 0)
    let words = ["-i", "sim", "notify", "Band-7", "2a37", "-n", "1"]
    let own = ["XDG_CONFIG_HOME": folder]
    #expect(try Blectl.run(words, environment: own).text.contains("\u{1b}["))
    #expect(try !Blectl.run(words, environment: own.merging(["NO_COLOR": "1"]) { $1 }).text.contains("\u{1b}["))
    #expect(try !Blectl.run(words + ["--color", "never"], environment: own).text.contains("\u{1b}["))
  }

  @Test func theOptionsHaveTheirEffect() throws {
    try write(#"{"defaults": {"as": "hex", "timeout": "2s"}, "devices": {"Panel": {"mode": "reliable", "device": "none.json"}}}"#)
    #expect(try blectl("read", "Band-7", "2a19").text == "3c\n" && blectl("read", "Band-7", "2a19", "--as", "u8").text == "60\n")
    #expect(try blectl("-e", "read 2a19; set format u8; read 2a19", "Band-7").text == "3c\n60\n")
    let silent = try blectl("notify", "Band-7", "ff01")
    #expect(silent.status == 4 && silent.errors.contains("none for 2 s"), "\(silent.errors)")
    #expect(try blectl("write", "Panel", "fff8", "00", "--json").records.first?.string("mode") == "reliable")
    #expect(try blectl("write", "Panel", "fff8", "00", "--json", "--mode", "request").records.first?.string("mode") == "request")
    let call = try blectl("call", "Panel", "x")
    #expect(call.status == 66 && call.errors.contains("\(folder)/blectl/none.json"), "\(call.errors)")
  }

  @Test func aDeviceThatPairs() throws {
    try write(#"{"devices": {"name:Safe*": {"pair": true}}}"#)
    let pairs = ["BLECTL_PASSKEY": "246810", "XDG_STATE_HOME": TemporaryFolder.path()]
    #expect(try blectl("read", "SafeLock", "ff51", with: pairs.merging(["CI": "true"]) { $1 }).status == 5)
    #expect(try blectl("read", "D1:00:00:00:00:50", "ff51", with: pairs).text == "locked\n")
    #expect(try blectl("config", "SafeLock", "--json").records.first { $0.string("name") == "pair" }?.string("value") == "true")
  }

  // MARK: Scripts

  @Test func scriptsIgnorePersonalDefaults() throws {
    try write(#"{"defaults": {"as": "hex", "mtu": 50}}"#)
    let script = try TemporaryFolder.file("device Band-7\ntest \"x\"\n  read 2a19\nend\n")
    let tap = try blectl("run", script, "--tap")
    #expect(tap.status == 0 && tap.lines.contains("# defaults: mtu 50"), "\(tap.text)")
    #expect(try blectl("run", script, "--tap", "--config", path).lines.contains("# defaults: as hex; mtu 50"))
    let test = try blectl("run", script, "--json").records.first { $0.string("event") == "test" }
    #expect(test?.string("defaults") == "mtu 50")
    let report = TemporaryFolder.path()
    #expect(try blectl("run", script, "--junit", report).status == 0)
    #expect(try String(contentsOfFile: report, encoding: .utf8).contains(#"<property name="defaults" value="mtu 50"/>"#))
    #expect(try blectl("read", "Band-7", "2a19", with: ["CI": "true"]).text == "3c  60 %\n")
    #expect(try blectl("read", "Band-7", "2a19", "--config", path, with: ["CI": "true"]).text == "3c\n")
    let config = try blectl("config", "--json", with: ["CI": "true"])
    #expect(try config.records.first { $0.string("name") == "as" }?.string("source") == "built_in" && config.errors.contains("ignored 1"))
  }

  // MARK: Mistakes

  @Test(
    arguments: [
      (#"{"default": {}}"#, "1:13: default: Unknown key. Did you mean defaults?"),
      ("{\"defaults\":\n  {\"mut\": 50}}", "2:11: defaults.mut: Unknown key. Did you mean mtu?"),
      (#"{"defaults": {"mtu": 5}}"#, "1:22: defaults.mtu: Invalid value \"5\". --mtu takes 23 to 517 bytes, not 5"),
      (#"{"defaults": {"mtu": "50"}}"#, "1:22: defaults.mtu: Expected a number, found a string."),
      (#"{"defaults": {"phy": 2}}"#, "1:22: defaults.phy: Expected a string, found a number."),
      (#"{"defaults": {"mode": "fast"}}"#, "1:23: defaults.mode: Invalid value \"fast\". Use auto, request,"),
      (#"{"defaults": {"as": "u9"}}"#, "1:21: defaults.as: Invalid value \"u9\"."),
      (#"{"defaults": {"adapter": "x"}}"#, "1:26: defaults.adapter: Invalid value \"x\". Unknown adapter"),
      (#"{"defaults": {"timeout": 0}}"#, "1:26: defaults.timeout: Invalid value \"0\". --timeout takes seconds"),
      (#"{"defaults": {"retries": 101}}"#, "1:26: defaults.retries: Invalid value \"101\". --retries takes 0 to 100"),
      (#"{"defaults": {"pair": "on"}}"#, "1:23: defaults.pair: Expected true or false, found a string."),
      (#"{"defaults": {"bond": true}}"#, "1:23: defaults.bond: Unknown key. Use adapter, color,"),
      (#"{"devices": {"@last": {}}}"#, "1:23: devices.@last: Not a device."),
      (#"{"devices": {"a": {"timeout": 3}}}"#, "1:31: devices.a.timeout: Unknown key. Use mtu, phy,"),
      (#"{"devices": []}"#, "1:13: devices: Expected an object, found a list"), (#"{"defaults": ["#, "1:15: Expected a value"),
      // An entry for another device, after valid ones.
      (#"{"defaults": {"mtu": 50}, "devices": {"b": {"interval": 1}}}"#, "devices.b.interval: Invalid value \"1\". --interval takes 7.5"),
    ])
  func mistakes(_ text: String, _ message: String) throws {
    try write(text)
    let result = try blectl("read", "Band-7", "2a19", "--json")
    let said = try #require(result.error?.string("message"), "\(result.errors)")
    #expect(result.status == 66 && result.output.isEmpty && said.hasPrefix(path) && said.contains(message), "\(said)")
    #expect(try blectl("config").status == 66 && blectl("decode", "adv", "020106").status == 0)
    let doctor = try blectl("doctor")
    #expect(doctor.status == 3 && doctor.text.contains("✗ config") && doctor.text.contains(message), "\(doctor.text)")
  }

  @Test func theFileOfTheOptionMustExist() throws {
    let result = try blectl("read", "Band-7", "2a19", "--config", "/nowhere/config.json")
    #expect(result.status == 66 && result.errors.contains("/nowhere/config.json"), "\(result.errors)")
    #expect(try blectl("-e", "read 2a19 --config x", "Band-7").status == 64)
  }

  // MARK: config, alias, doctor, version

  @Test func whereItComesFrom() throws {
    try write(#"{"defaults": {"mtu": 100, "timeout": "5s"}, "devices": {"name:Band-*": {"mtu": 50}}}"#)
    func record(_ name: String, _ arguments: String...) throws -> Record? {
      let result = try Blectl.run(["config", "--json"] + arguments, environment: ["XDG_CONFIG_HOME": folder])
      return try result.records.first { $0.string("name") == name }
    }
    let (general, device) = (try #require(try record("mtu")), try #require(try record("mtu", "Band-7")))
    #expect(general.string("value") == "100" && general.string("source") == "config" && general.string("place") == "\(path):1:22")
    #expect(device.string("value") == "50" && device.string("place") == "\(path):1:80", "\(device)")
    #expect(try record("timeout")?.string("value") == "5s" && record("phy")?.isNull("value") == true)
    #expect(try record("adapter")?.string("place") == "BLECTL_ADAPTER" && record("adapter", "-i", "hci3")?.string("value") == "hci3")
    let (color, timeout) = (try record("color", "--color", "never"), try record("timeout", "-t", "7"))
    #expect(color?.string("value") == "never" && color?.string("source") == "command_line", "\(String(describing: color))")
    #expect(timeout?.string("value") == "7 s" && timeout?.string("place") == "--timeout", "\(String(describing: timeout))")
    let text = try blectl("config").text
    #expect(text.contains("OPTION") && text.contains("mtu       100") && text.contains("built in"), "\(text)")
  }

  @Test func aliasesOfTheShell() throws {
    #expect(try blectl("alias").output.isEmpty && blectl("alias", "front-door", "D1:00:00:00:00:01").status == 0)
    #expect(try blectl("alias").text == "@front-door D1:00:00:00:00:01\n")
    #expect(try blectl("alias", "--json").records.first?.string("peer") == "D1:00:00:00:00:01")
    #expect(try blectl("connect", "@front-door").status == 0)
    let bare = try blectl("alias", "other")
    #expect(bare.status == 64 && bare.errors.contains("Name the device: blectl alias other PEER"), "\(bare.errors)")
    #expect(try blectl("alias", "--delete", "front-door").status == 0 && blectl("alias", "--delete", "front-door").status == 2)
    #expect(try blectl("alias").output.isEmpty && blectl("connect", "@front-door").status == 2)
  }

  @Test func doctorAndVersion() throws {
    let doctor = try blectl("doctor", with: ["BLECTL_HCI7": "sim"]).text
    for part in ["version", "blectl 0.", "\(path) (none)", "\(folder)/blectl/devices", "BLECTL_HCI7=sim"] {
      #expect(doctor.contains(part), "\(doctor)")
    }
    let version = try blectl("--version", "-v").lines
    #expect(version[0].hasPrefix("blectl 0.") && version.contains { $0.hasPrefix("commit: ") }, "\(version)")
    let libraries = try #require(version.first { $0.hasPrefix("libraries: ") })
    for name in ["OpenSSL 3", "readline 8", "ncurses 6", "zlib 1"] { #expect(libraries.contains(name), "\(libraries)") }
    // Only the scripts know which versions they build with.
    let isOfScripts = !version.contains("commit: unknown (built from source)")
    #expect(version.contains("packages: \(isOfScripts ? VersionText.packages : "unknown (built from source)")"), "\(version)")
    let script = try String(contentsOfFile: Vectors.path("../../scripts/parts/versions"), encoding: .utf8)
    let versions = try #require(script.firstMatch(of: /versions='([^']*)'/)).1.split(separator: "\n").joined(separator: ", ")
    #expect(versions == VersionText.packages)
    #expect(try blectl("--version").lines.count == 1)
  }

  // MARK: Versions of packages

  /// Builds of the scripts come after `scripts/parts/versions`.
  @Test(arguments: ["release", "parts/test/kernel"]) func buildsHaveTheVersions(_ name: String) throws {
    let lines = try String(contentsOfFile: Vectors.path("../../scripts/\(name)"), encoding: .utf8).split(separator: "\n")
    let resolution = try #require(lines.firstIndex(of: "scripts/parts/versions"))
    let build = try #require(lines.firstIndex { $0.contains("swift build ") && !$0.hasPrefix("#") })
    #expect(resolution < build)
  }

  /// `scripts/parts/versions` resolves each package that has another version, and no other. The test has a `swift` that only notes its arguments.
  @Test func thePackagesAreResolved() throws {
    let manager = FileManager.default
    for name in ["scripts/parts", "bin"] { try manager.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true) }
    try manager.copyItem(atPath: Vectors.path("../../scripts/parts/versions"), toPath: "\(folder)/scripts/parts/versions")
    try Data("#!/bin/sh\necho \"$*\" >>calls\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/bin/swift"))
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/bin/swift")
    func calls(_ versions: [(Substring, Substring)]) throws -> [Substring] {
      let pins = versions.map { "{\n\"identity\" : \"\($0)\",\n\"state\" : {\n\"version\" : \"\($1)\"\n}\n}" }.joined(separator: ",\n")
      try Data("{\"pins\" : [\n\(pins)\n]}\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/Package.resolved"))
      try Data().write(to: URL(fileURLWithPath: "\(folder)/calls"))
      let result = try Shell.run("PATH='\(folder)/bin':$PATH '\(folder)/scripts/parts/versions'")
      #expect(result.status == 0 && result.output.isEmpty, "\(result.errors)")
      return try String(contentsOfFile: "\(folder)/calls", encoding: .utf8).split(separator: "\n")
    }
    let packages = VersionText.packages.components(separatedBy: ", ").map { $0.split(separator: " ") }.map { ($0[0], $0[1]) }
    #expect(try calls(packages).isEmpty)
    let other = try calls(packages.map { ($0, $0 == packages[1].0 ? "1.1.0" : $1) })
    #expect(other == ["package resolve", "package resolve \(packages[1].0) --version \(packages[1].1)"])
    let none = try calls([])
    #expect(none == packages.flatMap { ["package resolve", "package resolve \($0) --version \($1)"] })
  }
}
