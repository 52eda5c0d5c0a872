import Foundation
import Glibc
import TestSupport

@testable import CommandLine

/// `bonds export` and `bonds import`.
@Suite(.timeLimit(.minutes(15))) struct BondFileTests {
  private let state = TemporaryFolder.path()

  private func run(_ arguments: String...) throws -> Blectl.Result {
    try Blectl.run(arguments, input: [], environment: ["XDG_STATE_HOME": state])
  }

  private func write(_ text: String, _ folders: String...) throws -> String {
    let folder = TemporaryFolder.path()
    let place = ([folder] + folders).joined(separator: "/")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try text.write(toFile: "\(place)/info", atomically: true, encoding: .utf8)
    return folder
  }

  @Test func exportedBondsWorkAfterTheirImport() throws {
    #expect(try run("bonds", "export", TemporaryFolder.path()).status == 2)
    #expect(try run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let (file, before) = (TemporaryFolder.path(), try run("bonds", "--json").text)
    let exported = try run("bonds", "export", file)
    #expect(exported.status == 0 && exported.text.hasPrefix("Exported 1 bond to"), "\(exported.text)")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(try run("unpair", "--all").status == 0 && run("read", "SafeLock", "ff51").status == 5)
    #expect(try run("bonds", "import", file, "--json").text == before)
    // A second import changes nothing.
    #expect(try run("bonds", "import", file).status == 0)
    #expect(try run("bonds", "--json").text == before && run("read", "SafeLock", "ff51").text == "locked\n")
    let key = try #require(try String(contentsOfFile: file, encoding: .utf8).firstMatch(of: /"key":"([0-9a-f]{32})"/)?.1)
    #expect(try !(run("bonds", "import", file).text + run("bonds", "import", file).errors).contains(key))
  }

  @Test func filesOfBluetoothd() throws {
    #expect(try run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let own = "\(state)/blectl/bonds/00:00:5E:00:53:01-public.json"
    let key = String(try #require(try String(contentsOfFile: own, encoding: .utf8).firstMatch(of: /"key":"([0-9a-f]{32})"/)?.1))
    let reversed = Hex.encode(try #require(Hex.decode(key)).reversed())
    #expect(try run("unpair", "--all").status == 0)
    let info =
      "[General]\nName=Lock\nAddressType=static\n[PeripheralLongTermKey]\nKey=\(reversed)\nAuthenticated=3\nEncSize=16\nEDiv=0\nRand=0\n"
    let folder = try write(info, "00:00:5E:00:53:01", "D1:00:00:00:00:50")
    let broken = "\(folder)/00:00:5E:00:53:01/D1:00:00:00:00:51"
    try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
    try "[LongTermKey]\nKey=5\nEncSize=16\n".write(toFile: "\(broken)/info", atomically: true, encoding: .utf8)
    let result = try run("bonds", "import", folder)
    #expect(result.status == 66 && result.errors.contains("\(broken)/info:2: Key: Expected 32 hex digits"), "\(result.errors)")
    #expect(result.text.contains("D1:00:00:00:00:50/random  Lock  passkey  16 bytes"), "\(result.text)")
    #expect(try run("read", "SafeLock", "ff51").text == "locked\n")
    // A classic device is no mistake.
    try FileManager.default.removeItem(atPath: broken)
    try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
    try "[LinkKey]\nKey=5\n".write(toFile: "\(broken)/info", atomically: true, encoding: .utf8)
    #expect(try run("bonds", "import", folder).status == 0 && run("bonds", "import", "\(broken)/info").errors.contains("no LE key"))
    let single = try run("bonds", "import", "\(folder)/00:00:5E:00:53:01/D1:00:00:00:00:50/info")
    #expect(single.status == 0 && single.text.contains("D1:00:00:00:00:50"), "\(single.text)\(single.errors)")
    // The address in the folder is that of another adapter.
    #expect(single.errors.isEmpty)
    let foreign = try run("bonds", "import", try write(info, "00:00:5E:00:53:02", "D1:00:00:00:00:50"))
    #expect(foreign.status == 0 && foreign.text.contains("00:00:5E:00:53:02/public"))
    #expect(foreign.errors.contains("The bonds of 00:00:5E:00:53:02 work only with an adapter of this address"), "\(foreign.errors)")
    let elsewhere = try run("bonds", "import", try write(info))
    #expect(elsewhere.status == 66 && elsewhere.errors.contains("/var/lib/bluetooth/ADAPTER/DEVICE/info"), "\(elsewhere.errors)")
  }

  /// A controller without a public address takes the address of the bonds.
  @Test(.onLoop) @LoopActor func theStaticAddress() async throws {
    let store = BondStore(folder: state)
    let peer = PeerAddress(Address(rawValue: 1), .public)
    let key = LongTermKey(key: 1, security: LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true))
    let bond = Bond(identity: peer, irk: nil, keys: [key], method: .justWorks)
    try store.add([StoredBond(bond, of: peer, created: 0, name: nil)])
    #expect(try store.staticAddress() == nil)
    let random = Address(rawValue: 0xC000_0000_0002)
    try store.add([StoredBond(bond, of: PeerAddress(random, .random), created: 0, name: nil)])
    #expect(try store.staticAddress() == random)
  }

  /// A folder of bonds that the user may not enter may hide the bond that protects a device. It is not an empty folder.
  @Test func aClosedFolderIsAnError() throws {
    #expect(try run("pair", "SafeLock", "--passkey", "246810").status == 0)
    let bonds = "\(state)/blectl/bonds"
    func close(_ isClosed: Bool) throws {
      try FileManager.default.setAttributes([.posixPermissions: isClosed ? 0 : 0o700], ofItemAtPath: bonds)
    }
    try close(true)
    defer { try? close(false) }
    // Root may enter each folder, unless it has no capabilities.
    let isRoot = geteuid() == 0
    let result = try RunningProcess.run(
      (isRoot ? ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] : []) + [Blectl.path, "read", "SafeLock", "ff51"],
      environment: ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": state, "BLECTL_ADAPTER": "sim", "BLECTL_CLOCK": "virtual"])
    #expect(result.status == 66 && result.errors.contains("-public.json\": permission denied (EACCES)."), "\(result.errors)")
  }

  @Test func wrongFiles() throws {
    let other = try TemporaryFolder.file("x")
    let link = TemporaryFolder.path()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
    #expect(try run("pair", "SafeLock", "--passkey", "246810").status == 0)
    for (arguments, status, message) in [
      (["export", "-"], 64, "blectl does not print keys."), (["export", "/dev/stdout"], 64, "blectl does not print keys."),
      (["export", "/dev/fd/1"], 64, "blectl does not print keys."), (["export", "/proc/self/fd/1"], 64, "blectl does not print keys."),
      (["export"], 64, "Name the file: blectl bonds export FILE"), (["copy", "x"], 64, "Without an action, bonds lists the bonds."),
      (["delete", "x"], 64, "unpair PEER"),
      (["export", link], 74, "Cannot write the keys to \"\(link)\": it is a symbolic link"), (["import", "/nowhere"], 66, "/nowhere"),
      (["import", TemporaryFolder.path()], 66, "no such file"),
      (["import", try TemporaryFolder.file("{\n \"bonds\": [{}]}")], 66, ":2: adapter: Expected adapter and adapter_type"),
    ] as [([String], Int32, String)] {
      let result = try Blectl.run(["bonds"] + arguments, input: [], environment: ["XDG_STATE_HOME": state])
      #expect(result.status == status && result.errors.contains(message), "\(arguments): \(result.status) \(result.errors)")
    }
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "x")
  }

  /// A file that others could read becomes one that they cannot, and who has it open reads no key.
  @Test func anOldFileIsReplaced() throws {
    let file = try TemporaryFolder.file("x")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let before = try #require(FileHandle(forReadingAtPath: file))
    #expect(try run("pair", "SafeLock", "--passkey", "246810").status == 0 && run("bonds", "export", file).status == 0)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(try before.readToEnd() == Data("x".utf8) && run("bonds", "import", file).status == 0)
  }
}
