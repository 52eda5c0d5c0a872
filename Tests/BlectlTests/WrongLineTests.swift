import Foundation
import TestSupport

/// Lines with a mistake. Each message leads to a line, and that line works.
@Suite(.timeLimit(.minutes(15))) struct WrongLineTests {
  /// A folder with the files that the lines name.
  private final class Folder {
    let path = TemporaryFolder.path()

    init(devices: String = "") throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let scripts = [
        "comment": "// a comment", "if": "device Band-7\nif read 2a19", "for": "for 1..3", "while": "while true", "assert": "assert 3c",
        "print": "print x",
        "delay": "delay 500", "import": "import login", "var": "var A = 1", "describe": "describe opens", "brace": "note a\n}",
        "ls": "ls -l",
        "xyzzy": "xyzzy", "help": "device Band-7\nread --help", "else": "else", "elif": "elif x", "endif": "endif", "then": "then",
        "switch": "switch x", "foreach": "foreach x", "loop": "loop 3", "verify": "verify 3c", "should": "should x", "it": "it opens",
        "scenario": "scenario x", "function": "function x", "def": "def x", "echo": "echo x", "puts": "puts x", "log": "log x",
        "pause": "pause 5", "const": "const A = 1", "rem": "rem a comment", "slash": "/* a comment */", "open": "{",
        "tags": "test battery quick\nnote x\nend",
      ]
      var files = [
        "and.txt": "read 2a19 && read 2a00\n", "lines.txt": "sleep 1\n", "echo.txt": "echo hello\n", "config.txt": "config\n",
        "nobody.txt": "connect Nobody -t 1\n", "unpair.txt": "unpair Panel\n", "write.txt": "write ff02 = 1b9901\n",
        "devices.json": WrongLineTests.twin,
        "names.json": WrongLineTests.names,
      ]
      for (name, text) in scripts { files["\(name).blectl"] = text + "\n" }
      for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
      _ = try run("blectl --trace trace.btsnoop connect Band-7; blectl alias door Band-7")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func run(_ line: String, adapter: String = "sim") throws -> (status: Int32, output: String, errors: String) {
      let program = URL(fileURLWithPath: Blectl.path).deletingLastPathComponent().path
      return try Shell.run(
        "cd '\(path)'; export PATH='\(program)':/usr/bin:/bin XDG_STATE_HOME='\(path)' TERM=xterm LC_ALL=C.UTF-8 BLECTL_CLOCK=virtual BLECTL_ADAPTER=\(adapter)\n\(line)"
      )
    }
  }

  /// NULs, blanks and a line feed around and inside names, invalid UTF-8, and names that look like other words.
  private static let names = """
    [{"name": "B35", "address": "D1:00:00:00:00:31/random", "advertisement": ["020106", "1209", {"utf8": "B35T+"}, "000000000000000000000000"],
      "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff4", "properties": ["read", "notify"], "value": "01"}]}]},
     {"name": "bad", "address": "D1:00:00:00:00:32/random", "advertisement": ["020106", "0709ff41c3284229"]},
     {"name": "cmd", "address": "D1:00:00:00:00:33/random", "advertisement": {"flags": 6, "name": "=HYPERLINK(\\"a\\"),\\nx"}},
     {"name": "nul", "address": "D1:00:00:00:00:34/random", "advertisement": ["020106", "020900"]},
     {"name": "sp", "address": "D1:00:00:00:00:35/random", "advertisement": {"flags": 6, "name": " Lamp  "}},
     {"name": "short", "address": "D1:00:00:00:00:36/random", "advertisement": {"flags": 6, "short_name": "Ther"}, "scan_response": {"name": "Thermometer Kitchen"}},
     {"name": "box", "address": "D1:00:00:00:00:38/random", "advertisement": {"flags": 6, "name": "Box[1]*"}},
     {"name": "uuid", "address": "D1:00:00:00:00:39/random", "advertisement": {"flags": 6, "name": "2a19"}},
     {"name": "colon", "address": "D1:00:00:00:00:3a/random", "advertisement": {"flags": 6, "name": "a:x"}},
     {"name": "emoji", "address": "D1:00:00:00:00:37/random", "advertisement": {"flags": 6, "name": "Lampe 💡 Flur"}}]
    """

  private static let twin = #"[{"name": "Twin", "address": "D1:00:00:00:00:63/random", "advertisement": {"flags": 6, "name": "Twin"}}]"#

  private func check(_ rows: [WrongLines.Row], adapter: String = "sim") throws {
    let folder = try Folder()
    for row in rows {
      let result = try folder.run("blectl \(row.wrong)", adapter: adapter)
      let message = result.errors
      #expect(message.contains(row.mention), "\(row.wrong): \(message)")
      #expect(!message.contains("It means") && !message.contains { "“”".contains($0) }, "\(row.wrong): \(message)")
      // Only a scan for a name that no device has succeeds.
      if !row.wrong.hasPrefix("scan") { #expect(result.status != 0, "\(row.wrong): \(message)") }
      let last = message.split(separator: "\n").last { !$0.hasPrefix("Usage") && !$0.hasPrefix("  Help") } ?? ""
      let isWhole = last.last.map { ".?!…".contains($0) } ?? false
      let isEnded = isWhole ? true : last.contains(": ")
      #expect(isEnded, "\(row.wrong): \(message)")
      let right = try folder.run(row.right, adapter: adapter)
      #expect(right.status == 0, "\(row.wrong) leads to \(row.right): \(right.errors)")
    }
  }

  @Test func paddedNames() throws { try check(WrongLines.names, adapter: "sim:names.json") }

  @Test func accidents() throws { try check(WrongLines.accidents) }

  @Test func words() throws { try check(WrongLines.places) }

  @Test func formsOfValues() throws { try check(WrongLines.forms) }

  @Test func theTableIsLong() {
    let rows = [WrongLines.names, WrongLines.accidents, WrongLines.places, WrongLines.forms].flatMap(\.self)
    #expect(rows.count >= 220 && Set(rows.map(\.wrong)).count == rows.count, "\(rows.count)")
    // Names, and words at the wrong place.
    #expect(WrongLines.names.count + WrongLines.places.count >= 140)
  }

  @Test func aPaddedNameMatchesWithoutItsPadding() throws {
    let folder = try Folder()
    for word in ["B35T+", "name:b35t+", "Lamp", "name:lamp", "'name:B*+'", "'name: Lamp  '"] {
      let result = try folder.run("blectl connect \(word)", adapter: "sim:names.json")
      #expect(result.status == 0, "\(word): \(result.errors)")
    }
    let session = try folder.run("printf 'scan -d 2 -q\\nconnect Lamp\\ndisconnect Lamp\\n' | blectl repl", adapter: "sim:names.json")
    #expect(session.status == 0, "\(session.errors)")
  }

  /// The MAC of GateLock is in its manufacturer data. Its sender is D1:00:00:00:00:01.
  @Test func aScanForAMACInTheAdvertisement() throws {
    func addresses(_ words: String...) throws -> Set<String> {
      let result = try Blectl.run(["scan", "-d", "2", "--json"] + words)
      #expect(result.status == 0, "\(result.errors)")
      return Set(try result.records.compactMap { $0.string("address") })
    }
    #expect(try addresses("mac:A4:C1:38:00:11:22") == ["D1:00:00:00:00:01"])
    #expect(try addresses("mac:a4c138001122", "mac:A4:C1:38:00:11:23") == ["D1:00:00:00:00:01"])
    #expect(try addresses("mac:A4:C1:38:00:11:23").isEmpty)
    // It holds beside all other filters.
    #expect(try addresses("mac:A4:C1:38:00:11:22", "gate") == ["D1:00:00:00:00:01"])
    #expect(try addresses("mac:A4:C1:38:00:11:22", "Panel").isEmpty)
    #expect(try addresses("mac:A4:C1:38:00:11:22", "D1:00:00:00:00:10").isEmpty)
    #expect(try addresses("mac:A4:C1:38:00:11:22", "--address", "D1:00:00:00:00:10").isEmpty)
    #expect(try addresses("mac:A4:C1:38:00:11:22", "--service", "180d").isEmpty)
    #expect(try addresses("mac:A4:C1:38:00:11:22", "--manufacturer", "004c").isEmpty)
    #expect(try addresses("mac:A4:C1:38:00:11:22", "--min-rssi", "20").isEmpty)
    #expect(try Blectl.run("scan", "mac:12").status == 64)
  }

  @Test func aMACThatNoRuleKnows() throws {
    let devices = [("41", "0dffffff0102a4c1380011220304"), ("42", "07ffffff01221100")].map {
      #"{"name": "\#($0)", "address": "D1:00:00:00:00:\#($0)/random", "advertisement": ["\#($1)"]}"#
    }
    let file = try TemporaryFolder.file("[\(devices.joined(separator: ", "))]")
    let result = try Blectl.run(["scan", "mac:A4:C1:38:00:11:22", "-d", "2", "--json"], adapter: "sim:\(file)")
    #expect(try Set(result.records.map { $0.string("address") }) == ["D1:00:00:00:00:41"], "\(result.text)\(result.errors)")
  }

  @Test func whatDecodeTakes() throws {
    let value = try Blectl.run("decode", "value", "heart_rate", "0648")
    #expect(value.status == 0 && value.text.contains("72 bpm") && value.errors.contains("heart_rate means heart_rate_measurement (2a37)."))
    for packet in ["ACL Data RX: 02 40 20 07 00 03 00 04 00 0a 11 00", "> ACL Data TX: 02 40 20 07 00 03 00 04 00 0a 11 00"] {
      let acl = try Blectl.run("decode", packet)
      #expect(acl.status == 0 && acl.text.contains("Read Request"), "\(acl.text)\(acl.errors)")
    }
    // The name of an adapter is no kind of packet.
    #expect(try Blectl.run("decode", "[hci0] adv data: 0201060303f0ff").errors.contains(" as adv."))
    #expect(try Blectl.run("write", "Panel", "fff8", "5").status == 0)
    for (input, kind) in [
      ("0201060302f0ff\n", "adv"), ("ACL Data TX: 02 40 20 07 00 03 00 04 00 0a 11 00\n", "hci"), ("0a1100\n", "att"),
    ] {
      let result = try Blectl.run("decode", "-", input: Array(input.utf8))
      #expect(result.status == 0 && result.errors.contains(" as \(kind)."), "\(input): \(result.errors)")
    }
  }
}
