import Foundation
import TestSupport

extension KernelTests {
  /// btmon reads the output of `--trace` without complaint and shows the whole exchange, for every kind of adapter. (These tests are here
  /// because btmon 5.66 crashes on a machine without an adapter.)
  @Suite struct TraceTests {
    static let peer = "\(BumbleAir.peer)/random"

    @Test func kernel() throws {
      try Guest.lock()
      try expectReadable(adapter: "hci0", peer: Self.peer, name: "Lock-01")
    }

    @Test func kernelWithExtendedCommands() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      try expectReadable(adapter: air.adapter, peer: Self.peer, name: "Lock-01")
    }

    @Test func userChannel() throws {
      try Guest.lock()
      try Guest.switchOff("hci0")
      defer { _ = try? Guest.switchOn("hci0") }
      try expectReadable(adapter: "user:0", peer: Self.peer, name: "Lock-01")
    }

    @Test func overTCP() throws {
      let air = try BumbleAir()
      try expectReadable(adapter: air.adapter, peer: Self.peer, name: "Lock-01")
      air.stop()
    }

    @Test func simulated() throws { try expectReadable(adapter: "sim", peer: "name:Panel", name: "Panel") }

    /// Reads the device's name with a trace, and expects btmon to read that trace.
    private func expectReadable(adapter: String, peer: String, name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let file = "/tmp/trace"
      let read = try Blectl.run(["--trace", file, "read", peer, "2a00"], adapter: adapter, virtual: adapter == "sim")
      #expect(read.text == "\(name)\n", "\(read.errors)", sourceLocation: sourceLocation)
      if adapter == "user:0" { try Guest.switchOn("hci0") }
      let seen = try Guest.run("btmon", "-r", file)
      #expect(seen.status == 0 && seen.errors.isEmpty, "\(seen.status) \(seen.errors)", sourceLocation: sourceLocation)
      let lines = seen.lines
      let shown = lines.count { $0.hasPrefix("< ") || $0.hasPrefix("> ") }
      #expect(shown == (try records(file)), "\(seen.text)", sourceLocation: sourceLocation)
      // A controller that does not know the signal strength sends 7f.
      let complaints = ["invalid", "malformed", "short", "unexpected", "unknown mask", "unknown command", "unknown event"]
      for line in lines where !line.hasSuffix("invalid (0x7f)") {
        let line = line.lowercased()
        #expect(!complaints.contains { line.contains($0) }, "\(line)", sourceLocation: sourceLocation)
      }
      var rest = lines[...]
      for step in [
        "Create Connection", "Connection Complete", "ATT: Read By Type Request", "Attribute type: Device Name (0x2a00)",
        "ATT: Read By Type Response", Bytes.hex(Array(name.utf8)), "HCI Command: Disconnect", "Disconnect Complete",
      ] {
        guard let found = rest.firstIndex(where: { $0.contains(step) }) else {
          Issue.record("\"\(step)\" does not come in its turn: \(seen.text)", sourceLocation: sourceLocation)
          return
        }
        rest = rest[(found + 1)...]
      }
    }

    /// Counts the packets of a btsnoop file: a header of 16 bytes, then records. Each has a header of 24 with the length in bytes 4–7.
    private func records(_ file: String) throws -> Int {
      let data = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
      var (count, position) = (0, 16)
      while position + 24 <= data.count {
        position += 24 + data[position + 4..<position + 8].reduce(0) { $0 << 8 | Int($1) }
        count += 1
      }
      #expect(position == data.count)
      return count
    }
  }
}
