import Foundation
import TestSupport

extension KernelTests {
  /// Runs BlueZ's gatttool and ours in turn with the same arguments, adapter and device. Output (byte for byte) and exit codes must match.
  @Suite struct GatttoolTests {
    private static let common = ["-i", "hci0", "-b", BumbleAir.peer, "-t", "random"]
    private static let custom = "6f1c0001-8a3e-4b52-9c1d-2e7f90a1b3c4"

    /// Options, and whether gatttool exits by itself. Otherwise the test stops it after its last output.
    private static let table: [(options: String, ends: Bool)] = [
      ("--primary", true), ("--primary -u 1800", true), ("--primary --uuid=0xffe0", true), ("--primary -u \(custom)", true),
      ("--primary -u abcd", true), ("--primary -m 100", true), ("--primary -l low", true), ("--characteristics", true),
      ("--characteristics -s 0x10 -e 0x16", true), ("--characteristics --uuid 2a00", true), ("--characteristics -u abcd", true),
      ("--characteristics --start=0xf000", true), ("--characteristics -s 5 -e 1", true), ("--char-desc", true),
      ("--char-desc -s 1 -e 5", true),
      ("--char-desc -s 0xf000", false), ("--char-desc -s 5 -e 1", false), ("--char-read -a 3", true), ("--char-read --handle=0x0015", true),
      ("--char-read -a 0xf000", true), ("--char-read -a 0x0010", true), ("--char-read -a 65539", true), ("--char-read -u 2a00", true),
      ("--char-read -u ffe3", true), ("--char-read -u 2803 -s 0x10", true), ("--char-read -u abcd", true), ("--char-read -u ffe1", true),
      ("--char-read -u 6f1c0002-8a3e-4b52-9c1d-2e7f90a1b3c4", true), ("--char-read", true), ("--char-read -a 0", true),
      ("--char-write", true), ("--char-write -a 0x10", true), ("--char-write -a 0x10 -n 1", true),
      ("--char-write-req -a 0x17 -n 00ff1z", true), ("--char-write-req -a 0x17 --value=\(String(repeating: "5a", count: 100))", true),
      ("--char-read -a 0x17", true), ("--char-write-req -a 0x12 -n 00", true), ("--char-write-req -a 0x17 -n 00ff10", true),
      ("--char-write-req -a 0xf000 -n 00", true), ("--primary --char-read --listen", true), ("--characteristics -u zz", true),
      ("--char-write-req -a 0x21 -n 02", true),
    ]

    /// Runs all of theirs on the one link that the kernel keeps, then all of ours. One option is left out: gatttool 5.66 sends nothing for
    /// `--char-write` with a value, and does not exit.
    @Test func requests() throws {
      try Guest.lock()
      let lines = Self.table.map { Self.common + $0.options.split(separator: " ").map(String.init) }
      let theirs = try zip(lines, Self.table).map { try run(["gatttool"] + $0, ends: $1.ends) }
      try Guest.waitForNoLink()
      for ((line, entry), theirs) in zip(zip(lines, Self.table), theirs) {
        let ours = try run([Blectl.path, "gatttool"] + line, ends: true)
        #expect(
          ours.text == theirs.text && ours.errors == theirs.errors,
          "\(entry.options): \(ours.text)\(ours.errors) not \(theirs.text)\(theirs.errors)")
        if entry.ends { #expect(ours.status == theirs.status, "\(entry.options): \(ours.status) not \(theirs.status)") }
      }
      try Guest.expectNoLink("hci0")
    }

    private func run(_ command: [String], ends: Bool) throws -> ProcessResult {
      guard !ends else { return try RunningProcess.run(command) }
      let process = try RunningProcess(command, hasInput: false)
      _ = process.waitForOutput(containing: "failed: ")
      return process.end(by: SIGTERM)
    }

    /// Both fail alike without such an adapter, with an adapter that is down, and without a device.
    @Test func noConnection() throws {
      for words in [["-i", "hci9", "-b", BumbleAir.peer], ["-i", "hci2", "-b", BumbleAir.peer], ["-i", "hci0"]] {
        let theirs = try RunningProcess.run(["gatttool", "--primary"] + words)
        let ours = try RunningProcess.run([Blectl.path, "gatttool", "--primary"] + words)
        #expect(
          ours.text == theirs.text && ours.errors == theirs.errors,
          "\(words): \(ours.text)\(ours.errors) not \(theirs.text)\(theirs.errors)")
        #expect(ours.status == theirs.status && ours.status == 1)
      }
    }

    /// Prints the indications of the ticking characteristic until it is stopped.
    @Test func listening() throws {
      try Guest.lock()
      func heard(_ program: [String]) throws -> [String] {
        let words = Self.common + ["--char-write-req", "--handle=0x001d", "--value=0200", "--listen"]
        let process = try RunningProcess(program + words, hasInput: false)
        // gatttool writes a line in pieces.
        #expect(process.waitForOutput(after: 0) { $0.count { $0 == "\n" } >= 4 })
        return Array(process.end(by: SIGINT).lines.prefix(4))
      }
      let theirs = try heard(["gatttool"])
      try Guest.waitForNoLink()
      let ours = try heard([Blectl.path, "gatttool"])
      #expect(ours == theirs && ours.count == 4, "\(ours) not \(theirs)")
      try Guest.expectNoLink("hci0")
    }

    /// Lines of a dialogue, and the output to wait for before the next line.
    private static let lines = [
      ("connect", "Connection successful"), ("primary", "b3c4"), ("primary 1800", "Starting"), ("primary abcd", "No service"),
      ("primary zz", "Invalid UUID"), ("included", "No included"), ("included 1 zz", "Invalid end"), ("characteristics", "b3c4"),
      ("characteristics 1 5 2a00", "2a00-"), ("CHAR-DESC 1 2", "0x0002"), ("char-desc f000", "failed"), ("char-read-hnd 0x0003", "value"),
      ("char-read-hnd", "Missing"), ("char-read-hnd zz", "Invalid"), ("char-read-hnd f000", "failed"), ("char-read-uuid ffe3", "value: "),
      ("char-read-uuid 2a00 0 zz", "Invalid"), ("char-read-uuid abcd", "failed"), ("char-write-req 17", "Usage"),
      ("char-write-req 17 00ff10", "written"), ("char-write-req 12 00", "failed"), ("char-write-cmd 10 00", "LE]> "), ("mtu", "Usage"),
      ("mtu 100", "successfully"),
      ("mtu 100", "only occur once"), ("char-read-uuid ffe3", "value: "), ("char-write-req 13 0100", "written"),
      ("char-write-cmd 10 70696e67", "Notification handle = 0x0012 value: 70 6f 6e 67 "), ("sec-level", "low"), ("sec-level no", "Allowed"),
      ("foo bar", "not found"), ("help", "Exchange"), ("connect", "LE]> "), ("disconnect", "LE]> "), ("primary", "Disconnected"),
      ("connect \(BumbleAir.peer) random", "Connection successful"), ("char-read-hnd 3", "value"),
    ]

    @Test(arguments: ["xterm", "dumb"]) func dialogue(_ terminal: String) throws {
      try Guest.lock()
      let theirs = try talk(["gatttool"], terminal)
      try Guest.waitForNoLink()
      let ours = try talk([Blectl.path, "gatttool"], terminal)
      for (index, (one, other)) in zip(ours.said, theirs.said).enumerated() {
        #expect(one == other, "\(index == 0 ? "start" : Self.lines[index - 1].0): \(one.debugDescription) not \(other.debugDescription)")
      }
      #expect(ours.status == theirs.status && ours.said.count == theirs.said.count)
      try Guest.expectNoLink("hci0")
    }

    private func talk(_ program: [String], _ terminal: String) throws -> (said: [String], status: Int32) {
      let screen = try PseudoTerminal(
        program + ["-I"] + Self.common, columns: 80, rows: 24,
        environment: ["TERM": terminal, "INPUTRC": "/dev/null", "PATH": "/usr/bin:/bin"],
        hasKeys: true)
      var said: [String] = []
      var begin = 0
      for (line, until) in [("", "LE]> ")] + Self.lines {
        if !line.isEmpty { screen.type(line + "\r") }
        // The output, followed by the prompt.
        let came = screen.wait { bytes in
          let text = Self.plain(bytes.dropFirst(begin)).dropFirst(line.count)
          return text.contains(until) && text.hasSuffix("LE]> ")
        }
        said.append(Self.plain(screen.bytes.dropFirst(begin)))
        try #require(came, "\(program[0]) \(line): \(said)")
        begin = screen.bytes.count
      }
      screen.type("quit\r")
      let (status, _) = screen.finish()
      said.append(Self.plain(screen.bytes.dropFirst(begin)))
      return (said, status)
    }

    /// Removes the message that GLib prints to the same terminal about a bug in gatttool.
    private static func plain(_ bytes: some Sequence<UInt8>) -> String {
      String(decoding: Array(bytes), as: UTF8.self).replacing(/\r\n\(gatttool:\d+\): GLib-.*?Invalid file descriptor\.\r\n/, with: "")
    }
  }
}
