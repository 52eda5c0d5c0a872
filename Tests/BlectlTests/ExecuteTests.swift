import Foundation
import Glibc
import TestSupport

/// `-e` runs several commands on one link.
@Suite(.timeLimit(.minutes(15))) struct ExecuteTests {
  private let band = "name:Band-7"

  @Test func stepsOnOneLink() throws {
    let result = try Blectl.run("-e", "read 2a19; write ff02 1b9901; wait ff01; read 2a00", band)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.first == "3c  60 %" && result.lines.last?.hasPrefix("Band-7") == true)
    // The subscription for `wait` preceded the write.
    #expect(result.lines.count == 3 && result.lines[1].contains("ff01 567b"), "\(result.text)")
  }

  @Test func theFirstFailureEndsItUnlessToldToGoOn() throws {
    let steps = "read ffff; read 2a19"
    let first = try Blectl.run("-e", steps, band)
    #expect(first.status == 2 && first.output.isEmpty && first.errors.hasPrefix("blectl: read ffff: "), "\(first.errors)")
    let all = try Blectl.run("-e", steps, band, "-k")
    #expect(all.status == 2 && all.text == "3c  60 %\n" && all.errors.hasPrefix("blectl: read ffff: "))
  }

  /// A mistake in a `wait` is reported for that `wait`. Its early subscription ends with it.
  @Test func lookingAheadBlamesNobodyElse() throws {
    let result = try Blectl.run("-e", "read 2a19; wait ffff -t 1; read 2a00", band, "-k")
    #expect(
      result.status == 2 && result.lines.first == "3c  60 %" && result.errors.hasPrefix("blectl: wait ffff -t 1: "), "\(result.errors)")
    let two = try Blectl.run("-e", "connect name:Band-7; connect name:Panel; use name:Band-7; wait 2a37; read 2a37@2902")
    #expect(two.status == 0 && two.lines.last?.hasPrefix("0000") == true, "\(two.text)\(two.errors)")
  }

  /// Lines that end in a backslash, or seem to.
  @Test func linesGoOn() throws {
    let file = try TemporaryFolder.file("read 2a19 --as \\\nu8 # see C:\\\nread 2a00 \\\n  --as utf8\n")
    let result = try Blectl.run("-e", "source \(file)", band)
    #expect(result.lines == ["60", "Band-7"], "\(result.text)\(result.errors)")
    for text in ["read 2a19 \\", "read 2a19 'a\\\nb'"] {
      let broken = try Blectl.run("-e", text, band)
      #expect(broken.status == 64 && broken.output.isEmpty, "\(broken.text)\(broken.errors)")
    }
  }

  /// Values are subscribed to before the first command, also for a `wait` after options. The subscriptions end with the list.
  @Test func whatIsWaitedForIsSubscribedToBefore() throws {
    let first = try Blectl.run("-e", "read 2a19; write ff02 1b9901; -t 5 wait ff01", band)
    #expect(first.status == 0 && first.text.contains("ff01 567b"), "\(first.text)\(first.errors)")
    let file = try TemporaryFolder.file("read ffff\nwait ff01\n")
    let input = Array("connect name:Band-7\nsource \(file)\nread ff01@2902 --as hex\n".utf8)
    let second = try Blectl.run(["repl"], input: input, adapter: "sim")
    #expect(second.status == 2 && second.lines.last == "0000", "\(second.text)\(second.errors)")
  }

  @Test func recordsWithJSON() throws {
    let result = try Blectl.run("--json", "-e", "read 2a19\nread ffff", band)
    #expect(try result.records.map { $0.string("event") } == ["value"] && result.status == 2)
    #expect(result.error?.string("kind") == "not_found")
  }

  /// Mistakes are found before the device is connected.
  @Test(arguments: [
    ("", "-e is empty"), ("read 2a19; rubbish", "rubbish: Unknown command"), ("read 2a19; write ff02", "write ff02: "),
    ("read 'x", "not closed"), ("read 2a19 -i sim", "is an option of the session"),
  ])
  func whatIsNoCommandIsSaidFirst(_ steps: String, _ mention: String) throws {
    let result = try Blectl.run("-e", steps, band)
    #expect(result.status == 64 && result.output.isEmpty && result.errors.contains(mention), "\(result.errors)\(result.text)")
  }

  @Test func withoutADeviceItConnectsItself() throws {
    let result = try Blectl.run("-e", "connect \(band); read 2a19; disconnect; read 2a19")
    #expect(result.status == 2 && result.lines.contains("3c  60 %") && result.errors.contains("No device is connected"), "\(result.errors)")
  }

  @Test func itsUsage() throws {
    #expect(try Blectl.run("-e").errors.contains("Usage: blectl -e"))
    #expect(try Blectl.run("-e").status == 64 && Blectl.run("-e", "sleep 0", "--first").status == 64)
    let help = try Blectl.run("-e", "--help")
    #expect(help.status == 0 && help.text.contains("USAGE: blectl -e"), "\(help.text)\(help.errors)")
  }

  @Test func waitSaysWhatCameInstead() throws {
    let result = try Blectl.run("-e", "write ff02 1b9901; wait ff01=ff -t 3", band)
    #expect(
      result.status == 4 && result.errors.contains("Received 0 of 1 value starting with ff on ff01 in 3 s. Last value: "),
      "\(result.errors)")
  }
}

/// `connect` with commands on standard input, and sessions on a pipe for people.
@Suite(.timeLimit(.minutes(15))) struct ConnectWithCommandsTests {
  @Test(arguments: [["connect", "name:Band-7"], ["connect", "name:Band-7", "-"], ["repl", "name:Band-7"]])
  func commandsAreRunOnTheLink(_ arguments: [String]) throws {
    let result = try Blectl.run(arguments, input: Array("read 2a19\n\n# comment\nread ffff\nread 2a00".utf8))
    #expect(result.status == 2 && result.lines.first?.hasPrefix("Connected to ") == true)
    #expect(result.lines.contains("3c  60 %") && result.lines.last?.hasPrefix("Band-7") == true)
    #expect(result.errors.contains("blectl: line 4: "), "\(result.errors)")
  }

  @Test func withJSONAProgramTalks() throws {
    let result = try Blectl.run(["connect", "name:Band-7", "--json"], input: Array("read 2a19\n".utf8))
    #expect(try result.records.map { $0.string("event") } == ["connected", "value", "done"])
    #expect(try result.records.allSatisfy { $0.string("peer") == "C0:FF:EE:00:00:07/public" }, "\(result.text)")
  }

  @Test func itEndsWithItsOneDevice() throws {
    let running = try Blectl.start(["connect", Fleeting.peer], adapter: try Fleeting.adapter())
    running.send(line: "write fff2 00")
    running.send(line: "sleep 100")
    #expect(running.wait().status == 6)
  }

  @Test func aFileOfCommands() throws {
    let inner = try TemporaryFolder.file("read 2a00\n")
    let outer = try TemporaryFolder.file("# battery\nread \\\n  2a19\nsource '\(inner)'\nread ffff\nread 2a01\n")
    let result = try Blectl.run(["connect", "name:Band-7"], input: Array("source '\(outer)'\nread 2a19 --as u8\n".utf8))
    #expect(result.status == 2 && result.lines.suffix(3).map { String($0.prefix(6)) } == ["3c  60", "Band-7", "60"], "\(result.text)")
    #expect(result.errors.contains("line 1: ") && result.errors.contains("\(outer):5: "), "\(result.errors)")
    let all = try Blectl.run(["connect", "name:Band-7"], input: Array("source -k '\(outer)'\n".utf8))
    #expect(all.status == 2 && all.lines.count > 10, "\(all.text)")
    for (text, status) in [("read 2a19 \\", Int32(64)), ("# c:\\\nread ffff", 2), ("read 2a19\r\nread ffff\r\n", 2)] {
      let file = try TemporaryFolder.file(text)
      let result = try Blectl.run(["connect", "name:Band-7"], input: Array("source '\(file)'\n".utf8))
      #expect(result.status == status && (status == 64 || result.errors.contains("\(file):2: ")), "\(text): \(result.errors)")
    }
    let itself = TemporaryFolder.path()
    try Data("source '\(itself)'\n".utf8).write(to: URL(fileURLWithPath: itself))
    let endless = try Blectl.run("repl", input: Array("source '\(itself)'\n".utf8))
    #expect(endless.status == 66 && endless.errors.contains("Does a file run itself?"), "\(endless.errors)")
  }

  @Test func settings() throws {
    let result = try Blectl.run(
      ["repl"],
      input: Array(
        "set format hex\nset timeout 3\nset\nconnect name:Band-7\nread 2a19\nset format auto\nread 2a19\nset format x\nset x\nwait ff01\n"
          .utf8))
    #expect(
      result.lines.prefix(3) == ["format hex", "timeout 3.0", "reconnect off"] && result.lines.suffix(2) == ["3c", "3c  60 %"],
      "\(result.text)")
    #expect(result.errors.contains("line 8: Unknown format") && result.errors.contains("line 9: Unknown setting"))
    #expect(result.errors.contains("in 3 s"), "\(result.errors)")
  }

  @Test func aDeviceGetsAName() throws {
    let home = TemporaryFolder.path()
    let lines = [
      "alias", "connect name:Band-7", "alias band", "alias panel name:Panel", "alias", "disconnect", "read @band 2a19",
      "alias panel --delete", "alias",
      "alias", "read @panel 2a00", "alias x", "alias 'a b' name:x", "alias x --delete",
    ]
    let first = try Blectl.run(["repl"], input: Array(lines.joined(separator: "\n").utf8), environment: ["XDG_STATE_HOME": home])
    let names = first.lines.filter { $0.hasPrefix("@") }
    #expect(
      names == ["@band C0:FF:EE:00:00:07/public", "@panel name:Panel", "@band C0:FF:EE:00:00:07/public", "@band C0:FF:EE:00:00:07/public"],
      "\(first.text)")
    #expect(first.lines.contains("3c  60 %"))
    for line in [11, 12, 13, 14] { #expect(first.errors.contains("line \(line): "), "\(first.errors)") }
    // The alias also works on the command line.
    #expect(try Blectl.run(["read", "@band", "2a19"], environment: ["XDG_STATE_HOME": home]).text == "3c  60 %\n")
  }

  @Test func aCommandOfTheShell() throws {
    let result = try Blectl.run(
      ["repl"], input: Array("!echo one; exit 3\n! cat </dev/null | true\nset reconnect on\nset reconnect\n!kill -9 $$\n".utf8))
    #expect(result.status == 0 && result.text == "one\nreconnect on\n", "\(result.text)\(result.errors)")
    #expect(try Blectl.run(["repl", "--json"], input: Array("!echo\n".utf8)).records.first?.int("status") == 64)
  }

  @Test func controlCEndsItToo() throws {
    let running = try Blectl.start(["repl"])
    running.send(line: "!echo begun; trap '' TERM; sleep 1000")
    #expect(running.waitForOutput(containing: "begun"))
    #expect(running.end(by: SIGINT).status == 130)
  }
}
