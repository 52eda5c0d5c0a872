import Foundation
import TestSupport
import Traces

/// `--level`, `set level`, `device PEER level N` and `level` in config.json: no request before the link has that security.
@Suite(.timeLimit(.minutes(15))) struct DemandedLevelTests {
  /// A user's folder for state and configuration.
  private struct User {
    let folder = TemporaryFolder.path()
    let trace = TemporaryFolder.path()

    func run(_ arguments: [String], adapter: String = "sim", input: String? = nil, with variables: [String: String] = [:]) throws
      -> Blectl.Result
    {
      let own = ["XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder]
      return try Blectl.run(
        arguments, input: input.map { Array($0.utf8) }, environment: own.merging(variables) { $1 }, adapter: adapter)
    }

    func run(_ arguments: String..., adapter: String = "sim", input: String? = nil, with variables: [String: String] = [:]) throws
      -> Blectl.Result
    { try run(arguments, adapter: adapter, input: input, with: variables) }

    /// What the host sent on each link of the trace: `a` for an ATT PDU, `s` for a Security Manager PDU, `E` where the encryption began.
    func links() throws -> [String] {
      let records = try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: trace))))
      var links: [String] = []
      for record in records {
        let (packet, isOurs) = (record.packet, record.direction == .hostToController)
        if packet.starts(with: [4, 0x3E]), [0x01, 0x0A].contains(packet[3]) {
          links.append("")
        } else if !links.isEmpty, packet.starts(with: [4, 0x08]) {
          links[links.count - 1] += "E"
        } else if !links.isEmpty, isOurs, packet[0] == 2, packet.count > 9, [4, 6].contains(packet[7]), packet[8] == 0 {
          links[links.count - 1] += packet[7] == 4 ? "a" : "s"
        }
      }
      return links
    }
  }

  private static let noBond =
    "Sent no request: the connection is not encrypted, because there is no bond with the device. The command demands level"
  private static let strong = "4 (authenticated, LE Secure Connections, 16-byte key)."

  // MARK: Commands

  /// Neither a request nor a Pairing Request leaves without a bond.
  @Test(arguments: [
    "connect SafeLock", "read SafeLock ff51", "read SafeLock --all", "write SafeLock ff52 01", "write SafeLock ff52 01 --mode command",
    "notify SafeLock ff51", "services SafeLock", "send-file SafeLock ff52 FILE",
    "mac-from-adv SafeLock --connect", "read SafeLock ff51 --mtu 50", "notify SafeLock ff51 --reconnect",
  ])
  func noCommandSendsAnything(_ line: String) throws {
    let user = User()
    let file = try TemporaryFolder.file([1, 2, 3])
    let words = line.split(separator: " ").map { $0 == "FILE" ? file : String($0) }
    let result = try user.run(words + ["--level", "3", "--trace", user.trace])
    #expect(
      result.status == 5 && result.text.isEmpty
        && result.errors.contains("\(Self.noBond) 3 (authenticated). To pair: blectl pair name:SafeLock --level 3\n"), "\(result.errors)")
    #expect(try user.links() == [""])
  }

  @Test func theLevelOfABond() throws {
    let user = User()
    #expect(try user.run("pair", "SafeLock", "--io", "none").status == 0)
    #expect(try user.run("connect", "SafeLock", "--level", "2", "--trace", user.trace).status == 0)
    #expect(try user.links().first?.hasPrefix("Ea") == true)
    let weak = try user.run("read", "SafeLock", "ff51", "--level", "4", "--trace", user.trace)
    let found = "the connection has only level 2 (encrypted). The command demands level \(Self.strong)"
    #expect(weak.status == 5 && weak.errors.contains("\(found) To pair again: blectl pair name:SafeLock --level 4\n"), "\(weak.errors)")
    #expect(try user.links() == ["E"])
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810", "--level", "4").status == 0)
    #expect(try user.run("read", "SafeLock", "ff51", "--level", "4").text == "locked\n")
    #expect(try user.run("read", "SafeLock", "ff51", "--level", "5").errors.contains("--level takes 2 to 4, not 5"))
    let idle = try user.run("mac-from-adv", "SafeLock", "--level", "3")
    #expect(idle.status == 64 && idle.errors.contains("--level need --connect."), "\(idle.errors)")
  }

  /// Level 4 also demands LE Secure Connections and a key of 16 bytes.
  @Test func legacyPairing() throws {
    let device = #"{"name": "Old", "address": "D1:00:00:00:00:61/random", "security": {"passkey": "246810", "sc": false}, "services": []}"#
    let (user, adapter) = (User(), "sim:\(try TemporaryFolder.file(device))")
    let old = "D1:00:00:00:00:61"
    #expect(try user.run("pair", old, "--passkey", "246810", adapter: adapter).status == 0)
    #expect(try user.run("connect", old, "--level", "3", adapter: adapter).status == 0)
    let weak = try user.run("connect", old, "--level", "4", adapter: adapter)
    #expect(weak.status == 5 && weak.errors.contains("has only level 3 (authenticated). The command demands level 4"), "\(weak.errors)")
  }

  /// With `--pair`, the pairing comes before the first request, and reaches the level or fails.
  @Test func aCommandThatPairs() throws {
    let user = User()
    let words = ["read", "SafeLock", "ff51", "--pair", "--level", "4"]
    let weak = try user.run(words + ["--trace", user.trace])
    #expect(weak.status == 5 && weak.errors.contains("the abilities of the devices allow only Just Works"), "\(weak.errors)")
    #expect(try user.links().allSatisfy { !$0.contains("a") })
    let result = try user.run(words + ["--trace", user.trace], with: ["BLECTL_PASSKEY": "246810"])
    #expect(result.text == "locked\n", "\(result.errors)")
    let sent = try #require(try user.links().first)
    #expect(sent.hasPrefix("s") && sent.contains("E") && !sent.prefix { $0 != "E" }.contains("a"), "\(sent)")
  }

  // MARK: Sessions

  @Test func sessions() throws {
    let user = User()
    let lines = [
      "connect SafeLock", "read ff51 --level 3", "set level 3", "mtu", "set level default", "mtu", "set level 5",
      "pair --passkey 246810", "set level 4", "read ff51", "disconnect", "connect SafeLock", "read ff51",
    ]
    let result = try user.run("-e", "-k", lines.joined(separator: "; "))
    #expect(result.status == 5 && result.lines.filter { $0.contains("locked") }.count == 2, "\(result.text)\(result.errors)")
    #expect(result.errors.components(separatedBy: Self.noBond).count == 3, "\(result.errors)")
    #expect(result.errors.contains("Invalid level"), "\(result.errors)")
    #expect(result.errors.contains("To pair: blectl pair name:SafeLock --level 3"), "\(result.text)")
    #expect(try user.run("-e", "set; set level 2; set level", "SafeLock").text.hasSuffix("level default\nlevel 2\n"))
  }

  private static let droppy = """
    {"name": "Droppy", "address": "D1:00:00:00:00:62/random", "advertisement": {"name": "Droppy"}, "security": {"io": "none"},
     "services": [{"uuid": "ff00", "characteristics": [
       {"uuid": "ff01", "properties": ["notify"], "value": "01"},
       {"uuid": "ff02", "properties": ["write"], "reactions": [{"when": "ff", "then": [{"disconnect": true, "after_ms": 3000}]}]}]}]}
    """

  /// A restored link has the level of the lost one before its first request. `set level` never lowers it. Without a level, the
  /// subscription is written.
  @Test(arguments: ["subscribe ff01 --level 2", "set level 2", "set level 2\nset level default", "subscribe ff01"])
  func aRestoredLink(_ line: String) throws {
    let (user, adapter) = (User(), "sim:\(try TemporaryFolder.file(Self.droppy))")
    #expect(try user.run("pair", "Droppy", "--io", "none", adapter: adapter).status == 0)
    let lines = ["connect Droppy", line, "subscribe ff01", "set reconnect on", "write ff02 ff", "unpair Droppy", "sleep 20"]
    let result = try user.run(["repl", "--trace", user.trace], adapter: adapter, input: lines.joined(separator: "\n") + "\n")
    let links = try user.links()
    #expect(links.count > 1 && links[0].hasPrefix("Ea"), "\(links) \(result.errors)")
    let demands = line.contains("level")
    #expect(links.dropFirst().allSatisfy { $0.contains("a") != demands && !$0.contains("s") }, "\(links) \(result.errors)")
  }

  // MARK: Scripts

  @Test func scripts() throws {
    let user = User()
    let text = "device SafeLock level 3\ntest a\n  read ff51\n  expect == \"locked\"\nend\ntest b\n  disconnect\n  read ff51\nend\n"
    let script = try TemporaryFolder.file(text)
    let without = try user.run("run", script, "--trace", user.trace)
    #expect(
      without.status != 0 && without.text.contains("Sent no request: the connection is not encrypted"), "\(without.text)\(without.errors)")
    #expect(try !user.links().isEmpty && user.links().allSatisfy(\.isEmpty))
    #expect(try user.run("run", script, "--peer", "name:SafeLock").text.contains("Sent no request"))
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let with = try user.run("run", script, "--trace", user.trace)
    #expect(with.status == 0 && with.text.contains("2 passed"), "\(with.text)\(with.errors)")
    #expect(try user.links().count == 2 && user.links().allSatisfy { $0.hasPrefix("Ea") })
    for (line, message) in [
      ("device SafeLock level 1", "`level` takes 2 to 4, not"), ("device SafeLock level", "takes one word, and perhaps a level"),
      ("device SafeLock lvl 3", ": device name:Lock-01 level 3"), ("device SafeLock level $N", "N"),
    ] {
      let wrong = try user.run("run", "--dry-run", try TemporaryFolder.file("\(line)\nread ff51\n"))
      #expect(wrong.status == 64 && (wrong.text + wrong.errors).contains(message), "\(line): \(wrong.text)\(wrong.errors)")
    }
    let variable = try TemporaryFolder.file("set N 4\ndevice SafeLock level $N\nread ff51\n")
    #expect(try user.run("run", variable).status == 0 && user.run("run", variable, "--set", "N=9").status == 64)
  }

  /// `pair` makes the bond that the other lines need.
  @Test func pairingWithinALevel() throws {
    let line = "pair --passkey 246810; read ff51"
    let session = try User().run("-e", line, "SafeLock", "--level", "3")
    #expect(session.status == 0 && session.text.contains("locked"), "\(session.errors)")
    let text = "device SafeLock level 4\npair --passkey 246810\nread ff51\n"
    let script = try User().run("run", try TemporaryFolder.file(text))
    #expect(script.status == 0, "\(script.text)\(script.errors)")
    let unfit = text.replacing(" --passkey 246810", with: " --io none")
    #expect(try User().run("run", try TemporaryFolder.file(unfit)).text.contains("allow only Just Works"))
  }

  /// A recording has whatever encryption there was.
  @Test func aRecording() throws {
    let user = User()
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let script = TemporaryFolder.path()
    let recorded = try user.run("read", "SafeLock", "ff51", "--level", "3", "--record", script, "--trace", user.trace)
    #expect(recorded.text == "locked\n", "\(recorded.errors)")
    #expect(try String(contentsOfFile: script, encoding: .utf8).contains("  connect --level 3\n"))
    #expect(try user.run("run", script).status == 0)
    let replayed = try User().run("run", script, adapter: "replay:\(user.trace)")
    #expect(replayed.status == 0, "\(replayed.text)\(replayed.errors)")
  }

  // MARK: config.json

  @Test func theConfiguration() throws {
    let user = User()
    let path = "\(user.folder)/blectl/config.json"
    try FileManager.default.createDirectory(atPath: "\(user.folder)/blectl", withIntermediateDirectories: true)
    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
    try write(#"{"defaults": {"level": 2}, "devices": {"name:Safe*": {"level": 3}}}"#)
    #expect(try user.run("read", "SafeLock", "ff51").errors.contains("\(Self.noBond) 3"))
    #expect(try user.run("read", "Band-7", "2a19").errors.contains("\(Self.noBond) 2"))
    // It protects, so scripts and CI obey it.
    let script = try TemporaryFolder.file("device SafeLock\ntest a\n  read ff51\nend\n")
    #expect(try user.run("run", script, with: ["CI": "true"]).status == 5)
    let weak = try user.run("pair", "SafeLock", "--io", "none")
    #expect(weak.status == 5 && weak.errors.contains("allow only Just Works"), "\(weak.errors)")
    // `pair` makes the bond, whatever the file demands.
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    #expect(try user.run("read", "SafeLock", "ff51").text == "locked\n" && user.run("run", script).status == 0)
    #expect(try user.run("config", "SafeLock", "--json").records.first { $0.string("name") == "level" }?.string("value") == "3")
    for value in ["1", "\"3\"", "true", "3.5"] {
      try write("{\"defaults\": {\"level\": \(value)}}")
      #expect(try user.run("read", "Band-7", "2a19").status == 66, "\(value)")
    }
  }

  @Test func theBrowser() throws {
    let browser = try BrowserTerminal(["name:SafeLock", "--level", "3"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
    try browser.see("Sent no request: the connection is not encrypted")
    browser.quit()
  }
}
