import Foundation
import TestSupport
import Traces

/// `clone` writes a file that simulates a device as it is.
@Suite(.timeLimit(.minutes(15))) struct CloneTests {
  /// Clones a device, and returns the file and its path.
  private func clone(_ peer: String, _ options: String..., adapter: String = "sim", status: Int32 = 0) throws -> (
    text: String, path: String
  ) {
    let result = try Blectl.run(["clone", peer] + options, environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: adapter)
    #expect(result.status == status, "\(result.errors)")
    return (Self.flat(result.text), try TemporaryFolder.file(result.text))
  }

  /// Returns the file on one line.
  private static func flat(_ text: String) -> String { text.replacing(",\n", with: ", \n").replacing(/\n */, with: "") }

  /// Clones a device and its clone. Checks that both show the same tree and advertisement, and that both files are equal.
  @discardableResult private func expectSame(_ peer: String, adapter: String = "sim") throws -> String {
    let first = try clone(peer, adapter: adapter)
    let second = try clone(peer, adapter: "sim:\(first.path)")
    #expect(second.text == first.text)
    let trees = try [adapter, "sim:\(first.path)"].map { try Blectl.run(["services", peer, "--values", "--json"], adapter: $0).text }
    #expect(trees[0] == trees[1] && !trees[0].isEmpty, "\(trees[0])\(trees[1])")
    let reports = try [adapter, "sim:\(first.path)"].map {
      try Set(
        Blectl.run(["scan", "--address", peer, "-d", "2", "--json"], adapter: $0).records.map {
          "\($0.string("pdu") ?? "") \($0.string("raw") ?? "")"
        })
    }
    #expect(reports[0] == reports[1] && !reports[0].isEmpty, "\(reports)")
    return first.text
  }

  @Test(arguments: ["C0:FF:EE:00:00:07", "D1:00:00:00:00:50", "D1:00:00:00:00:10", "D1:00:00:00:00:01"])
  func thePresetDevices(_ peer: String) throws { try expectSame(peer) }

  /// Every handle is where no layout would put it.
  static let odd = #"""
    {"name": "Odd", "address": "D1:00:00:00:00:77/random", "complete": true, "mtu": 64, "advertisement": "020106 03ff0102 ff",
     "scan_response": {"name": "Oddity"},
     "services": [
       {"uuid": "ff00", "handle": 16, "end_handle": 96, "includes": [{"service": 112, "handle": 18}, {"service": 128, "handle": 20}],
        "characteristics": [
          {"uuid": "ff01", "properties": ["read", "write"], "handle": 32, "value_handle": 40, "value": {"utf8": "quite \"readable\""},
           "descriptors": [{"uuid": "2901", "handle": 48, "value": "41"}, {"uuid": "00112233-4455-6677-8899-aabbccddeeff", "handle": 50}]},
          {"uuid": "ff02", "properties": ["notify"], "handle": 56, "descriptors": [{"uuid": "2902", "handle": 60, "permissions": ["write"]}]},
          {"uuid": "ff03", "properties": ["indicate"], "unasked": true, "handle": 64},
          {"uuid": "ff04", "properties": ["read"], "permissions": [], "value": "01", "handle": 68},
          {"uuid": "ff05", "properties": [], "permissions": ["read"], "value": "05"},
          {"uuid": "ff06", "properties": ["read"], "read_error": "0x80"}, {"uuid": "ff07", "properties": ["write"], "read_error": 8},
          {"uuid": "ff08", "properties": ["read"], "permissions": ["read_encrypted"], "read_error": 5},
          {"uuid": "ff09", "properties": ["read"], "permissions": ["read_encrypted"]},
          {"uuid": "ff0a", "properties": ["read", "extended_properties"],
           "descriptors": [{"uuid": "2900", "value": "0100"}, {"uuid": "2904", "read_error": 14}]}]},
       {"uuid": "0000ff11-0000-1000-8000-00805f9b34fb", "primary": false, "handle": 112, "characteristics": [
         {"uuid": "0000ff12-0000-1000-8000-00805f9b34fb", "properties": ["read"]}]},
       {"uuid": "ff10", "handle": 128, "end_handle": 65535}]}
    """#

  @Test func everyKindOfAttribute() throws {
    let text = try expectSame("D1:00:00:00:00:77", adapter: "sim:\(try TemporaryFolder.file(Self.odd))")
    for part in [
      #""name": "Oddity", "address": "D1:00:00:00:00:77/random""#, #""advertisement": "02010603ff0102ff""#, #""mtu": 64"#,
      #"{"uuid": "ff04", "properties": ["read"], "handle": "0x0044", "permissions": []}"#,
      // These UUIDs go over the air in full.
      #"{"uuid": "0000ff11-0000-1000-8000-00805f9b34fb", "primary": false, "handle": "0x0070""#,
      #"{"uuid": "0000ff12-0000-1000-8000-00805f9b34fb", "properties": ["read"], "handle": "0x0071"}"#,
      #"{"uuid": "ff05", "properties": [], "handle": "0x0046", "value": "05", "permissions": ["read"]}"#,
      #"{"uuid": "ff06", "properties": ["read"], "handle": "0x0048", "read_error": "0x80"}"#,
      #"{"uuid": "ff07", "properties": ["write"], "handle": "0x004a", "read_error": "0x08"}"#,
      #""permissions": ["read_encrypted"], "read_error": "0x05"}"#, #""includes": [{"service": "0x0070", "handle": "0x0012"}"#,
      #""value": {"utf8": "quite \"readable\""}"#, #"{"uuid": "ff10", "handle": "0x0080", "end_handle": "0xffff"}"#,
    ] { #expect(text.contains(part), "\(part): \(text)") }
  }

  @Test func refusalsOfReads() throws {
    let first = try clone("Oddity", adapter: "sim:\(try TemporaryFolder.file(Self.odd))")
    for adapter in ["sim:\(try TemporaryFolder.file(Self.odd))", "sim:\(first.path)"] {
      let codes = try ["ff04", "ff06", "ff07", "ff08", "ff09", "ff0a@2904"].map { name in
        let words = ["read", "D1:00:00:00:00:77", name, "--json"]
        let errors = try Blectl.run(words, adapter: adapter).errors.split(separator: "\n")
        return try errors.compactMap { try Record(String($0))["error"]?.int("code") }.first ?? 0
      }
      #expect(codes == [2, 0x80, 8, 5, 0x0F, 14])
    }
  }

  @Test func valuesThatChange() throws {
    let device = #"""
      {"name": "Clock", "address": "D1:00:00:00:00:77/random", "variables": {"n": 0},
       "services": [{"uuid": "ff00", "characteristics": [
         {"uuid": "ff01", "properties": ["read"], "read_reactions": [
           {"then": [{"count": "n"}, {"set": "ff01", "value": {"u8": {"variable": "n"}}}]}]}]}]}
      """#
    let text = try clone("D1:00:00:00:00:77", adapter: "sim:\(try TemporaryFolder.file(device))").text
    #expect(text.contains(#""value": "02", "comment": "The value changes. It was 01 before.""#), "\(text)")
  }

  /// Pairing shows the values, and the permissions that allow them. Just Works is not enough for one: the others are in the file
  /// nevertheless.
  @Test func aPairing() throws {
    let device = #"""
      {"name": "Bond", "address": "D1:00:00:00:00:77/random", "security": {"sc": false},
       "services": [{"uuid": "ff00", "characteristics": [
         {"uuid": "ff01", "properties": ["read"], "permissions": ["read_encrypted"], "value": "01"},
         {"uuid": "ff03", "properties": ["read"], "permissions": ["read_authenticated"], "value": "03"},
         {"uuid": "ff04", "properties": ["read"], "permissions": ["read_encrypted"], "read_error": 5, "read_reactions": [{"error": 2}]},
         {"uuid": "ff02", "properties": ["read"], "permissions": ["read_encrypted"], "read_error": 5, "value": "02"}]}]}
      """#
    let file = try TemporaryFolder.file(device)
    let open = try clone("D1:00:00:00:00:77", adapter: "sim:\(file)").text
    #expect(!open.contains(#""security""#) && !open.contains(#""value": "01""#), "\(open)")
    let first = try clone("D1:00:00:00:00:77", "--pair", adapter: "sim:\(file)", status: 5)
    for part in [
      #""security": {"sc": false}"#, #""value": "01", "permissions": ["read_encrypted"]}"#,
      #""value": "02", "permissions": ["read_encrypted"], "read_error": "0x05"}"#, #""permissions": ["read_authenticated"]}"#,
      #""permissions": ["read_encrypted"], "read_error": "0x05", "read_reactions": [{"error": "0x02"}]}"#,
    ] { #expect(first.text.contains(part), "\(part): \(first.text)") }
    #expect(try clone("D1:00:00:00:00:77", "--pair", adapter: "sim:\(first.path)", status: 5).text == first.text)
  }

  /// A lock that shows a passkey, and then a bond that hides the refusals.
  @Test func anAuthenticatedPairing() throws {
    let environment = ["XDG_STATE_HOME": TemporaryFolder.path(), "BLECTL_PASSKEY": "246810"]
    let first = try Blectl.run(["clone", "SafeLock", "--pair"], environment: environment)
    for part in [#""security": {"io": "display"}"#, #""value": {"utf8": "locked"}, "permissions": ["read_authenticated"]"#] {
      #expect(Self.flat(first.text).contains(part), "\(part): \(first.text)\(first.errors)")
    }
    #expect(!(first.text + first.errors).contains("246810"))
    let second = try Blectl.run(["clone", "SafeLock"], environment: environment)
    #expect(second.errors.contains("The link was encrypted from the start"), "\(second.errors)")
  }

  @Test func oneLineOfJSON() throws {
    let result = try Blectl.run("clone", "Band-7", "--json")
    #expect(
      result.lines.count == 1 && result.text.hasPrefix(#"{"name": "Band-7", "address": "C0:FF:EE:00:00:07/public""#), "\(result.text)")
  }

  // MARK: Captures

  /// The capture of a tree with its values has the same services as the device, except for refusals that nobody asked for.
  @Test func theCaptureOfATree() throws {
    for peer in ["Band-7", "SafeLock"] {
      let file = TemporaryFolder.path()
      _ = try Blectl.run(["--trace", file, "services", peer, "--values"])
      let result = try Blectl.run(["clone", "--trace", file], adapter: nil)
      let live = try clone(peer).text
      let text = Self.flat(result.text)
      #expect(result.status == 0 && Self.services(text) == Self.services(live), "\(text)\(live)")
      #expect(text.hasPrefix(live.prefix(40)), "\(text)")
    }
  }

  private static func services(_ text: String) -> Substring { text[(text.range(of: #""services""#)?.lowerBound ?? text.startIndex)...] }

  private func recorded(_ trace: PhoneTrace, _ options: String...) throws -> Blectl.Result {
    try Blectl.run(["clone", "--trace", try TemporaryFolder.file(trace.file)] + options, adapter: nil)
  }

  @Test func aPhonesCapture() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 3, 0], [0x0B] + Array("Ring".utf8))
    trace.ask([0x12, 3, 0, 1], [0x01, 0x12, 3, 0, 0x03])
    let result = try recorded(trace)
    #expect(
      result.status == 0 && Self.flat(result.text).contains(#""name": "Ring", "address": "C0:FF:EE:00:00:07/public""#), "\(result.text)")
    for gap in ["has no advertisement of the device.", "has no exchange of the MTU.", "has no read of 2a19"] {
      #expect(result.errors.contains(gap) && result.text.contains(gap), "\(gap): \(result.errors)")
    }
    let tree = try Blectl.run(
      ["services", "C0:FF:EE:00:00:07/public", "--values"], adapter: "sim:\(try TemporaryFolder.file(result.text))")
    #expect(tree.status == 0 && tree.text.contains("Ring"), "\(tree.text)\(tree.errors)")
  }

  /// A pairing between two requests: the first is refused, the second answered.
  @Test func whatACaptureShowsOfPermissions() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 8, 0], [0x01, 0x0A, 8, 0, 0x05])
    trace.ask([0x12, 3, 0, 1], [0x01, 0x12, 3, 0, 0x0F])
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    trace.ask([0x12, 3, 0, 1], [0x13])
    let text = Self.flat(try recorded(trace).text)
    #expect(text.contains(#""value": "4d", "permissions": ["write", "read_encrypted"], "read_error": "0x05""#), "\(text)")
    #expect(text.contains(#""permissions": ["read", "write_encrypted"]"#), "\(text)")
  }

  @Test func severalDevicesOfACapture() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.connect(handle: 0x41, peer: PhoneTrace.other)
    trace.ask([0x0A, 3, 0], [0x0B, 1], handle: 0x41)
    let both = try recorded(trace)
    #expect(both.status == 64 && both.errors.contains("2 devices: C0:FF:EE:00:00:07, C0:FF:EE:00:00:08. Choose one"), "\(both.errors)")
    #expect(try recorded(trace, "--device", "C0:FF:EE:00:00:07").status == 0)
    let unknown = try recorded(trace, "--device", "C0:FF:EE:00:00:08")
    #expect(unknown.status == 2 && unknown.errors.contains("does not show the services of C0:FF:EE:00:00:08"), "\(unknown.errors)")
    let none = try recorded(trace, "--device", "C0:FF:EE:00:00:09")
    #expect(none.status == 2 && none.errors.contains("no connection to C0:FF:EE:00:00:09. It has: C0:FF:EE:00:00:07"), "\(none.errors)")
  }

  @Test(arguments: [
    ([], "Give a device, or a capture with --trace FILE."), (["Band-7", "--trace", "x"], "PEER and --trace exclude each other."),
    (["Band-7", "--device", "C0:FF:EE:00:00:07"], "--device needs --trace FILE."), (["--trace", "-"], "clone --trace needs a file."),
  ])
  func wrongWords(_ words: [String], _ message: String) throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let result = try Blectl.run(["clone"] + words, folder: folder)
    #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
    // A capture is never overwritten.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test func filesThatAreNoCaptures() throws {
    let result = try Blectl.run(["clone", "--trace", try TemporaryFolder.file("no")], adapter: nil)
    #expect(result.status == 66 && result.errors.contains("Cannot clone "), "\(result.errors)")
  }
}
