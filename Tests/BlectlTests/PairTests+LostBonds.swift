import Foundation
import TestSupport

/// Connections to devices that have lost a bond, or that demand one.
extension PairTests {
  // MARK: A lost bond and reconnection

  /// Forgets its bond when it closes the connection, some time after a write to ff02 or a read of ff01.
  private static let leaving = forgetful.replacing(
    #""value": "01"}"#,
    with: #"""
      "value": "01", "read_reactions": [{"then": [{"disconnect": true, "after_ms": 3000}]}]},
      {"uuid": "ff02", "properties": ["write"], "reactions": [{"then": [{"disconnect": true, "after_ms": 200}]}]},
      {"uuid": "ff03", "properties": ["notify"]}
      """#)

  private static let lost = "the device has lost the bond. Or another device uses its address: only pairing with a passkey or a number "

  @Test func aCommandReconnectsOnlyWhileItMayHelp() throws {
    let user = User()
    let adapter = "sim:\(try TemporaryFolder.file(Self.leaving))"
    let result = try user.run("-e", "pair; notify ff03 --write ff02=00 --reconnect -d 3600", "Forgetful", adapter: adapter)
    #expect(result.status == 5 && result.errors.contains(Self.lost), "\(result.errors)")
    #expect(
      result.errors.contains("To pair again: blectl unpair name:Forgetful && blectl pair name:Forgetful\n"), "\(result.errors)")
    #expect(result.errors.components(separatedBy: "Reconnecting in ").count == 2, "\(result.errors)")
  }

  /// `set reconnect on` ends with the last reason, which programs get as a record, and later commands as their error.
  @Test func aSessionReconnectsOnlyWhileItMayHelp() throws {
    let adapter = "sim:\(try TemporaryFolder.file(Self.leaving))"
    let lines = "set reconnect on\nconnect Forgetful\npair\nwrite ff02 00\nsleep 60\nread ff02\n"
    let json = try Blectl.run(
      ["repl", "--json"], input: Array(lines.utf8), environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: adapter)
    let statuses = try json.statuses
    #expect(statuses["5"] == 0 && statuses["6"] == 5, "\(json.text)\(json.errors)")
    let errors = try json.records.filter { $0.string("event") == "disconnected" }.compactMap { $0["error"] }
    #expect(errors.map { $0.string("kind") } == ["link_lost", "pairing"], "\(json.text)")
    #expect(errors.last?.string("name") == "pin_or_key_missing" && errors.last?.string("message")?.contains(Self.lost) == true)
    let text = try User().run("repl", adapter: adapter, input: lines)
    #expect(text.status == 5 && text.errors.contains("Reconnecting failed after 1 try in "), "\(text.errors)")
    #expect(text.errors.contains("To pair again: unpair name:Forgetful; pair name:Forgetful\n"), "\(text.errors)")
    // A session that only waits ends.
    let waiting = try User().run(
      "connect", "Forgetful", "-", adapter: adapter, input: "pair\nset reconnect on\nwrite ff02 00\nsleep 3600\n")
    #expect(waiting.status == 5, "\(waiting.errors)")
  }

  @Test func theBrowserReconnectsOnlyWhileItMayHelp() throws {
    let browser = try BrowserTerminal(
      ["name:Forgetful"], adapter: "sim:\(try TemporaryFolder.file(Self.leaving))", columns: 250,
      environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
    try browser.see("Forgetful · connected")
    browser.type("P")
    try browser.see("Paired with Forgetful")
    for _ in 0..<4 { browser.type(BrowserTerminal.second) }
    try browser.see("the device closed it")
    browser.type("\r" + BrowserTerminal.second + BrowserTerminal.second)
    try browser.see(Self.lost, "To pair again: blectl unpair")
    browser.quit()
  }

  /// The browser tells once how to pair again.
  @Test func theBrowserTellsTheAdviceOnce() throws {
    let state = TemporaryFolder.path()
    let adapter = "sim:\(try TemporaryFolder.file(Self.leaving))"
    let environment = ["XDG_STATE_HOME": state]
    #expect(try Blectl.run(["pair", "Forgetful", "--io", "none"], environment: environment, adapter: adapter).status == 0)
    let browser = try BrowserTerminal(["name:Forgetful"], adapter: adapter, columns: 250, environment: environment)
    try browser.see("To pair again: blectl unpair")
    #expect(browser.screen.text.components(separatedBy: "To pair again").count == 2)
    browser.quit()
  }

  /// Programs learn the reason of each failed attempt.
  @Test func failedAttemptsAreTold() throws {
    let text = Self.leaving
      .replacing(#"{"disconnect": true, "after_ms": 200}"#, with: #"{"advertise": false}, {"disconnect": true, "after_ms": 200}"#)
      .replacing(#""security""#, with: #""on_disconnect": [{"advertise": true, "after_ms": 20000}], "security""#)
    let adapter = "sim:\(try TemporaryFolder.file(text))"
    let lines = "set reconnect on\nconnect Forgetful\nwrite ff02 00\nsleep 60\nread 2a00\n"
    let json = try Blectl.run(["repl", "--json"], input: Array(lines.utf8), adapter: adapter)
    let records = try json.records.filter { $0.string("event")?.contains("connect") ?? false }
    let tries = records.filter { $0.string("event") == "reconnecting" }
    #expect(tries.map { $0.int("tries") } == tries.indices.map { $0 + 1 } && !tries.isEmpty, "\(json.text)")
    #expect(tries.allSatisfy { $0["error"]?.string("kind") == "timeout" && $0.double("seconds") != nil }, "\(json.text)")
    #expect(records.map { $0.string("event") }.suffix(2) == ["reconnecting", "reconnected"], "\(json.text)")
    // People get each reason once.
    let repl = try Blectl.run(["repl"], input: Array(lines.utf8), adapter: adapter)
    #expect(repl.errors.components(separatedBy: "Attempt ").count == 2, "\(repl.errors)")
  }

  // MARK: unpair in sessions and scripts

  @Test func unpairMeansTheCurrentDevice() throws {
    let user = User()
    let session = try user.run("-e", "connect SafeLock; pair --passkey 246810; connect Band-7; use SafeLock; unpair; unpair")
    #expect(session.status == 2 && session.text.contains("Removed the bond with SafeLock"), "\(session.text)\(session.errors)")
    #expect(session.errors.contains("There is no bond with name:SafeLock."), "\(session.errors)")
    #expect(try user.run("-e", "unpair").status == 64 && (try user.run("unpair").status == 64))
    for (number, line) in ["unpair", "connect\n  unpair"].enumerated() {
      #expect(try user.run("pair", "SafeLock", "--passkey", "246810").status == 0)
      let script = try TemporaryFolder.file("device SafeLock\ntest a\n  \(line)\nend\n")
      let result = try user.run("run", script)
      #expect(result.status == 0, "\(number): \(result.text)\(result.errors)")
      #expect(try user.run("bonds", "--json").text.isEmpty)
    }
    let script = try TemporaryFolder.file("test a\n  unpair\nend\n")
    for arguments in [["run", script], ["run", "--dry-run", script]] {
      let result = try Blectl.run(arguments, environment: ["XDG_STATE_HOME": user.state])
      #expect(result.errors.contains("This line needs a device.") && result.status != 0, "\(result.text)\(result.errors)")
    }
  }

  /// Bonds that share a name, or fit the pattern that opened the session, are not of the current device.
  @Test(arguments: ["Lock", "Lo*"]) func unpairLeavesTheOtherBonds(_ name: String) throws {
    let user = User()
    func lock(_ number: Int) -> String {
      Self.forgetful.replacing("Forgetful", with: "Lock").replacing(", \"forgets\": true", with: "").replacing(
        "D1:00:00:00:00:60", with: "D1:00:00:00:00:6\(number)")
    }
    let adapters = try (0..<2).map { "sim:\(try TemporaryFolder.file(lock($0)))" }
    for (number, adapter) in adapters.enumerated() {
      #expect(try user.run("pair", "D1:00:00:00:00:6\(number)", "--io", "none", adapter: adapter).status == 0)
    }
    #expect(try user.run("bonds", "--json").lines.count == 2)
    let result = try user.run("-e", "connect \(name); unpair", adapter: adapters[0])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try user.run("bonds", "--json").lines.count == 1)
  }

  /// The advice after a lost bond is about the one device that lost it.
  @Test(arguments: ["Forget*", "service:ff00"]) func adviceForAPattern(_ peer: String) throws {
    let user = User()
    let text = Self.forgetful.replacing(#""advertisement": {"#, with: #""advertisement": {"services": ["ff00"], "#)
    let adapter = "sim:\(try TemporaryFolder.file(text))"
    #expect(try user.run("pair", "Forgetful", "--io", "none", adapter: adapter).status == 0)
    let result = try user.run("read", peer, "ff01", adapter: adapter)
    #expect(result.status == 5 && result.errors.contains("blectl unpair D1:00:00:00:00:60/random && blectl pair D1:00"), "\(result.errors)")
  }

  // MARK: Devices that demand pairing

  /// Each attempt reveals a part of the passkey, so `--wait` makes one only.
  @Test func aDeviceThatHangsUpWhilePairing() throws {
    let text = Self.forgetful.replacing(
      #""io": "none", "forgets": true},"#,
      with: #""io": "display", "passkey": "246810", "mitm": true}, "on_connect": [{"disconnect": true, "after_ms": 400}],"#)
    let trace = TemporaryFolder.path()
    let result = try User().run(
      "read", "Forgetful", "ff01", "--pair", "--level", "3", "--wait", "-t", "20", "--trace", trace,
      adapter: "sim:\(try TemporaryFolder.file(text))", passkey: "246810")
    #expect(result.status != 0 && !result.errors.contains("Still waiting"), "\(result.errors)")
    let decoded = try Blectl.run(["decode", "trace", trace])
    #expect(decoded.text.components(separatedBy: "Pairing Request").count == 2, "\(decoded.text)")
  }

  /// No retry helps after blectl has declined to pair, before the first answer or after it.
  @Test(arguments: [["services"], ["read", "0x0003"]]) func aDeviceThatAsksForPairingAndHangsUp(_ words: [String]) throws {
    let controller = try H4Controller { _ in [.disconnect] }
    controller.greet(smp: [0x0B, 0x0D])
    let result = try Blectl.run(
      [words[0], "D1:00:00:00:00:01/random"] + words.dropFirst(), input: [], adapter: controller.adapter)
    #expect(result.status == 6, "\(result.errors)")
    let advice = "The device had asked for pairing. To pair: blectl pair D1:00:00:00:00:01"
    #expect(result.errors.contains(advice), "\(result.errors)")
    #expect(!result.errors.contains("try more often") && !result.errors.contains("Trying again"), "\(result.errors)")
  }

  @Test func aDeviceThatHangsUpForLackOfSecurity() throws {
    let text = Self.forgetful.replacing(#""security""#, with: #""on_connect": [{"disconnect": 5, "after_ms": 150}], "security""#)
    let result = try User().run("services", "Forgetful", adapter: "sim:\(try TemporaryFolder.file(text))")
    #expect(
      result.status == 6 && result.errors.contains("The device demands pairing. To pair: blectl pair name:Forgetful\n"), "\(result.errors)")
  }

  /// A Security Request is answered by the bond, without a note and without a pairing. With `--pair`, each short command cut a new one off.
  @Test(arguments: [[], ["--pair"]], [UInt8(0x01), 0x09, 0x0D]) func aBondedDeviceThatAsksAtOnce(_ options: [String], _ wish: UInt8) throws
  {
    let state = TemporaryFolder.path()
    let key = #"{"key":"000102030405060708090a0b0c0d0e0f","ediv":0,"rand":"0000000000000000","role":null}"#
    let bond = """
      {"bonds":[{"identity":"C0:FF:EE:00:00:07","identity_type":"random","name":null,"created":"2026-01-01T00:00:00.000Z",
        "method":"just_works","secure_connections":true,"key_size":16,"adapter":"00:1B:DB:00:00:01","adapter_type":"public",
        "irk":null,"keys":[\(key)]}]}
      """
    try FileManager.default.createDirectory(atPath: "\(state)/blectl/bonds", withIntermediateDirectories: true)
    try bond.write(toFile: "\(state)/blectl/bonds/00:1B:DB:00:00:01-public.json", atomically: true, encoding: .utf8)
    let controller = try H4Controller {
      $0[0] == 2 ? [.pdu([3, 23, 0])] : [.pdu([0x0B, 0x6F, 0x6B])]
    } pairing: { _ in
      [[5, 5]]
    }
    controller.greet(smp: [0x0B, wish])
    let result = try Blectl.run(
      ["read", "C0:FF:EE:00:00:07/random", "0x0003"] + options, environment: ["XDG_STATE_HOME": state], adapter: controller.adapter,
      virtual: false)
    #expect(result.status == 0 && result.text == "ok\n" && result.errors.isEmpty, "\(result.errors)")
    // The disconnection is the last packet. No Security Manager PDU came before.
    let end = controller.next { $0.starts(with: [1, 6, 4]) || $0.first == 2 && $0.dropFirst(7).starts(with: [6, 0]) }
    #expect(end?.first == 1, "\(end ?? [])")
  }

  /// The request may arrive together with the connection. Without a handler at that moment, it was refused without a word.
  @Test func aDeviceThatAsksForPairingAtOnce() throws {
    let controller = try H4Controller()
    controller.greet(smp: [0x0B, 0x0D])
    let result = try Blectl.run(["connect", "D1:00:00:00:00:01/random"], input: [], adapter: controller.adapter)
    let note = "The device asks for pairing, which blectl declined. To pair: blectl pair D1:00:00:00:00:01"
    #expect(result.errors.components(separatedBy: note).count == 2, "\(result.errors)")
    // Pairing Failed: Pairing Not Supported.
    #expect(controller.next { $0.first == 2 && $0.dropFirst(7).elementsEqual([6, 0, 5, 5]) } != nil)
  }
}
