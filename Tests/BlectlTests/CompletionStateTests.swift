import Foundation
import Glibc
import TestSupport

/// The real executable answers the completion scripts, from the state that other commands saved.
@Suite(.timeLimit(.minutes(15))) struct CompletionStateTests {
  static let now = 1_800_000_000

  /// Creates a state folder with two scans, an alias, the attributes of one device, and invalid lines.
  static func folder() throws -> String {
    let folder = TemporaryFolder.path()
    let now = now
    let files = [
      "heard": """
      {"heard":\(now - 7200),"air":"hci","devices":[{"peer":"D1:00:00:00:00:09/random","name":"Two Words","rssi":-30}]}
      {"heard":
      {"heard":\(now - 300),"air":"hci","devices":[{"peer":"D1:00:00:00:00:02/random","name":"$(touch PWNED)\\n","rssi":-80},\
      {"peer":"D1:00:00:00:00:01/random","name":"it's $(touch PWNED)","rssi":-50},{"peer":"5C:11:0A:93:77:20/random","rssi":-90}]}
      {"heard":\(now),"air":"tcp:rig:7000","devices":[{"peer":"D1:00:00:00:00:0A/random","name":"Elsewhere","rssi":-1}]}
      \u{0}\u{1}

      """,
      "attributes": """
      {"air":"hci","peer":"D1:00:00:00:00:09/random","name":"Two Words","found_by":"mac:A4:C1:38:00:11:22","attributes":[\
      {"service":"180f","uuid":"2a19","handle":18,"properties":18},{"service":"fee0","uuid":"ff01","handle":20,"properties":16},\
      {"service":"fee0","uuid":"ff02","handle":22,"properties":4},{"service":"fee0","uuid":"ff03","handle":24,"properties":8}]}

      """,
      "devices": """
      {"alias":"words","peer":"name:Two Words"}
      {"connected":"2026-01-01T00:00:01.000Z","peer":"D1:00:00:00:00:09/random"}

      """,
    ]
    try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/blectl/\(name)")) }
    return folder
  }

  /// Returns the lines that the executable prints for fish.
  private static func ask(_ words: String, _ state: String) throws -> [String] {
    let words = words.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let result = try Blectl.run(
      ["---complete", "fish"] + words, environment: ["XDG_STATE_HOME": state], adapter: nil, virtual: false)
    #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result.errors)")
    return result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// An unusable state (folders, other files, random bytes) gives no candidates and no messages.
  @Test func aStateThatIsNoneSaysNothing() throws {
    let folder = TemporaryFolder.path()
    for (name, contents) in [("heard", Data(repeating: 0xFF, count: 100_000)), ("devices", Data("{\"alias\":\"$(id)\"}".utf8))] {
      try FileManager.default.createDirectory(atPath: folder + "/blectl/attributes", withIntermediateDirectories: true)
      try contents.write(to: URL(fileURLWithPath: "\(folder)/blectl/\(name)"))
    }
    #expect(try Self.ask("read ", folder) == [""])
    #expect(try Self.ask("read name:x ", folder) == [""])
    for arguments in [
      ["---complete"], ["---complete", "ksh", "x"], ["---complete", "bash"], ["---complete", "bash", "blectl > "], ["---complete", "zsh"],
    ] {
      let result = try Blectl.run(arguments, environment: ["XDG_STATE_HOME": folder])
      #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(arguments)")
    }
  }

  /// Tab never blocks, even on pipes whose writer never ends.
  @Test func pipesDoNotBlock() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder + "/blectl/devices.d", withIntermediateDirectories: true)
    var writers: [FileHandle] = []
    for name in ["config.json", "names.json", "devices", "heard", "attributes", "history", "transfers"] {
      let path = "\(folder)/blectl/\(name)"
      #expect(unsafe mkfifo(path, 0o600) == 0)
      writers.append(try #require(FileHandle(forUpdatingAtPath: path)))
      try writers.last?.write(contentsOf: Data(#"{"aliases": {"door": "name:x"}}"#.utf8))
    }
    for words in ["read @", "read name:", "call @door ", "-i sim call name:Band-7 h", "read @door ", "-i sim read @door 2"] {
      let result = try Blectl.run(
        ["---complete", "fish"] + words.split(separator: " ", omittingEmptySubsequences: false).map(String.init),
        environment: ["XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder], adapter: nil)
      #expect(result.status == 0 && result.errors.isEmpty && !result.text.contains("door"), "\(words): \(result)")
    }
    let read = try Blectl.run(["connect", "@door"], environment: ["XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder])
    #expect(read.status == 66 && read.errors.contains("config.json\": it is not a regular file (EINVAL)"), "\(read.errors)")
  }

  /// The next completion knows the results of a command, even of a failed one, except those of a simulated air.
  @Test func commandsLeaveWhatTheyHear() throws {
    let air = try ListeningAir()
    let state = TemporaryFolder.path()
    func run(_ arguments: [String], adapter: String) throws -> ProcessResult {
      try Blectl.run(arguments, environment: ["XDG_STATE_HOME": state], adapter: adapter, virtual: adapter == "sim")
    }
    #expect(try run(["services", "name:Band-7"], adapter: "sim").status == 0)
    #expect(!FileManager.default.fileExists(atPath: state + "/blectl/heard"))
    #expect(try Self.ask("read @", state) == [""] && Self.ask("-i sim read @", state) == ["", "@last\tthe device connected last"])
    #expect(try run(["read", "name:Band-7", "ffff"], adapter: air.adapter).status == 2)
    let peers = try Self.ask("-i \(air.adapter) read name:", state)
    #expect(peers.contains { $0.hasPrefix("name:Band-7\tC0:FF:EE:00:00:07/public -") && $0.contains(" dBm, ") }, "\(peers)")
    #expect(try run(["services", "c0:ff:ee:00:00:07"], adapter: air.adapter).status == 0)
    let attributes = try Self.ask("-i \(air.adapter) notify name:Band-7 heart", state)
    #expect(attributes == ["", "heart_rate_measurement\t180d/2a37, notify"])
    // One file may be a broken link while the other exists.
    let other = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: other + "/blectl", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: other + "/blectl/heard", withDestinationPath: "/dev/null")
    let alone = try Blectl.run(
      ["services", "c0:ff:ee:00:00:07"], environment: ["XDG_STATE_HOME": other], adapter: air.adapter, virtual: false)
    #expect(alone.status == 0 && FileManager.default.fileExists(atPath: other + "/blectl/attributes"))
    // No other air offers them.
    #expect(try Self.ask("read name:", state) == [""])
    for name in ["heard", "attributes"] {
      let mode = try FileManager.default.attributesOfItem(atPath: "\(state)/blectl/\(name)")[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(name)")
      // A broken link stays, and no message appears.
      try FileManager.default.removeItem(atPath: "\(state)/blectl/\(name)")
      try FileManager.default.createSymbolicLink(atPath: "\(state)/blectl/\(name)", withDestinationPath: "/dev/null")
    }
    let again = try run(["services", "name:Band-7", "--quiet"], adapter: air.adapter)
    #expect(again.status == 0 && again.errors.isEmpty)
    #expect(try Self.ask("-i \(air.adapter) read name:", state) == [""])
    _ = air.end()
  }
}
