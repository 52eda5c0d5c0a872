import Foundation
import TestSupport

/// Pairing, bonds and encrypted connections on the command line.
@Suite(.timeLimit(.minutes(15))) struct PairTests {
  /// A user's folder for state, with the key store in it.
  struct User {
    let state = TemporaryFolder.path()

    func run(_ arguments: String..., adapter: String = "sim", input: String? = nil, passkey: String? = nil) throws -> Blectl.Result {
      try run(arguments, adapter: adapter, input: input, passkey: passkey)
    }

    func run(_ arguments: [String], adapter: String = "sim", input: String? = nil, passkey: String? = nil) throws -> Blectl.Result {
      var environment = ["XDG_STATE_HOME": state]
      environment["BLECTL_PASSKEY"] = passkey
      return try Blectl.run(arguments, input: input.map { Array($0.utf8) }, environment: environment, adapter: adapter)
    }

    var bonds: String { "\(state)/blectl/bonds" }
    var file: String { "\(bonds)/00:00:5E:00:53:01-public.json" }
  }

  @Test func aBondIsKeptAndUsed() throws {
    let user = User()
    let before = try user.run("read", "SafeLock", "ff51")
    #expect(
      before.status == 5 && before.errors.contains("it needs pairing (ATT 0x05). To pair: blectl pair name:SafeLock"), "\(before.errors)")
    let session = try user.run("repl", input: "connect SafeLock\nread ff51\n")
    #expect(session.errors.contains("it needs pairing (ATT 0x05). To pair: pair name:SafeLock\n"), "\(session.errors)")
    let paired = try #require(try user.run("pair", "SafeLock", "--passkey", "246810", "--json").records.first)
    #expect(paired.string("event") == "paired" && paired.string("method") == "passkey" && paired.int("key_size") == 16)
    #expect(paired.bool("secure_connections") == true && paired.bool("authenticated") == true && paired.bool("bonded") == true)
    #expect(paired.string("identity") == "D1:00:00:00:00:50" && paired.string("identity_type") == "random")
    #expect(try user.run("read", "SafeLock", "ff51").text == "locked\n")
    #expect(try user.run("-e", "write ff52 01; read ff51", "SafeLock").text.contains("open"))
    let connected = try #require(try user.run("connect", "SafeLock", "--json").records.first)
    #expect(connected.bool("encrypted") == true && connected.bool("authenticated") == true)
    for record in try user.run("-e", "connect Band-7; params", "--json").records {
      #expect(record.bool("encrypted") == false && record.bool("authenticated") == false, "\(record)")
    }
    // A bond of an unknown passkey: none is needed any more.
    let again = try user.run("pair", "SafeLock", "--legacy", "refuse", "--min-key-size", "16").text
    #expect(again.hasPrefix("Already paired with SafeLock (passkey, LE Secure Connections, 16-byte key, bonded"), "\(again)")
    let bond = try #require(try user.run("bonds", "--json").records.first)
    #expect(bond.string("event") == "bond" && bond.string("name") == "SafeLock" && bond.string("adapter") == "00:00:5E:00:53:01")
    #expect(try user.run("bonds").lines.last?.hasPrefix("D1:00:00:00:00:50/random  SafeLock  passkey  16 bytes") == true)
    let unknown = try user.run("unpair", "Band-7")
    #expect(unknown.status == 2 && unknown.errors.contains("There is no bond with name:Band-7"), "\(unknown.errors)")
    #expect(try user.run("unpair", "D1:00:00:00:00:50").text == "Removed the bond with SafeLock (D1:00:00:00:00:50/random)\n")
    #expect(try user.run("read", "SafeLock", "ff51").status == 5 && (try user.run("bonds", "--json").text.isEmpty))
  }

  @Test func keysAreInOneFileOnly() throws {
    let user = User()
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let modes = try [user.bonds, user.file].map { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
    #expect(modes == [0o700, 0o600])
  }

  /// What each way to fail says, its exit code, and that it stores nothing.
  @Test(
    arguments: [
      (["--passkey", "111111"], 5, "the passkey differs"),
      (["--io", "keyboard"], 64, "The device displays a passkey. Give it on the command line: --passkey N"),
      (["--io", "none", "--level", "3"], 5, "the abilities of the devices allow only Just Works"),
      (["--passkey", "12345x"], 64, "--passkey takes six digits, @FILE or -."),
      (["--io", "none", "--passkey", "246810"], 64, "--passkey has no effect with --io none."),
      (["--io", "display", "--confirm", "yes"], 64, "--confirm has no effect with --io display."),
      (["--io", "mouse"], 64, "--io takes none, display, yesno, keyboard or keyboard-display"),
      (["--level", "4", "--min-key-size", "7"], 64, "--level 4 needs a key of 16 bytes, not --min-key-size 7."),
      (["--level", "1"], 64, "--level takes 2 to 4"), (["--passkey", "1234"], 64, "--passkey takes six digits"),
      // An attacker could ask for Just Works instead.
      (["--confirm", "yes"], 5, "the abilities of the devices allow only Just Works"),
      (["--pin", "246810"], 64, "Did you mean --passkey?"),
      (["--passkey", "-"], 66, "Standard input contains no passkey of six digits."),
    ] as [([String], Int32, String)])
  func failures(_ options: [String], _ status: Int32, _ message: String) throws {
    let state = TemporaryFolder.path()
    let result = try Blectl.run(["pair", "SafeLock"] + options, input: [], environment: ["XDG_STATE_HOME": state])
    #expect(result.status == status && result.errors.contains(message), "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: "\(state)/blectl/bonds/00:00:5E:00:53:01-public.json"))
  }

  @Test func thePasskeyNeedNotBeOnTheCommandLine() throws {
    #expect(try User().run("pair", "SafeLock", "--passkey", "-", input: "246810\n").status == 0)
    let more = try User().run("pair", "SafeLock", "--passkey", "-", input: "246810\nread ff51\n")
    #expect(more.status == 66 && more.errors.contains("Standard input contains more than the passkey."), "\(more.errors)")
    let open = try Blectl.start(["pair", "SafeLock", "--passkey", "-"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
    open.send(line: "246810")
    #expect(open.nextLine { $0.hasPrefix("Paired with SafeLock: passkey") } != nil)
    let file = try TemporaryFolder.file("246810\n")
    #expect(try User().run("pair", "SafeLock", "--passkey", "@\(file)").status == 0)
    #expect(try User().run("read", "SafeLock", "ff51", "--pair", passkey: "246810").text == "locked\n")
    #expect(try User().run("pair", "SafeLock", passkey: "246810").text.contains("passkey, LE Secure Connections"))
    let wrong = try User().run("read", "SafeLock", "ff51", "--pair", passkey: "24681x")
    #expect(wrong.status == 64 && wrong.errors.contains("BLECTL_PASSKEY is not a passkey"), "\(wrong.errors)")
    #expect(try !User().run("doctor", passkey: "246810").text.contains("246810"))
  }

  /// Just Works is not enough for this device. A new bond with a passkey replaces the bond.
  @Test func aBetterBondReplacesOne() throws {
    let user = User()
    let weak = try user.run("read", "SafeLock", "ff51", "--pair")
    #expect(
      weak.status == 5 && weak.errors.contains("The bond with SafeLock is not authenticated. To pair again: blectl pair"), "\(weak.errors)")
    #expect(try user.run("write", "SafeLock", "ff52", "01").errors.contains("is not authenticated"))
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    #expect(try user.run("bonds", "--json").records.map { $0.string("method") } == ["passkey"])
    #expect(try user.run("read", "SafeLock", "ff51").text == "locked\n")
  }

  @Test func aRecordingCannotPair() throws {
    let (user, trace) = (User(), TemporaryPath())
    #expect(try user.run("connect", "SafeLock", "--trace", trace.path).status == 0)
    for words in [["pair", "SafeLock", "--passkey", "246810"], ["pair", "SafeLock", "--io", "none"]] {
      let result = try user.run(words, adapter: "replay:\(trace.path)")
      #expect(result.status == 64 && result.errors.contains("A recording cannot pair: keys are new in each pairing."), "\(result.errors)")
    }
  }

  /// The passkey or the number is large and legible, and the answer is a key.
  @Test func theNumberOnATerminal() throws {
    let text = Self.forgetful.replacing("\"io\": \"none\", \"forgets\": true", with: "\"io\": \"yesno\", \"mitm\": true")
    let file = try TemporaryFolder.file(text)
    let terminal = try PseudoTerminal(
      [Blectl.path, "pair", "Forgetful"], columns: 80, rows: 24,
      environment: ["BLECTL_ADAPTER": "sim:\(file)", "BLECTL_CLOCK": "virtual", "XDG_STATE_HOME": TemporaryFolder.path()], hasKeys: true)
    #expect(terminal.wait(for: "y or n"))
    let shown = String(decoding: terminal.bytes, as: UTF8.self)
    #expect(shown.contains("The number on this side:\r\n\r\n") && !shown.contains("x0a"), "\(shown)")
    // A letter within a word is no answer.
    terminal.type("maybe")
    #expect(terminal.wait(for: "y or n: maybe"))
    terminal.type("\ry")
    #expect(terminal.wait(for: "Paired with Forgetful: numeric comparison"))
  }

  /// The terms of `pair` hold for the bond, too: blectl pairs again, and the device refuses.
  @Test(arguments: [
    (#""key_size": 7"#, ["--min-key-size", "7"], [[], ["--min-key-size", "8"]], "the device offers a key of 7 bytes"),
    (#""sc": false"#, [], [["--legacy", "refuse"]], "the device has only LE legacy pairing"),
  ])
  func aBondThatViolatesTheTerms(_ security: String, _ fitting: [String], _ violated: [[String]], _ message: String) throws {
    let user = User()
    let text = Self.forgetful.replacing("\"forgets\": true", with: security)
    let adapter = "sim:\(try TemporaryFolder.file(text))"
    func pair(_ options: [String]) throws -> Blectl.Result {
      try Blectl.run(["pair", "Forgetful"] + options, environment: ["XDG_STATE_HOME": user.state], adapter: adapter)
    }
    #expect(try pair(fitting).text.hasPrefix("Paired with"))
    for options in violated {
      let result = try pair(options)
      #expect(result.status == 5 && result.text.isEmpty && result.errors.contains(message), "\(result.text)\(result.errors)")
    }
    #expect(try pair(fitting).text.hasPrefix("Already paired with") && user.run("bonds", "--json").records.count == 1)
    #expect(try user.run("read", "Forgetful", "ff01", adapter: adapter).text == "01\n")
  }

  /// Just Works without anybody who chose it: the note has the level, and the options that reach more.
  @Test func nobodyAnswers() throws {
    let adapter = "sim:\(try TemporaryFolder.file(Self.forgetful.replacing(", \"forgets\": true", with: "")))"
    let note =
      "The pairing is Just Works: level 2, without protection against an attacker in the middle. If the device has a display or "
      + "keys: blectl pair name:Forgetful --level 3, with --passkey N or --confirm yes\n"
    let script = try TemporaryFolder.file("device Forgetful\ntest a\n  pair\nend\n")
    for words in [["pair", "Forgetful"], ["read", "Forgetful", "ff01", "--pair"]] {
      let result = try User().run(words, adapter: adapter)
      #expect(result.status == 0 && result.errors.components(separatedBy: note).count == 2, "\(words): \(result.errors)")
    }
    for words in [["-e", "pair Forgetful"], ["run", script], ["-e", "set pair on; read Forgetful ff01"]] {
      let result = try User().run(words, adapter: adapter)
      #expect(result.status == 0 && result.errors.components(separatedBy: note).count == 2, "\(words): \(result.errors)")
    }
    let user = User()
    #expect(try user.run("pair", "Forgetful", "--io", "none", adapter: adapter).errors.isEmpty)
    #expect(try user.run("pair", "Forgetful", adapter: adapter).errors.isEmpty && !user.run("bonds").text.isEmpty)
    #expect(try !User().run("pair", "SafeLock", "--passkey", "246810").errors.contains("Just Works"))
  }

  /// After `unpair`, a session pairs again, also on the same connection.
  @Test func aSessionForgetsARemovedBond() throws {
    let user = User()
    let begin = "connect SafeLock; pair --passkey 246810; unpair SafeLock; pair --passkey"
    let wrong = try user.run("-e", "\(begin) 111111")
    #expect(wrong.status == 5 && wrong.errors.contains("the passkey differs"), "\(wrong.text)\(wrong.errors)")
    #expect(try user.run("bonds", "--json").text.isEmpty)
    let right = try user.run("-e", "\(begin) 246810; read ff51")
    #expect(right.status == 0 && right.lines.last == "locked", "\(right.text)\(right.errors)")
    #expect(try user.run("bonds", "--json").records.count == 1)
  }

  static let forgetful = """
    {"name": "Forgetful", "address": "D1:00:00:00:00:60/random", "advertisement": {"name": "Forgetful"},
     "security": {"io": "none", "forgets": true},
     "services": [{"uuid": "ff00", "characteristics": [
       {"uuid": "ff01", "properties": ["read"], "permissions": ["read_encrypted"], "value": "01"}]}]}
    """

  /// blectl never pairs again by itself: another device could pretend to be this one.
  @Test func aDeviceThatLostItsBond() throws {
    let user = User()
    let adapter = "sim:\(try TemporaryFolder.file(Self.forgetful))"
    #expect(try user.run("read", "Forgetful", "ff01", "--pair", adapter: adapter).text == "01\n")
    for arguments in [["read", "Forgetful", "ff01"], ["read", "Forgetful", "ff01", "--pair"], ["pair", "Forgetful"]] {
      let result = try Blectl.run(arguments, environment: ["XDG_STATE_HOME": user.state], adapter: adapter)
      #expect(
        result.status == 5
          && result.errors.contains(
            "the device has lost the bond. Or another device uses its address: only pairing with a passkey or a number tells them apart. "
              + "To pair again: blectl unpair name:Forgetful && blectl pair name:Forgetful\n"),
        "\(result.errors)")
    }
    #expect(try user.run("unpair", "--all").status == 0)
    #expect(try user.run("pair", "Forgetful", adapter: adapter).text.contains("Just Works (not authenticated)"))
  }

  @Test func aDeviceThatKeepsNoKeys() throws {
    let user = User()
    let text = Self.forgetful.replacing("\"forgets\": true", with: "\"bonding\": false")
    let adapter = "sim:\(try TemporaryFolder.file(text))"
    let paired = try user.run("pair", "Forgetful", adapter: adapter)
    #expect(paired.text.contains("no bond") && paired.errors.contains("blectl read name:Forgetful ATTR --pair"), "\(paired.errors)")
    #expect(try user.run("pair", "Forgetful", "--no-bond", "--io", "none", adapter: adapter).errors.isEmpty)
    #expect(try user.run("bonds", "--json").text.isEmpty && user.run("read", "Forgetful", "ff01", adapter: adapter).status == 5)
    #expect(try user.run("read", "Forgetful", "ff01", "--pair", adapter: adapter).text == "01\n")
  }

  /// A file with a mistake is neither used nor changed.
  @Test func anInvalidFileOfBonds() throws {
    let user = User()
    #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let contents = try String(contentsOfFile: user.file, encoding: .utf8).replacing("\"key_size\":16", with: "\"key_size\":17")
    try contents.write(toFile: user.file, atomically: true, encoding: .utf8)
    for arguments in [["read", "SafeLock", "ff51"], ["bonds"], ["unpair", "--all"]] {
      let result = try Blectl.run(arguments, environment: ["XDG_STATE_HOME": user.state])
      #expect(result.status == 66 && result.errors.contains(".json:1: key_size: Expected 7 to 16"), "\(result.errors)")
      #expect(result.errors.contains("Or remove it and pair with its devices again: rm \(user.file)"), "\(result.errors)")
    }
    #expect(try String(contentsOfFile: user.file, encoding: .utf8) == contents)
  }

  private static func terminal(_ line: String, _ user: User) throws -> PseudoTerminal {
    try PseudoTerminal(
      ["sh", "-c", "trap : INT; \(line.replacing("blectl ", with: "'\(Blectl.path)' ")); exit $?"], columns: 100, rows: 20,
      environment: ["BLECTL_ADAPTER": "sim", "BLECTL_CLOCK": "virtual", "XDG_STATE_HOME": user.state], hasKeys: true)
  }

  /// With Just Works instead of a question, the pairing would not be authenticated.
  @Test(arguments: [
    "blectl pair SafeLock", "blectl pair SafeLock -q", "blectl pair SafeLock --json", "blectl pair SafeLock 2>/dev/null",
    "blectl pair SafeLock >/dev/null 2>&1", "TERM=dumb blectl pair SafeLock", "blectl -e 'pair SafeLock'",
    "blectl read SafeLock ff51 --pair -q 2>/dev/null", "blectl pair SafeLock --passkey -",
  ])
  func aPersonEntersThePasskey(_ line: String) throws {
    let user = User()
    let terminal = try Self.terminal(line, user)
    #expect(terminal.wait(for: "______"))
    terminal.type("24691\u{7F}\u{7F}810\r")
    #expect(terminal.finish().status == 0)
    #expect(try user.run("bonds", "--json").records.map { $0.string("method") } == ["passkey"])
  }

  @Test(arguments: [
    ("blectl pair SafeLock", "\u{3}", 130, "Passkey"), ("blectl pair SafeLock --passkey -", "\u{3}", 130, "Passkey"),
    ("blectl pair SafeLock", "\u{4}", 5, "you entered no passkey."),
    ("blectl pair SafeLock --passkey -", "\u{4}", 66, "Standard input contains no passkey of six digits."),
  ])
  func aPersonRefusesToAnswer(_ line: String, _ key: String, _ status: Int32, _ message: String) throws {
    let (user, trace) = (User(), try TemporaryFolder.file([]))
    let terminal = try Self.terminal("\(line) --trace '\(trace)'", user)
    #expect(terminal.wait(for: "______"))
    terminal.type("1\(key)")
    let (found, text) = terminal.finish()
    #expect(found == status && text.contains(message) && terminal.echoes, "\(text)")
    #expect(try user.run("bonds", "--json").text.isEmpty)
    let decoded = try Blectl.run(["decode", trace]).text
    let isReleased = decoded.contains(/Pairing Failed .*0x01\n(.*\n)+.*Connection Terminated By Local Host/)
    #expect(isReleased != line.hasSuffix("-"), "\(decoded)")
  }

  @Test func thePairingOfTheBrowser() throws {
    let state = TemporaryFolder.path()
    let browser = try BrowserTerminal(["name:SafeLock"], environment: ["XDG_STATE_HOME": state])
    try browser.see("SafeLock · connected", "(needs pairing)")
    browser.type("P")
    try browser.see("Passkey that the device displays:")
    browser.type(BrowserTerminal.escape)
    try browser.see("Cannot pair", not: ["Passkey that the device displays:"])
    browser.type("P")
    try browser.see("Passkey that the device displays:")
    browser.type("246810\r" + BrowserTerminal.second + BrowserTerminal.second)
    try browser.see("SafeLock · authenticated", "locked", not: ["(needs pairing)"])
    browser.type("P")
    try browser.see("Already paired with SafeLock.")
    browser.quit()
  }

  @Test func aProgramAnswers() throws {
    let running = try Blectl.start(["repl", "--json"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
    running.send(line: "connect SafeLock")
    running.send(line: #"{"id":"p","command":"pair --io keyboard"}"#)
    let request = running.nextLine { $0.contains("passkey_request") }.flatMap { try? Record($0) }
    #expect(request?.string("id") == "p")
    for line in ["answer x 246810", "answer p yes", "answer p 246810", "read ff51"] { running.send(line: line) }
    #expect(running.nextLine { $0.contains(#""event":"value""#) } != nil)
    let result = running.finish()
    #expect(try result.statuses == ["1": 0, "p": 0, "3": 2, "4": 64, "5": 0, "6": 0], "\(result.text)")
  }

  /// The session asks on its terminal, shows the security in its prompt, and keeps passkeys out of its history.
  @Test func aSessionPairs() throws {
    let repl = try ReplTerminal()
    try repl.enter("connect SafeLock", "read ff51")
    try repl.says { $0.hasPrefix("blectl: Cannot read ff51 (handle 0x000c): it needs pairing") }
    repl.type("pair\r")
    #expect(repl.terminal.wait(for: "Passkey that the device displays: ______"))
    repl.type("246810\r")
    try repl.shows("SafeLock (authenticated)>", column: 26)
    repl.type("read ff51\r")
    try repl.says("locked")
    try repl.shows("SafeLock (authenticated)>", column: 26)
    repl.type("pair --passkey 135790 --level 3\r")
    try repl.says { $0.hasPrefix("Paired with SafeLock: passkey") }
    _ = repl.leave()
    let history = try String(contentsOfFile: "\(repl.state)/blectl/history", encoding: .utf8)
    #expect(history.contains("read ff51") && !history.contains("135790"), "\(history)")
  }

  @Test func aScriptChecksTheSecurity() throws {
    let script = """
      device SafeLock
      test "a"
        read ff51
        fails insufficient_authentication
        pair --passkey 111111
        fails confirm_value_failed
        expect no encrypted
        pair --passkey 246810
        expect authenticated
        expect encrypted
        expect no authenticated or warn
        read ff51
        expect == "locked"
      end
      """
    let result = try User().run("run", try TemporaryFolder.file(script))
    #expect(
      result.status == 0 && result.text.contains("1 passed") && result.text.contains(/The\s+connection\s+is\s+authenticated/),
      "\(result.text)\(result.errors)")
    let plain = "device Band-7\ntest b\n  expect encrypted or warn\n  expect no authenticated\n  expect authenticated\nend\n"
    let other = try User().run("run", try TemporaryFolder.file(plain))
    #expect(other.status == 7 && other.text.contains(/:5  expect\s+authenticated/), "\(other.text)\(other.errors)")
    #expect(other.text.contains("The connection is not authenticated."), "\(other.text)")
    #expect(!(result.text + result.errors).contains("246810") && !(result.text + result.errors).contains("111111"))
  }

  /// Our side displays the passkey, which the user of the device enters.
  @Test(arguments: ["true", "false"]) func yesNoDisplaysAPasskey(_ isSecure: String) throws {
    let text = Self.forgetful.replacing(
      #""io": "none", "forgets": true"#, with: #""io": "keyboard", "passkey": "246810", "sc": \#(isSecure)"#)
    let adapter = "sim:\(try TemporaryFolder.file(text))"
    let result = try User().run("pair", "Forgetful", "--io", "yesno", "--passkey", "246810", adapter: adapter)
    #expect(result.status == 0 && result.text.hasPrefix("Paired with Forgetful: passkey"), "\(result.errors)")
    let other = try User().run("pair", "Forgetful", "--io", "yesno", "--passkey", "246811", adapter: adapter)
    #expect(other.status == 5 && other.errors.contains("the passkey differs"), "\(other.errors)")
  }

  /// What the kernel's host cannot do is refused before blectl opens the adapter.
  @Test(arguments: [
    ["--min-key-size", "7"], ["--passkey", "000001", "--io", "display"], ["--passkey", "000001", "--io", "yesno"], ["--legacy", "refuse"],
  ])
  func theKernelsAdaptersRefuse(_ options: [String]) throws {
    let result = try Blectl.run(["pair", "C0:FF:EE:00:00:07"] + options, adapter: "hci0")
    #expect(result.status == 64 && result.errors.contains("needs blectl's own host"), "\(result.errors)")
  }
}
