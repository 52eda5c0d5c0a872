import Foundation
import TestSupport
import Traces

/// A recorded session of the simulator gives the same records on replay, including times, and the same exit code.
@Suite(.timeLimit(.minutes(15))) struct ReplayFlowTests {
  static let lock = "D1:00:00:00:00:01"

  static let flows: [[String]] = [
    ["scan", "-d", "3"], ["scan", "-d", "2", "--passive"], ["scan", "-d", "1", "--duplicates"], ["scan", "-n", "3", "--raw"],
    ["services", lock], ["services", "name:Band-7", "--values"], ["services", "name:Panel", "--values"],
    ["read", lock, "ffe2"], ["read", "name:Band-7", "battery_level", "2a29", "2a19@2902"], ["read", "name:Panel", "fff6@2901", "fff7"],
    ["write", lock, "ffe1", String(repeating: "00", count: 104), "--expect", "ffe2=\"OPEN\""],
    ["write", lock, "ffe1", "0102", "--expect", "ffe2=\"OPEN\""], ["write", "name:Panel", "fff8", "00"],
    ["notify", "name:Band-7", "2a37", "-n", "3"], ["notify", "name:Band-7", "2a37", "ff01", "-d", "4", "--write", "ff02=1b9902"],
    ["mac-from-adv", lock], ["mac-from-adv", "name:Band-7"],
    ["connect", "name:Band-7", "--phy", "2m", "--interval", "50"], ["connect", lock],
    ["-e", "read 2a19; notify 2a37 -n 2; services; write ff02 1b9902 --expect ff01; read 2a19", "name:Band-7"],
    ["-e", "read fff7; write fff6 0102; read ffff; read fff7", "-k", "name:Panel"],
    // Failing commands.
    ["read", "name:Band-7", "ffff"], ["write", lock, "ffe2", "00"],
    ["read", "name:Band-7", "0x0003", "0x0099"],
    ["read", "C0:FF:EE:00:00:07/random", "2a19"], ["write", "name:Band-7", "ff02", "01", "--expect", "ff01", "-t", "2"],
  ]

  @Test(arguments: flows) func replaysAsRecorded(_ arguments: [String]) throws {
    let trace = TemporaryPath()
    let recorded = try Blectl.run(["--trace", trace.path, "--json"] + arguments)
    let replayed = try Blectl.run(["--json"] + arguments, adapter: "replay:\(trace.path)", virtual: false)
    let strict = try Blectl.run(["--json", "--strict"] + arguments, adapter: "replay:\(trace.path)", virtual: false)
    for result in [replayed, strict] {
      #expect(result.text == recorded.text)
      #expect(result.status == recorded.status, "\(result.errors)")
      #expect(result.errors == recorded.errors.replacing("\"sim\"", with: "\"replay:\(trace.path)\""))
    }
  }

  @Test(arguments: [[], ["--verify", "notify:fff7"], ["--mode", "request"], ["--phy", "2m", "--interval", "7.5"]])
  func replaysATransfer(_ options: [String]) throws {
    try replaysAsRecorded(["send-file", "name:Panel", "fff6", try TemporaryFolder.file(Bytes.picture(20_000))] + options)
  }

  /// A failing connection, a device that ends the link, and one that never answers.
  @Test(arguments: [
    ["-e", "write ffe1 01; read ffe1; notify ffe1 -d 30", "C1:00:00:00:00:01"],
    ["write", "C1:00:00:00:00:01", "ffe1", "ff", "--read-back"],
    ["notify", "C1:00:00:00:00:01", "ffe1", "-d", "20", "--write", "ffe1=ff"],
  ])
  func replaysABadDevice(_ arguments: [String]) throws {
    let device = try TemporaryFolder.file(
      """
      [{"name": "Bad", "address": "C1:00:00:00:00:01/random", "failing_connections": 1, "services": [{"uuid": "ffe0", "characteristics": [
        {"uuid": "ffe1", "properties": ["read", "write", "notify"], "value": "00",
         "reactions": [{"when": "ff", "then": [{"disconnect": true, "after_ms": 900}]}]}]}]}]
      """)
    let trace = TemporaryPath()
    let recorded = try Blectl.run(["--trace", trace.path, "--json"] + arguments, adapter: "sim:\(device)")
    let replayed = try Blectl.run(["--json"] + arguments, adapter: "replay:\(trace.path)", virtual: false)
    #expect(replayed.text == recorded.text)
    #expect(replayed.status == recorded.status, "\(replayed.errors)")
    #expect(replayed.errors == recorded.errors)
  }

  /// A monitor's recording of the same session, with another adapter's packets in between.
  @Test(arguments: [
    ["services", "name:Band-7", "--values"], ["notify", "name:Band-7", "2a37", "-n", "3"], ["scan", "-d", "1"],
  ])
  func replaysAMonitorsFile(_ arguments: [String]) throws {
    let trace = TemporaryPath()
    let recorded = try Blectl.run(["--trace", trace.path, "--json"] + arguments)
    var file = Snoop.header(.monitor)
    let records = try Snoop.parse(try Array(Data(contentsOf: URL(fileURLWithPath: trace.path))))
    file += Self.monitorRecord(opcode: 0, adapter: 0, [UInt8](repeating: 0, count: 16), records[0])
    for record in records {
      let isSent = record.direction == .hostToController
      let opcode: UInt16 = record.packet[0] == Packet.aclIndicator ? (isSent ? 4 : 5) : isSent ? 2 : 3
      file += Self.monitorRecord(opcode: opcode, adapter: 1, Array(record.packet.dropFirst()), record)
      file += Self.monitorRecord(opcode: 12, adapter: 0xFFFF, Array("a note\0".utf8), record)
      file += Self.monitorRecord(opcode: 3, adapter: 0, [0x0E, 4, 1, 3, 0x0C, 0], record)
    }
    try trace.write(file)
    let replayed = try Blectl.run(["--json"] + arguments, adapter: "replay:\(trace.path)", virtual: false)
    #expect(replayed.text == recorded.text)
    #expect(replayed.status == 0, "\(replayed.errors)")
  }

  private static func monitorRecord(opcode: UInt16, adapter: UInt16, _ bytes: [UInt8], _ record: Snoop.Record) -> [UInt8] {
    // The header of our record has its time in the right place.
    let time = record.encoded[16..<24]
    func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    return bigEndian(bytes.count) + bigEndian(bytes.count) + bigEndian(Int(adapter) << 16 | Int(opcode)) + [0, 0, 0, 0] + time + bytes
  }

  // MARK: What was not recorded

  private func recording(_ arguments: String...) throws -> TemporaryPath { try recording(arguments) }

  private func recording(_ arguments: [String]) throws -> TemporaryPath {
    let trace = TemporaryPath()
    let result = try Blectl.run(["--trace", trace.path] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return trace
  }

  @Test func saysWhatItDoesNotHave() throws {
    let trace = try recording("write", "name:Band-7", "0x001c", "1b9902", "--mode", "command")
    func replay(_ arguments: String...) throws -> Blectl.Result {
      try Blectl.run(arguments + ["--strict"], adapter: "replay:\(trace.path)")
    }
    let write = try replay("write", "name:Band-7", "0x001c", "1b99ff", "--mode", "command", "--json")
    #expect(write.status == 7)
    #expect(write.error?.string("kind") == "expectation")
    #expect(
      write.error?.string("message")
        == "The recording has no write of 1b99ff to ff02 (handle 0x001c) without response. The next recorded request: write of 1b9902 to ff02 "
        + "(handle 0x001c) without response. Record this too, with the device and --trace."
    )
    #expect(try replay("connect", "name:Panel").status == 7)
    #expect(
      try replay("connect", "name:Panel").errors.contains(
        "The recording has no connection to D1:00:00:00:00:10/random. The next recorded request: connection to C0:FF"))
    let second = try recording("read", "name:Band-7", "0x0011")
    let twice = try Blectl.run(["read", "name:Band-7", "0x0011", "0x0011", "--strict"], adapter: "replay:\(second.path)")
    #expect(twice.status == 7)
    #expect(twice.errors.contains("The recording has no read of handle 0x0011. It has no more requests."))
    #expect(try replay("connect", "name:Band-7", "--interval", "100").status == 7)
  }

  /// A missing answer ends only the link of the request, or the connection attempt.
  @Test func goesOnAfterWhatItDoesNotHave() throws {
    let trace = try recording("read", "name:Band-7", "2a19")
    let script = try TemporaryFolder.file(
      """
      device C0:FF:EE:00:00:07/public
      test "before"
        read 2a19
      end
      test "asks what nobody asked"
        write ff02 1b9902
      end
      test "after"
        read 2a19
        expect as u8 > 10
      end
      """)
    let result = try Blectl.run("run", script, "--tap", "--strict", "--adapter", "replay:\(trace.path)")
    #expect(result.status == 7)
    #expect(result.text.contains("\nok 1 - before") && result.text.contains("\nnot ok 2 - asks what nobody asked"), "\(result.text)")
    #expect(
      result.text.contains("The recording has no ") && result.text.contains("\nok 3 - after"), "\(result.text)")
    func session(_ unrecorded: String) -> [String] {
      ["-k", "-e", "connect name:Band-7; read 2a19; connect name:Panel; \(unrecorded); use name:Band-7; read 2a29"]
    }
    let links = try recording(session("read fff7"))
    let other = try Blectl.run(session("write fff8 07") + ["--strict"], adapter: "replay:\(links.path)")
    #expect(other.status == 7)
    #expect(other.text.hasSuffix("Simulated Bands\n") && !other.errors.contains("Band-7"), "\(other.text)\(other.errors)")
  }

  /// In another order, with another MTU or another selector, known requests are answered.
  @Test func answersWhatItKnows() throws {
    let trace = try recording("services", "name:Band-7", "--values")
    for arguments in [
      ["read", "name:Band-7", "2a29", "2a19"], ["read", "name:Band-7", "0x000c"], ["read", "name:Band-7", "180f/2a19", "--mtu", "23"],
      ["services", "name:Band-7", "--values", "--mtu", "40"], ["read", "name:Band-7", "2a19@2902"],
      ["-e", "read 2a29; services; read 2a19", "name:Band-7"],
    ] {
      let replayed = try Blectl.run(arguments, adapter: "replay:\(trace.path)")
      #expect(replayed.status == 0, "\(arguments): \(replayed.errors)")
      #expect(replayed.text == (try Blectl.run(arguments).text))
    }
  }

  /// A recording with lost or cut packets says so, because a later gap may be due to them.
  @Test func saysThatItIsNotWhole() throws {
    let trace = try recording("read", "name:Band-7", "2a19")
    var file = try Array(Data(contentsOf: URL(fileURLWithPath: trace.path)))
    file.replaceSubrange(28..<32, with: [0, 0, 0, 3])
    var cut = Snoop.Record(packet: [0x04, 0x3E], direction: .controllerToHost, wallClock: 0)
    cut.missing = 20
    try trace.write(file + cut.encoded)
    let result = try Blectl.run("read", "name:Band-7", "2a19", adapter: "replay:\(trace.path)")
    #expect(result.text == "3c  60 %\n", "\(result.errors)")
    let notes = result.errors.split(separator: "\n").filter { $0.contains("is incomplete") }
    #expect(
      notes.count == 1
        && notes[0].hasSuffix(
          " is incomplete: 3 lost packets and 1 cut packet. Replay has no answers for them."
        ), "\(result.errors)")
  }

  @Test func refusesWhatIsNoRecording() throws {
    let file = try TemporaryFolder.file("no recording")
    let result = try Blectl.run(["scan", "--json"], adapter: "replay:\(file)")
    #expect(result.status == 66)
    #expect(result.error?.string("kind") == "input")
    #expect(result.error?.string("message")?.hasSuffix(": not a btsnoop, pcap, pcapng or PacketLogger file (at byte 0).") ?? false)
    #expect(try Blectl.run(["scan"], adapter: "replay:/nonexistent").status == 66)
    #expect(try Blectl.run(["scan"], adapter: "replay:").status == 64)
    // No device was in range.
    let empty = try TemporaryFolder.file(Snoop.header)
    #expect(try Blectl.run(["scan", "-d", "1"], adapter: "replay:\(empty)").output.isEmpty)
  }
}
