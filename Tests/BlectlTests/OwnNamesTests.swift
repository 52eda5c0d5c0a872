import Foundation
import Glibc
import TestSupport

/// The user's own names for UUIDs and companies (names.json), wherever names are shown or typed.
@Suite(.timeLimit(.minutes(15))) struct OwnNamesTests {
  /// The folder in XDG_CONFIG_HOME.
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/blectl/names.json" }

  static let names = """
    {
      // A comment, as in the other files.
      "uuids": {"ffe0": "Gate Service", "0000FFE2-0000-1000-8000-00805F9B34FB": "Bolt", "2a19": "Charge", "0xfff0": "Képernyő", "fff6": "画面",},
      "companies": {"0157": "Band Makers", "0x0305": "Gate Systems"},
    }
    """

  init() throws { try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true) }

  private func blectl(_ arguments: String...) throws -> ProcessResult {
    try Blectl.run(arguments, environment: ["XDG_CONFIG_HOME": folder])
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

  @Test func areShown() throws {
    try write(Self.names)
    let tree = try blectl("services", "name:gatelock").text
    #expect(tree.contains("ffe0 Gate Service  primary") && tree.contains("ffe2 Bolt  0x"), "\(tree)")
    let records = try blectl("services", "name:gatelock", "--json").records
    let gate = try #require(records.first { $0.string("uuid") == "ffe0" })
    #expect(gate.string("service_name") == "Gate Service")
    #expect(gate.records("characteristics").map { $0.string("name") } == [nil, "Bolt"])
    // It precedes the name from the Bluetooth SIG.
    #expect(try blectl("services", "name:band-7").text.contains("2a19 Charge  0x"))
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "3"], columns: 160, rows: 24,
      environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1", "XDG_CONFIG_HOME": folder])
    let (status, text) = terminal.finish()
    #expect(status == 0 && text.contains("Gate Systems") && text.contains("Gate Service") && text.contains("Képernyő"), "\(text)")
  }

  @Test(arguments: ["bolt", "Bolt", "BOLT", "gate_service/bolt", "Gate Service/ffe2"]) func areTyped(_ attribute: String) throws {
    try write(Self.names)
    let result = try blectl("read", "name:gatelock", attribute)
    #expect(result.text == "SHUT\n", "\(result.errors)")
  }

  @Test func areTypedWithOtherLetters() throws {
    try write(Self.names)
    #expect(try blectl("services", "service:Képernyő", "--json").status == 0)
    #expect(try blectl("read", "name:panel", "画面@2901").text == "Picture\n")
    let notified = try blectl("notify", "name:band-7", "charge", "--count", "1", "--timeout", "1", "--json")
    #expect(notified.status == 4, "\(notified.errors)")
  }

  @Test func filtersTakeThem() throws {
    try write(Self.names)
    func found(_ arguments: String...) throws -> Set<String> {
      let result = try Blectl.run(["scan", "--duration", "2", "--json"] + arguments, environment: ["XDG_CONFIG_HOME": folder])
      #expect(result.status == 0, "\(result.errors)")
      return Set(try result.records.compactMap { $0.string("address") }.map { String($0.prefix(2) + $0.suffix(2)) })
    }
    let locks: Set = ["D101", "D102"]
    #expect(try found("--service", "gate_service") == locks)
    #expect(try found("--manufacturer", "band makers") == ["C007"])
    #expect(try found("--manufacturer", "gate") == locks && found("--manufacturer", "Gate Systems") == locks)
    // An own name does not hide another name with the same prefix.
    let several = try Blectl.run(["scan", "--manufacturer", "band"], environment: ["XDG_CONFIG_HOME": folder])
    #expect(several.status == 64 && several.errors.contains("0157 Band Makers"), "\(several.errors)")
    // The names of the Bluetooth SIG still work.
    #expect(try found("--service", "heart_rate") == ["C007"])
    #expect(try blectl("read", "name:band-7", "battery_level").text == "3c  60 %\n")
  }

  @Test(
    arguments: [
      ("{\n\"uuids\": {\"ffe1\": 7}}", ":2: uuids: ffe1: Expected a name in quotes, found a number"),
      ("{\"uuids\": {\n\n\"ffe\": \"x\"}}", ":3: uuids: \"ffe\" is not a UUID (4, 8 or 32 hex digits)"),
      ("{\"companies\": {\"apple\": \"x\"}}", ":1: companies: \"apple\" is not a company ID (4 hex digits)"),
      ("{\"companies\": {\"0x10000\": \"x\"}}", ":1: companies: \"0x10000\" is not a company ID (4 hex digits)"),
      ("{\"uuids\": []}", ":1: uuids: Expected an object, found a list"), ("[]", ":1: Expected an object, found a list"),
      ("{\"uuid\": {}}", ":1: Unknown key \"uuid\". Use uuids or companies."),
      ("{\"uuids\": {\"ffe1\": \"\"}}", ":1: uuids: ffe1: \"\" is empty"),
      ("{\"uuids\": {\"ffe1\": \"a\\u001b[31mb\"}}", ":1: uuids: ffe1: \"a\\x1b[31mb\" contains unprintable characters"),
      ("{\"uuids\": {\"ffe1\": \"a\\u202eb\"}}", "contains unprintable characters"),
      ("{\"uuids\": {\"ffe1\": \"2A19\"}}", ":1: uuids: ffe1: \"2A19\" looks like a UUID or a handle"),
      ("{\"uuids\": {\"ffe1\": \"0x12\"}}", "looks like a UUID or a handle"),
      ("{\"uuids\": {\"ffe1\": \"\(String(repeating: "n", count: 65))\"}}", "is longer than 64 bytes"),
      ("{\"uuids\": {\"ffe1\": \"Door\",\n\"ffe2\": \"door!\"}}", ":2: uuids: \"door!\" is the name of both ffe1 and ffe2"),
      ("{\"uuids\": {\"ffe1\": \"a\",\n\"0000ffe1-0000-1000-8000-00805f9b34fb\": \"b\"}}", ":2: uuids: 0000ffe1-"),
      ("{\"uuids\": {\"ffe1\": \"a\", \"ffe1\": \"b\"}}", ":1: "),
      ("{\"uuids\": {\"ffe1\": \"a\"", ":1: Expected \",\" or \"}\", found the end"),
      ("\u{0}", ":1: Expected a value, found byte 0x0"), ("", ":1: Expected a value, found the end"),
      (String(repeating: "[", count: 100_000), ":1: "),
      ("{\"uuids\": {\"ffe1\": \"\u{FFFD}\"}}".replacingOccurrences(of: "\u{FFFD}", with: "\\ud800"), ":1: "),
    ]) func whatIsWrongIsSaidWithItsPlace(_ text: String, _ message: String) throws
  {
    try write(text)
    // The error appears in the command, and while the command line is parsed.
    for arguments in [["services", "name:gatelock"], ["scan", "--service", "gate_service", "--duration", "1"]] {
      let result = try Blectl.run(arguments, environment: ["XDG_CONFIG_HOME": folder])
      #expect(result.status == 66 && result.output.isEmpty, "\(result.errors)")
      #expect(result.errors.hasPrefix("blectl: \(path)") && result.errors.contains(message), "\(result.errors)")
      let json = try Blectl.run(arguments + ["--json"], environment: ["XDG_CONFIG_HOME": folder])
      #expect(json.status == 66 && json.error?.string("kind") == "input", "\(json.errors)")
    }
  }

  /// Errors in config.json are reported in the same way.
  @Test(
    arguments: [
      ("{\n\"alias\": {}}", ":2:10: alias: Unknown key. Did you mean aliases? Use aliases, adapters, defaults, devices, $schema."),
      ("{\"aliases\": {}, \"a\\u001b\": 1}", ":1:28: a\\x1b: Unknown key."),
      ("[]", ":1:1: Expected an object, found a list"), ("{\"aliases\": 1}", ":1: aliases: Expected an object, found a number"),
      ("", ":1:1: Expected a value, found the end"),
    ]) func whatIsWrongWithTheConfigurationIsSaid(_ text: String, _ message: String) throws
  {
    let path = folder + "/blectl/config.json"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    for arguments in [["connect", "@door"], ["peers"]] {
      let result = try Blectl.run(arguments, environment: ["XDG_CONFIG_HOME": folder])
      #expect(result.status == 66 && result.errors.hasPrefix("blectl: \(path)\(message)"), "\(result.errors)")
    }
    // A command that needs nothing from it ignores the file.
    #expect(try blectl("decode", "adv", "020106").status == 0)
  }

  /// A folder, a pipe or a large file gives an error immediately.
  @Test func whatIsNoFileIsAnError() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let asFolder = try blectl("services", "name:gatelock")
    #expect(asFolder.status == 66 && asFolder.errors.contains("it is a directory"), "\(asFolder.errors)")
    try FileManager.default.removeItem(atPath: path)
    #expect(unsafe mkfifo(path, 0o600) == 0)
    let asPipe = try blectl("services", "name:gatelock")
    #expect(asPipe.status == 66 && asPipe.errors.contains("EINVAL"), "\(asPipe.errors)")
    try FileManager.default.removeItem(atPath: path)
    try write("{" + String(repeating: " ", count: 1 << 20) + "}")
    #expect(try blectl("services", "name:gatelock").errors.contains("1048576 bytes"))
  }

  /// A command that needs no names ignores the file.
  @Test func isReadOnlyWhereNamesAre() throws {
    try write("[]")
    #expect(try blectl("connect", "name:gatelock").status == 0)
    #expect(try blectl("adapters").status == 0)
    let doctor = try blectl("doctor")
    #expect(doctor.status == 3 && doctor.text.contains("✗ names"), "\(doctor.text)")
    #expect(try blectl("--version").status == 0)
    #expect(try blectl("help").status == 0)
    try FileManager.default.removeItem(atPath: path)
    #expect(try blectl("services", "name:gatelock").status == 0)
  }
}
