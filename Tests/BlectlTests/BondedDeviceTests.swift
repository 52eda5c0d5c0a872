import Foundation
import TestSupport
import Traces

private let own = "D1:00:00:00:00:A0"
private let other = "D1:00:00:00:00:A1"

/// Bonded devices beside others of the same name, without a name, and with changing addresses.
@Suite(.timeLimit(.minutes(15))) struct BondedDeviceTests {
  private static let text = "\(other)/random has the name of the bonded device \(own)/random, but is another device."

  /// A device with a value that tells it from others.
  private static func device(_ address: String, _ value: String, name: String? = "Lock", rssi: Int = -60, _ more: String = "") -> String {
    let advertised = name.map { #""name": "\#($0)""# } ?? #""flags": 6"#
    let value = value.utf8.map { String($0, radix: 16) }.joined()
    return """
      {"name": "Lock", "address": "\(address)/random", "rssi": \(rssi), "advertisement": {\(advertised)}, "security": {"io": "none"}, \(more)
       "services": [{"uuid": "ff00", "characteristics": [{"uuid": "ff01", "properties": ["read", "write", "notify"], "value": "\(value)"}]}]}
      """
  }

  private static let foreign = device(other, "foreign", rssi: -20)

  /// A user with a bond with Lock, and the devices around.
  private struct User {
    let state = TemporaryFolder.path()
    let file = TemporaryFolder.path()
    private static let irk: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B

    init(irk: Bool = false) throws {
      try around(BondedDeviceTests.device(own, "own"))
      try pair(irk: irk)
    }

    /// A user who has connected to a device before the pairing.
    init(before device: String, _ peer: String) throws {
      try around(device)
      #expect(try run("read", peer, "ff01").status == 0)
      try around(BondedDeviceTests.device(own, "own"))
      try pair(irk: true)
    }

    private func pair(irk: Bool) throws {
      let paired = try run("pair", "\(own)/random")
      try #require(paired.status == 0, "\(paired.errors)")
      // Simulated devices distribute no identity resolving key, and a device named by its address has no name.
      let store = "\(state)/blectl/bonds/00:00:5E:00:53:01-public.json"
      let key = irk ? #""irk":"ec0234a357c8ad05341010a60a397d9b""# : #""irk":null"#
      let contents = try String(contentsOfFile: store, encoding: .utf8)
      try contents.replacing(#""irk":null"#, with: key).replacing(#""name":null"#, with: #""name":"Lock""#)
        .write(toFile: store, atomically: true, encoding: .utf8)
    }

    func around(_ devices: String...) throws {
      try "[\(devices.joined(separator: ","))]".write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// One of the device's private addresses.
    static func address(_ prand: UInt32) -> String {
      "\(Address(rawValue: UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: irk, prand: prand))))"
    }

    func run(_ arguments: [String], input: String? = nil) throws -> Blectl.Result {
      try Blectl.run(
        arguments, input: input.map { Array($0.utf8) }, environment: ["XDG_STATE_HOME": state], adapter: "sim:\(file)")
    }

    func run(_ arguments: String...) throws -> Blectl.Result { try run(arguments) }

    func browser(_ arguments: [String]) throws -> BrowserTerminal {
      try BrowserTerminal(arguments, adapter: "sim:\(file)", environment: ["XDG_STATE_HOME": state])
    }
  }

  // MARK: A name is not an identity

  @Test func theBondedDeviceWins() throws {
    let user = try User()
    try user.around(Self.foreign, Self.device(own, "own", rssi: -80))
    for peer in ["Lock", "lock", "name:LOCK", own] {
      let result = try user.run("read", peer, "ff01")
      #expect(result.text == "own\n" && !result.errors.contains("Lock"), "\(peer): \(result.errors)")
    }
    #expect(try user.run("read", "Lock", "ff01", "--unique").text == "own\n")
    #expect(try user.run("-e", "read ff01", "Lock").text == "own\n")
  }

  @Test func onlyAnotherDeviceOfTheName() throws {
    let user = try User()
    try user.around(Self.foreign)
    #expect(try user.run("alias", "door", "Lock").status == 0)
    for arguments in [
      ["write", "Lock", "ff01", "01"], ["read", "name:lock", "ff01"], ["services", "Lock", "--wait", "-t", "5"], ["read", "@door", "ff01"],
      ["-e", "read ff01", "Lock"], ["notify", "Lock", "ff01"], ["pair", "Lock"], ["connect", "Lock", "--unique"], ["mac-from-adv", "Lock"],
    ] {
      let trace = TemporaryFolder.path()
      let result = try user.run(arguments + ["--trace", trace])
      #expect(result.status == 5 && result.text.isEmpty, "\(arguments): \(result.text)\(result.errors)")
      #expect(
        result.errors.contains(
          "Cannot find name:\(arguments[1] == "name:lock" ? "lock" : "Lock"), the bonded device \(own)/random. \(Self.text) "
            + "To use the other device, name its address: \(other)/random"), "\(arguments): \(result.errors)")
      #expect(result.errors.contains("Still waiting.") == arguments.contains("--wait"), "\(result.errors)")
      let packets = try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: trace))))
      #expect(!packets.contains { $0.packet.starts(with: [1, 0x0D, 0x20]) || $0.packet.starts(with: [1, 0x43, 0x20]) }, "\(arguments)")
    }
    #expect(try user.run("read", "Lock", "ff01", "--json").errors.contains(#""kind":"pairing""#))
    // The address of the other device means it, and nothing else.
    for peer in [other, "\(other)/random"] {
      let result = try user.run("read", peer, "ff01")
      #expect(result.text == "foreign\n" && !result.errors.contains("bonded"), "\(peer): \(result.errors)")
    }
  }

  @Test(arguments: [["Lo*"], ["service:ff00"], ["Lock", "--first"], ["name:Loc[k]"]]) func aNoteOnly(_ peer: [String]) throws {
    let user = try User()
    let device = Self.foreign.replacing(#""advertisement": {"#, with: #""advertisement": {"services": ["ff00"], "#)
    try user.around(device)
    let read = try user.run(["read"] + peer.prefix(1) + ["ff01"] + peer.dropFirst())
    #expect(read.text == "foreign\n" && read.errors.contains(Self.text), "\(read.errors)")
  }

  @Test func whatNoKeyTells() throws {
    let user = try User()
    try user.around(Self.device("5D:00:00:00:00:01", "private"))
    let result = try user.run("read", "Lock", "ff01")
    #expect(result.status == 5 && result.text.isEmpty, "\(result.errors)")
    #expect(
      result.errors.contains(
        "but not its address. The device may have changed its address, which this bond does not recognize (no IRK)."), "\(result.errors)")
  }

  @Test func aSession() throws {
    let user = try User()
    try user.around(Self.foreign)
    let refused = try user.run(["repl"], input: "connect Lock\n")
    #expect(refused.status == 5 && refused.errors.contains(Self.text), "\(refused.errors)")
    // The link to another device of that name is not meant, however it was made.
    for connect in ["connect \(other)/random", "connect \(other)", "connect Lo*"] {
      try user.around(Self.foreign)
      let absent = try user.run("-e", "\(connect); write name:Lock ff01 01")
      #expect(absent.status == 2 && absent.errors.contains("The bonded device has the address \(own)/random."), "\(absent.errors)")
      let word = try user.run("-e", "\(connect); read Lock ff01")
      #expect(word.status != 0 && !word.text.contains("foreign"), "\(word.text)\(word.errors)")
      try user.around(Self.foreign, Self.device(own, "own", rssi: -80))
      let present = try user.run("-e", "\(connect); read ff01; read name:Lock ff01")
      #expect(present.text.contains("foreign") && present.lines.last?.hasSuffix("own") == true, "\(present.text)\(present.errors)")
    }
  }

  /// The link is the current device, but its name means the bonded one.
  @Test func aSessionWithTheFirst() throws {
    let user = try User()
    try user.around(Self.foreign)
    let current = try user.run("-e", "connect Lock --first; read ff01")
    #expect(current.status == 0 && current.text.contains("foreign"), "\(current.errors)")
    let named = try user.run("-e", "connect Lock --first; write Lock ff01 01")
    #expect(named.status == 2 && named.errors.contains("write Lock ff01 01: Lock is not connected."), "\(named.errors)")
    let unpaired = try user.run("-e", "connect Lock --first; unpair")
    #expect(unpaired.status == 2 && unpaired.errors.contains("There is no bond with"), "\(unpaired.errors)")
  }

  @Test func aScript() throws {
    let user = try User()
    let script = try TemporaryFolder.file("device Lock\ntest a\n  read ff01\n  expect == \"own\"\nend\n")
    try user.around(Self.foreign)
    let refused = try user.run("run", script)
    #expect(refused.status == 5 && (refused.text + refused.errors).contains(other), "\(refused.text)\(refused.errors)")
    try user.around(Self.foreign, Self.device(own, "own", rssi: -80))
    let passed = try user.run("run", script)
    #expect(passed.status == 0, "\(passed.text)\(passed.errors)")
  }

  @Test func theBrowser() throws {
    let user = try User()
    try user.around(Self.foreign)
    let refused = try user.browser(["Lock"])
    refused.type(String(repeating: BrowserTerminal.second, count: 4))
    try refused.see("Cannot find name:Lock, the bonded device \(own)", "Lock  \(other)")
    // A row of the list is an address.
    refused.type("\r" + BrowserTerminal.second)
    try refused.see("Lock · connected", "foreign")
    refused.quit()
    try user.around(Self.foreign, Self.device(own, "own", rssi: -80))
    let browser = try user.browser(["Lock"])
    try browser.see("Lock · encrypted", "\"own\"", not: ["foreign"])
    browser.quit()
  }

  // MARK: No name

  /// A bonded device that advertises no name is found by the name in its bond.
  @Test func aDeviceWithoutAName() throws {
    let user = try User()
    try user.around(Self.device(own, "own", name: nil))
    #expect(try user.run("read", "Lock", "ff01").text == "own\n")
    #expect(try user.run("read", "lo*", "ff01").text == "own\n")
    #expect(try user.run("connect", "Lock", "--json").records.first?.string("name") == "Lock")
    #expect(try user.run("-e", "connect Lock; read Lock ff01").lines.last?.hasSuffix("own") == true)
    let browser = try user.browser(["Lock"])
    try browser.see("Lock · encrypted", "\"own\"")
    browser.quit()
    try user.around(Self.device(other, "foreign", name: "Gate"))
    let absent = try user.run("read", "Lock", "ff01")
    #expect(absent.status == 2 && absent.errors.contains("The bonded device has the address \(own)/random."), "\(absent.errors)")
  }

  // MARK: Changing addresses

  /// A device that leaves 3 s after the connection, and returns under another address.
  private static func changing() -> (String, String) {
    let leaves = #""on_connect": [{"advertise": false}, {"disconnect": "out_of_range", "after_ms": 3000}],"#
    return (
      device(User.address(0x40_0001), "one", leaves), device(User.address(0x41_2345), "two", #""starts_after_ms": 2000,"#)
    )
  }

  /// The same device is found again by its identity.
  @Test(arguments: [own, "\(own)/random", "Lock", "private"]) func aSessionRestores(_ peer: String) throws {
    let user = try User(irk: true)
    let (before, after) = Self.changing()
    try user.around(before, after)
    let peer = peer == "private" ? "\(User.address(0x40_0001))/random" : peer
    let result = try user.run("-e", "set reconnect on; connect \(peer); read ff01; sleep 30; read ff01; read \(own) ff01")
    #expect(result.status == 0 && result.lines.suffix(3) == ["one", "two", "two"], "\(peer): \(result.text)\(result.errors)")
  }

  @Test(arguments: [own, "Lock"]) func theBrowserRestores(_ peer: String) throws {
    let user = try User(irk: true)
    let (before, after) = Self.changing()
    try user.around(before, after)
    let browser = try user.browser([peer])
    try browser.see("Lock · encrypted", "\"one\"")
    browser.type(String(repeating: BrowserTerminal.second, count: 40))
    try browser.see("Lock · ", not: ["· encrypted"])
    browser.type("\r" + String(repeating: BrowserTerminal.second, count: 5))
    try browser.see("· encrypted", "\"two\"")
    browser.quit()
  }

  /// One device is one line, whatever addresses it had, and @last is still there on the next day.
  @Test func knownDevicesKeepTheIdentity() throws {
    let user = try User(before: Self.device(User.address(0x40_0001), "zero"), "\(User.address(0x40_0001))/random")
    func peers() throws -> [String?] { try user.run("peers", "--json").records.map { $0.string("address") } }
    #expect(try peers() == [own])
    for (number, peer) in zip(1..., ["Lock", "@last", "@last", own, "@lock"]) {
      try user.around(Self.device(User.address(0x41_0000 + UInt32(number)), "value \(number)"))
      let result = try user.run("read", peer, "ff01")
      #expect(result.text == "value \(number)\n", "\(peer): \(result.errors)")
      #expect(try peers() == [own])
      let session = try user.run("-e", "connect \(peer); alias lock; peers", "--json")
      let listed = try session.records.compactMap { $0.string("event") == "peer" ? $0.string("address") : nil }
      #expect(listed == [own], "\(session.text)")
    }
    let aliases = try user.run("alias", "--json").records.map { $0.string("peer") }
    #expect(aliases == ["\(own)/random"])
    let removed = try user.run("unpair", "@last")
    #expect(removed.text == "Removed the bond with Lock (\(own)/random)\n", "\(removed.errors)")
  }

  /// An address of an earlier day also names the bond.
  @Test func anEarlierAddressNamesTheBond() throws {
    let user = try User(irk: true)
    #expect(try user.run("unpair", "\(User.address(0x40_0009))/random").text.contains(own))
    #expect(try user.run("unpair", User.address(0x40_0009)).status == 2)
  }
}
