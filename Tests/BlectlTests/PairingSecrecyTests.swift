import CommandLine
import Foundation
import TestSupport
import Traces

/// Keys and passkeys stay out of everything that blectl writes, except the key store.
@Suite(.timeLimit(.minutes(15))) struct PairingSecrecyTests {
  private static let safe = "D1:00:00:00:03:51", old = "D1:00:00:00:03:52"
  private static let irk = "ec0234a357c8ad05341010a60a397d9b"
  private static let passkey = "975310", wrong = "864209"

  private static func adapter() throws -> String {
    let devices = [("Safe", safe, "true"), ("Old", old, "false")].map { name, address, isSecure in
      """
      {"name": "\(name)", "address": "\(address)/random", "advertisement": {"name": "\(name)"},
       "security": {"passkey": "\(passkey)", "sc": \(isSecure)}, "services": [{"uuid": "ff00", "characteristics": [
         {"uuid": "ff01", "properties": ["read"], "permissions": ["read_authenticated"], "value": "6f6b"}]}]}
      """
    }
    return "sim:\(try TemporaryFolder.file("[\(devices.joined(separator: ","))]"))"
  }

  /// A user whose whole home is searched at the end.
  private final class User {
    let home = TemporaryFolder.path()
    let adapter: String
    private(set) var written: [(source: String, bytes: [UInt8])] = []
    /// All keys that the key store has had, in hexadecimal.
    private(set) var keys: Set<String> = []

    init() throws {
      adapter = try PairingSecrecyTests.adapter()
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    }

    var environment: [String: String] {
      ["HOME": home, "XDG_STATE_HOME": "\(home)/state", "XDG_CONFIG_HOME": "\(home)/config", "XDG_CACHE_HOME": "\(home)/cache"]
    }
    var bonds: String { "\(home)/state/blectl/bonds" }
    var store: String { "\(bonds)/00:00:5E:00:53:01-public.json" }

    /// Runs blectl, and keeps its outputs.
    @discardableResult
    func run(_ arguments: String..., input: String? = nil, status: Int32 = 0) throws -> Blectl.Result {
      let result = try Blectl.run(arguments, input: input.map { Array($0.utf8) }, environment: environment, adapter: adapter)
      #expect(result.status == status, "\(arguments): \(result.errors)")
      written += [("output of \(arguments)", result.output), ("errors of \(arguments)", Array(result.errors.utf8))]
      try noteKeys()
      return result
    }

    func noteKeys() throws {
      let contents = try String(contentsOfFile: store, encoding: .utf8)
      keys.formUnion(contents.matches(of: /"(?:key|irk)":"([0-9a-f]{32})"/).map { String($0.1) })
    }

    /// Gives both bonds an identity resolving key, which simulated devices do not distribute.
    func addIRK() throws {
      let contents = try String(contentsOfFile: store, encoding: .utf8)
      try contents.replacing(#""irk":null"#, with: #""irk":"\#(PairingSecrecyTests.irk)""#).write(
        toFile: store, atomically: true, encoding: .utf8)
      try noteKeys()
    }

    /// All outputs so far, and all files of the user except the key store.
    func everything() throws -> [(source: String, bytes: [UInt8])] {
      let files = FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []
      return try written
        + files.map { "\(home)/\($0)" }.filter { !$0.hasPrefix(bonds) && !FileManager.default.isFolder($0) }.map {
          ($0, Array(try Data(contentsOf: URL(fileURLWithPath: $0))))
        }
    }
  }

  /// Whether some bytes contain a key, in either byte order: raw, in hexadecimal with any separators, or in base 64.
  private static func contains(_ bytes: [UInt8], _ key: String) throws -> Bool {
    let data = Data(bytes)
    let digits = Data(
      String(decoding: bytes, as: UTF8.self).lowercased().replacing("0x", with: "").utf8.filter {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
      })
    let bytes = try #require(Hex.decode(key))
    return [bytes, bytes.reversed()].contains { order in
      data.range(of: Data(order)) != nil || digits.range(of: Data(Hex.encode(order).utf8)) != nil
        || data.range(of: Data(Data(order).base64EncodedString().utf8)) != nil
    }
  }

  @Test func nothingContainsAKey() throws {
    let user = try User()
    for (name, trace) in [("Safe", "t1"), ("Old", "t2")] {
      try user.run("pair", name, "--passkey", Self.passkey, "-vv", "--trace", "\(user.home)/\(trace).btsnoop")
    }
    try user.addIRK()
    #expect(user.keys.count == 4)
    try user.run("read", "Safe", "ff01", "-vv", "--trace", "\(user.home)/t3.btsnoop")
    try user.run("read", "Old", "ff01", "--json", "--trace", "\(user.home)/t4.pcapng")
    try user.run("connect", "Safe", "-v", "--json")
    for name in ["t1.btsnoop", "t2.btsnoop", "t4.pcapng"] {
      try user.run("decode", "\(user.home)/\(name)")
      try user.run("decode", "\(user.home)/\(name)", "--json")
    }
    for arguments in [["bonds"], ["bonds", "--json"], ["peers"], ["config"]] {
      try user.run(arguments[0], arguments.dropFirst().first ?? "-v")
    }
    let copy = TemporaryFolder.path()
    try user.run("bonds", "export", copy)
    try user.run("bonds", "import", copy)
    try user.run("scan", "--duration", "1", "--irk", "\(Self.safe)/random=\(Self.irk)", "-v", "--record", "\(user.home)/scan.blectl")
    try user.run("-e", "connect Old; unpair Old; pair --passkey \(Self.passkey); read ff01", "--record", "\(user.home)/pair.blectl")
    let lines = [
      "connect Safe", "trace \(user.home)/t5.btsnoop", "unpair Safe", "disconnect", "connect Safe",
      #"{"id":"p","command":"pair --passkey \#(Self.passkey)"}"#, "read ff01", "info", "help pair",
    ]
    try user.run("repl", "--json", "-vv", input: lines.joined(separator: "\n") + "\n", status: 64)
    let script = """
      device Old
      test "a"
        pair --passkey \(Self.passkey)
        expect authenticated
        read ff01
        expect == "another"
      end
      test "b"
        unpair \(Self.old)
        pair --passkey \(Self.wrong)
      end
      """
    let path = try TemporaryFolder.file(script)
    try user.run("run", path, "--junit", "\(user.home)/r.xml", "--html", "\(user.home)/r.html", "-vv", status: 7)
    try user.run("run", path, "--json", "--trace", "\(user.home)/t6.btsnoop", status: 7)
    try user.run("---complete", "fish", "blectl", "pair", "")
    try user.run("---complete", "fish", "blectl", "pair", "Safe", "--passkey", "")

    let terminal = try ReplTerminal(state: "\(user.home)/state", environment: user.environment, adapter: user.adapter)
    for line in ["connect Safe", "pair --passkey \(Self.passkey)", "read ff01", "scan --duration 1 --irk \(Self.irk)", "bonds"] {
      try terminal.enter(line)
    }
    _ = terminal.leave()
    #expect(terminal.history?.contains("read ff01") == true)
    try user.noteKeys()

    // The search would find a key.
    let store = Array(try Data(contentsOf: URL(fileURLWithPath: user.store)))
    let everything = try user.everything()
    #expect(everything.count > 40)
    #expect(try user.keys.contains { try Self.contains(store, $0) })
    for key in user.keys {
      for (source, bytes) in everything { #expect(try !Self.contains(bytes, key), "\(source)") }
    }
    for (source, bytes) in everything {
      for passkey in [Self.passkey, Self.wrong] { #expect(Data(bytes).range(of: Data(passkey.utf8)) == nil, "\(source)") }
    }
  }

  @Test(arguments: [
    ("pair SafeLock --passkey 246810 --level 3", "pair SafeLock --passkey … --level 3"), ("pair --passkey=246810", "pair --passkey=…"),
    ("pair --passkey \"246810\"; read ff01", "pair --passkey …; read ff01"), ("pair\t--passkey  246810", "pair --passkey …"),
    ("scan --irk D1:00:00:00:00:50=00ff --key 01", "scan --irk … --key …"), ("pair --passkey @file", "pair --passkey @file"),
    ("pair --passkey -", "pair --passkey -"), ("write ff01 --key", "write ff01 --key"),
    ("pair X '--passkey=246810'", "pair X --passkey=…"), ("pair X \"--passkey\" 246810", "pair X --passkey …"), ("pair --passkey '24", "…"),
    ("read  ff01\tx", "read  ff01\tx"),
    // Nothing stays behind a word that was meant as --passkey.
    ("pair X --passkye 246810 --level 3", "pair X --passkye …"), ("pair X --pass 246810; read ff01", "pair X --pass …; read ff01"),
    ("pair X -passkey 246 810", "pair X -passkey …"), ("pair X --paskey=246810 5", "pair X --paskey=…"),
    ("pair X —passkey 246810", "pair X —passkey …"), ("pair X --Pass-Key 246810", "pair X --Pass-Key …"),
    ("pair X passkey=246810", "pair X passkey=…"), ("pair X --pin 246810", "pair X --pin …"), ("pair X -p 246810", "pair X -p …"),
    ("scan --kye 00ff", "scan --kye …"), ("scan --irks 00ff", "scan --irks …"),
    ("BLECTL_PASSKEY=246810 pair X", "BLECTL_PASSKEY=…"), ("answer 3 246810", "answer …"), ("Answer 3 246810", "Answer …"),
    ("anwser 3 246810", "anwser …"), ("pair X --passkye '24", "…"), ("answer 3 '24", "…"), ("pair X --passkye", "pair X --passkye …"),
    ("246810", "…"), ("2468101", "2468101"), ("read 246810", "read 246810"),
    ("expect field answer == 5", "expect field answer == 5"), ("call X answer code=5", "call X answer code=5"),
    ("scan --passive --duration 3 --phy 1m", "scan --passive --duration 3 --phy 1m"), ("write ff01 -5", "write ff01 -5"),
    ("connect Past --pair --wait", "connect Past --pair --wait"),
  ])
  func hiddenOptions(_ line: String, _ shown: String) { #expect(SecretOptions.hidden(in: line) == shown) }

  // MARK: Traces

  /// The Security Manager PDUs in a trace of a pairing.
  private struct PairingTrace {
    let pdus: [(role: LinkRole, bytes: [UInt8])]

    init(_ name: String, _ options: String...) throws {
      let trace = TemporaryFolder.path()
      let result = try Blectl.run(
        ["pair", name, "--passkey", PairingSecrecyTests.passkey, "--trace", trace] + options,
        environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: PairingSecrecyTests.adapter())
      try #require(result.status == 0, "\(result.errors)")
      pdus = try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: trace)))).compactMap {
        guard $0.packet.first == 2, $0.packet.count > 9, $0.packet[7...8] == [6, 0] else { return nil }
        return ($0.direction == .hostToController ? .central : .peripheral, Array($0.packet[9...]))
      }
    }

    /// The values of all PDUs of one device with a code.
    func numbers(_ role: LinkRole, _ code: UInt8) -> [UInt128] {
      pdus.filter { $0.role == role && $0.bytes[0] == code }.map { $0.bytes.dropFirst().reversed().reduce(0) { $0 << 8 | UInt128($1) } }
    }

    func whole(_ code: UInt8) throws -> UInt64 {
      try #require(pdus.first { $0.bytes[0] == code }).bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// A passkey that fits the confirm value of LE legacy pairing in a trace. Nil if none does.
  private static func fitting(_ trace: PairingTrace, _ passkeys: Range<UInt32>) throws -> UInt32? {
    let (request, response) = (try trace.whole(1), try trace.whole(2))
    let confirm = try #require(trace.numbers(.central, 3).first), random = try #require(trace.numbers(.central, 4).first)
    let central = PeerAddress(try #require(Address("00:00:5E:00:53:01")), .public)
    let device = PeerAddress(try #require(Address(old)), .random)
    return passkeys.first {
      Toolbox.c1(k: UInt128($0), r: random, request: request, response: response, initiator: central, responder: device) == confirm
    }
  }

  @Test func noPasskeyFitsATraceOfLegacyPairing() throws {
    // With its secrets, a trace gives the passkey away.
    #expect(try Self.fitting(PairingTrace("Old", "--trace-secrets"), 975_000..<976_000) == 975_310)
    #expect(try Self.fitting(PairingTrace("Old"), 0..<1_000_000) == nil)
  }

  @Test(arguments: [true, false]) func noBitFitsATraceOfSecureConnections(_ keepsSecrets: Bool) throws {
    let trace = keepsSecrets ? try PairingTrace("Safe", "--trace-secrets") : try PairingTrace("Safe")
    func x(_ role: LinkRole) throws -> [UInt8] {
      try #require(trace.pdus.first { $0.role == role && $0.bytes[0] == 0x0C }).bytes[1..<33].reversed()
    }
    for role in LinkRole.allCases {
      let (u, v) = (try x(role), try x(role.other))
      let bits = zip(trace.numbers(role, 3), trace.numbers(role, 4)).map { confirm, random in
        [0x80, 0x81].filter { Toolbox.f4(u: u, v: v, x: random, z: $0) == confirm }
      }
      #expect(bits == (0..<20).map { keepsSecrets ? [0x80 | UInt8(975_310 >> $0 & 1)] : [] })
    }
  }
}

extension FileManager {
  fileprivate func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return unsafe fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
