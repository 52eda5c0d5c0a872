import Foundation
import Glibc
import TestSupport

/// State that outlives a command: the connected devices and their aliases.
@Suite(.timeLimit(.minutes(15))) struct PeersTests {
  /// The folder in XDG_STATE_HOME and XDG_CONFIG_HOME.
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/blectl/devices" }

  private func blectl(_ arguments: String..., input: String? = nil, adapter: String? = "sim") throws -> ProcessResult {
    try Blectl.run(
      arguments, input: input.map { Array($0.utf8) }, environment: ["XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder], adapter: adapter)
  }

  private func write(_ text: String, to name: String = "devices") throws {
    try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/blectl/\(name)"))
  }

  private var log: [String] { (try? String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)) ?? [] }

  static let band = #"{"connected":"2026-01-02T03:04:05.678Z","peer":"C0:FF:EE:00:00:07/public","name":"Band-7","air":"sim"}"#
  static let lock =
    #"{"connected":"2026-01-03T03:04:05.678Z","peer":"D1:00:00:00:00:01/random","found_by":"mac:A4:C1:38:00:11:22","air":"sim"}"#

  @Test func whoWasConnectedIsKnown() throws {
    #expect(try blectl("peers").errors.contains("No connections. No earlier connections are known."))
    #expect(try blectl("connect", "name:band-7").status == 0)
    #expect(try blectl("read", "mac:A4:C1:38:00:11:22", "ffe2").status == 0)
    // A connection by address hears no name, but the name is still known.
    #expect(try blectl("read", "C0:FF:EE:00:00:07/public", "2a19").status == 0)
    #expect(log.count == 3)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    let records = try blectl("peers", "--json").records
    #expect(records.map { $0.string("event") } == ["peer", "peer"])
    #expect(records.map { $0.string("address") } == ["C0:FF:EE:00:00:07", "D1:00:00:00:00:01"])
    #expect(records.map { $0.string("address_type") } == ["public", "random"])
    #expect(records.map { $0.string("name") } == ["Band-7", "GateLock"])
    #expect(records.map { $0.bool("connected") } == [false, false] && records.map { $0.bool("ours") } == [false, false])
    #expect(records.map { $0.string("found_by") } == ["name:band-7", "mac:A4:C1:38:00:11:22"])
    // The machine's date, in virtual time too.
    let now = try #require(records.last?.string("last_connected"))
    let date = try Date(now, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    #expect(abs(date.timeIntervalSinceNow) < 3600 && records.allSatisfy { $0.strings("aliases").isEmpty }, "\(now)")
    let table = try blectl("peers").lines
    #expect(
      table.count == 3 && table[0].hasPrefix("PEER") && table[1].contains("Band-7")
        && table[2].contains(now.prefix(13).replacing("T", with: " ")), "\(table)")
    #expect(try blectl("peers", "--time", "relative").lines[1].contains(" 0.000"))
    let rows = try blectl("peers", "--csv", "--time", "none").lines
    #expect(try rows.count == 3 && !rows.joined().contains(now.prefix(10)) && blectl("peers", "--csv").text.contains(now), "\(rows)")
    #expect(try blectl("read", "@last", "2a19").text == "3c  60 %\n")
  }

  /// Simulated and recorded devices are not offered to a radio, nor the reverse.
  @Test func everyAirHasItsOwn() throws {
    let trace = TemporaryFolder.path()
    #expect(try blectl("read", "name:Band-7", "2a19", "--trace", trace).status == 0)
    #expect(try blectl("repl", input: "connect name:GateLock --first\nalias here\nalias\n").status == 0)
    #expect(try blectl("read", "name:Band-7", "2a19", adapter: "replay:\(trace)").status == 0)
    func known(_ adapter: String) throws -> [String] {
      let result = try blectl("peers", "--json", adapter: adapter)
      #expect(result.status == 0, "\(result.errors)")
      return try result.records.map { ($0.string("name") ?? "") + $0.strings("aliases").map { "@" + $0 }.joined() }
    }
    #expect(try known("sim") == ["GateLock@here", "Band-7"])
    #expect(try known("replay:\(trace)") == ["Band-7"])
    #expect(try known("hci99") == [] && known("user:99") == [] && known("sim:/nowhere") == [])
    for peer in ["@last", "@here"] {
      let real = try blectl("read", peer, "2a19", adapter: "hci99")
      #expect(real.status == 2, "\(real.errors)")
    }
    // A device in an older log belongs to a radio.
    try write(log.joined(separator: "\n") + "\n" + Self.band.replacing(#","air":"sim""#, with: "") + "\n")
    #expect(try known("hci99") == ["Band-7"] && known("sim") == ["GateLock@here", "Band-7"])
    #expect(try blectl("read", "@last", "ffe2").text == "SHUT\n")
    // An alias from a radio works everywhere, and can be removed everywhere.
    try write(log.joined(separator: "\n") + "\n" + #"{"alias":"there","peer":"name:Panel"}"# + "\n")
    #expect(try blectl("read", "@there", "fff7").status == 0)
    #expect(try blectl("repl", input: "alias there --delete\nalias here --delete\n").status == 0)
    #expect(try blectl("read", "@there", "fff7").status == 2 && known("sim") == ["Panel", "GateLock", "Band-7"])
  }

  /// Aliases come from a session, or from the configuration, which takes precedence.
  @Test func aliases() throws {
    try write([Self.band, Self.lock, #"{"alias":"band","peer":"C0:FF:EE:00:00:07/public"}"#].joined(separator: "\n") + "\n")
    #expect(try blectl("read", "@band", "2a19").text == "3c  60 %\n")
    #expect(try blectl("peers", "--json").records.first { $0.string("name") == "Band-7" }?.strings("aliases") == ["band"])
    try write(
      #"{"aliases": {"band": "name:panel", "door": "mac:A4:C1:38:00:11:22", "far": "AA:AA:AA:AA:AA:AA", "old": "@last"}}"#,
      to: "config.json")
    #expect(try blectl("read", "@band", "fff7").status == 0)
    let records = try blectl("peers", "--json").records
    let names = Dictionary(records.map { ($0.strings("aliases"), $0.string("address") ?? $0.string("found_by")) }) { first, _ in first }
    #expect(
      names == [["door"]: "D1:00:00:00:00:01", []: "C0:FF:EE:00:00:07", ["far"]: "AA:AA:AA:AA:AA:AA", ["band"]: "D1:00:00:00:00:10"],
      "\(names)")
    let unknown = try blectl("read", "@nobody", "2a19")
    #expect(unknown.status == 2 && unknown.errors.contains("Known aliases: band, door, far, old"), "\(unknown.errors)")
  }

  @Test func withoutAnAdapter() throws {
    try write(Self.band.replacing(#","air":"sim""#, with: "") + "\n")
    for adapter in ["hci99", "user:99"] {
      let result = try blectl("peers", "--json", adapter: adapter)
      #expect(result.status == 0, "\(result.errors)")
      #expect(try result.records.map { $0.string("address") } == ["C0:FF:EE:00:00:07"])
      if adapter == "hci99" {
        #expect(
          try result.records.first?.bool("connected") == nil && result.errors.contains("Listing only earlier connections"),
          "\(result.errors)"
        )
      }
    }
  }

  /// Many commands that end at the same time.
  @Test func manyAtOnce() throws {
    let environment = ["XDG_STATE_HOME": folder]
    let running = try (0..<12).map { _ in try Blectl.start(["read", "name:Band-7", "2a19"], environment: environment, hasInput: false) }
    for one in running { #expect(one.wait().status == 0) }
    #expect(log.count == 12 && log.allSatisfy { $0.hasPrefix("{\"connected\":\"") && $0.hasSuffix(#","air":"sim"}"#) }, "\(log)")
  }

  /// A broken state neither stops a command nor gives a message.
  @Test(arguments: ["{broken", "\u{0}\u{1}\u{FFFD}", String(repeating: "x", count: 100_000), "folder", "nowhere"]) func aBrokenState(
    _ text: String
  ) throws {
    switch text {
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    case "nowhere": try Data().write(to: URL(fileURLWithPath: folder))
    default: try write(text)
    }
    let result = try blectl("read", "name:Band-7", "2a19")
    #expect(result.status == 0 && result.text == "3c  60 %\n" && result.errors.isEmpty, "\(result.errors)")
    let peers = try blectl("peers", "--json")
    #expect(peers.status == 0)
    if text.hasPrefix("{") || text.hasPrefix("x") {
      #expect(try peers.records.map { $0.string("name") } == ["Band-7"])
      #expect(try blectl("read", "@last", "2a19").status == 0)
    }
  }

  /// Text from the file is escaped like text from the air.
  @Test func escapesAreShown() throws {
    try write(#"{"connected":"2026-01-02T03:04:05.678Z","peer":"C0:FF:EE:00:00:07/public","name":"\u001b[2J\u202e","air":"sim"}"# + "\n")
    let text = try blectl("peers").text
    #expect(text.contains("\\x1b[2J") && !text.contains("\u{1b}") && !text.contains("\u{202e}"), "\(text)")
  }
}
