import Foundation
import TestSupport

/// The end of a recording, and its gaps.
@Suite(.timeLimit(.minutes(15))) struct ReplayEndTests {
  private func recording(_ arguments: String...) throws -> TemporaryPath {
    let trace = TemporaryPath()
    let result = try Blectl.run(["--trace", trace.path] + arguments)
    #expect(result.status == 0, "\(result.errors)")
    return trace
  }

  private func replay(_ trace: TemporaryPath, _ arguments: String...) throws -> Blectl.Result {
    try Blectl.run(arguments, adapter: "replay:\(trace.path)", virtual: false)
  }

  /// Commands that wait for values end immediately. Other commands are not affected.
  @Test func noMoreValuesAreInIt() throws {
    let trace = try recording("notify", "name:Band-7", "2a37", "-n", "3")
    for arguments in [
      ["notify", "name:Band-7", "2a37"], ["notify", "name:Band-7", "2a37", "-n", "5"],
      ["notify", "name:Band-7", "2a37", "-n", "5", "-d", "60"],
      ["-e", "subscribe 2a37; wait 2a37 -n 4", "name:Band-7"],
    ] {
      let result = try Blectl.run(arguments, adapter: "replay:\(trace.path)", virtual: false)
      #expect(result.status == 7, "\(arguments): \(result.errors)")
      #expect(result.lines.count == 3 && result.errors.contains("The recording ends here and has no more values."), "\(result.errors)")
    }
    let session = try replay(trace, "-e", "notify 2a37 -n 3; sleep 90; read 2a37@2902", "name:Band-7")
    #expect(session.status == 0 && session.text.hasSuffix("0000  off\n"), "\(session.text)\(session.errors)")
    #expect(try replay(trace, "notify", "name:Band-7", "2a37", "-d", "60").status == 0)
    let script = try TemporaryFolder.file("device name:Band-7\ntest \"more\"\n  subscribe 2a37\n  expect 2a37 == ff00 within 60s\nend\n")
    let run = try replay(trace, "run", script, "--tap")
    #expect(run.status == 7 && run.text.contains("The recording ends here"), "\(run.text)\(run.errors)")
  }

  /// The next values follow a write. The message names it, instead of saying that there are none.
  @Test(arguments: [
    (["notify", "D0:00:00:00:00:02", "ae02"], 0, "write of 01 to ae01 (handle 0x000c) without response (packet 88)"),
    (["notify", "D0:00:00:00:00:02", "ae02", "--write", "ae01=01"], 1, "write of 02 to ae01 (handle 0x000c) without response (packet 94)"),
    (
      ["-e", "subscribe ae02; write ae01 01; write ae01 02; wait ae02 -n 3", "D0:00:00:00:00:02"], 2,
      "write of 03 to ae01 (handle 0x000c) without response (packet 100)"
    ),
    (
      ["-e", "subscribe ae02; write ae01 01; write ae01 02; write ae01 03; wait ae02 -n 4", "D0:00:00:00:00:02"], 3,
      "The recording ends here and has no more values."
    ),
  ]) func theNextValuesFollowAWrite(_ arguments: [String], _ values: Int, _ mention: String) throws {
    let adapter = "replay:\(Vectors.path("replay-notify-after-writes.btsnoop"))"
    let result = try Blectl.run(arguments + ["--strict"], adapter: adapter, virtual: false)
    #expect(result.status == 7 && result.errors.contains(mention), "\(result.errors)")
    #expect(result.lines.count == values, "\(result.text)")
    let isOver = mention.hasPrefix("The recording")
    #expect(result.errors.contains("next recorded values follow a request that you did not send") != isOver, "\(result.errors)")
  }

  private static let commands: [[String]] = [
    ["write", "Band-7", "ff02", "1b9901", "--expect", "ff01"], ["call", "Band-7", "battery"],
    ["notify", "Band-7", "ff01", "--write", "ff02=1b9901", "-n", "1"], ["-e", "write ff02 1b9901; wait ff01", "Band-7"],
    ["-e", "services; write ff02 1b9901 --no-probe; wait ff01", "Band-7"],
  ]

  /// The value arrives, whichever command caused the recorded packets.
  @Test(arguments: commands) func anotherCommandForTheSamePackets(_ recorded: [String]) throws {
    let trace = TemporaryPath()
    let isRecorded = try Blectl.run(["--trace", trace.path] + recorded).status == 0
    for arguments in Self.commands {
      let result = try Blectl.run(arguments + ["--strict"], adapter: "replay:\(trace.path)", virtual: false)
      #expect(isRecorded && result.status == 0, "\(arguments): \(result.errors)")
    }
  }

  /// A filtered log has the connection, but nothing that shows the type of the address.
  @Test func aDeviceWithoutAdvertisements() throws {
    let adapter = "replay:\(Vectors.path("link-without-advertisement.btsnoop"))"
    for (peer, status) in [("D0:00:00:00:00:02", 0), ("D0:00:00:00:00:02/random", 0), ("D0:00:00:00:00:03", 2)] as [(String, Int32)] {
      let result = try Blectl.run(["services", peer, "--json"], adapter: adapter, virtual: false)
      #expect(result.status == status, "\(peer): \(result.errors)")
      if status == 0 { #expect(try result.records.allSatisfy { $0.string("address_type") == "random" } && !result.lines.isEmpty) }
    }
  }

  /// ATT_MTU stays unchanged, and the device is not blamed.
  @Test func anMTUThatNobodyExchanged() throws {
    let trace = try recording("read", "name:Band-7", "2a19")
    let result = try replay(trace, "-e", "read 2a19", "name:Band-7")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
  }

  /// Truncated after any packet, the error is the end of the recording, not the radio or the device.
  @Test func aRecordingThatWasEndedEarly() throws {
    let whole = try recording("read", "name:Band-7", "2a19")
    let file = try Array(Data(contentsOf: URL(fileURLWithPath: whole.path)))
    var statuses: Set<Int32> = []
    var end = 16
    while end <= file.count {
      let trace = TemporaryPath()
      try trace.write(Array(file[..<end]))
      let result = try replay(trace, "read", "name:Band-7", "2a19", "--strict")
      statuses.insert(result.status)
      switch result.status {
      case 0: break
      case 2: #expect(result.errors.contains("Cannot find name:Band-7: the recording has "), "\(end): \(result.errors)")
      default: #expect(result.status == 7 && result.errors.hasPrefix("blectl: The recording "), "\(end): \(result.errors)")
      }
      guard end + 24 <= file.count else { break }
      end += 24 + Int(file[end + 6]) << 8 + Int(file[end + 7])
    }
    #expect(statuses == [0, 2, 7])
  }

  @Test func aDeviceThatIsNotInIt() throws {
    let trace = try recording("scan", "-d", "3")
    let result = try replay(trace, "read", "name:nobody", "2a19")
    #expect(result.status == 2)
    #expect(
      result.errors.contains(
        "blectl: Cannot find name:nobody: the recording has 5 other devices (Band-7, GateLock, Panel, SafeLock)."),
      "\(result.errors)")
    #expect(!result.errors.contains("in range"))
  }

  /// The error shows where the writes differ, and no advice to continue.
  @Test func anotherLongWrite() throws {
    var picture = Bytes.picture(600)
    let trace = try recording("send-file", "name:Panel", "fff6", try TemporaryFolder.file(picture))
    let (before, after) = (Bytes.hex(picture[60..<61]), Bytes.hex([picture[60] ^ 0xFF]))
    picture[60] ^= 0xFF
    let result = try replay(trace, "send-file", "name:Panel", "fff6", try TemporaryFolder.file(picture), "--json", "--strict")
    #expect(result.status == 7)
    let message = try #require(result.error?.string("message"))
    #expect(message.contains("to fff6 (handle 0x"), "\(message)")
    #expect(
      message.contains(" The next recorded request is the same with other bytes: \(before), not \(after), at offset 60. "), "\(message)")
    #expect(!message.contains("--offset") && result.error?.int("resume_offset") == nil, "\(message)")
  }

  /// Each recorded connection is used in turn, however the previous one ended. Then the last one repeats.
  @Test func connectionsInTurn() throws {
    let trace = try recording(
      "-e", "connect name:Band-7; read 2a19; disconnect; connect name:Band-7; read 2a29; services; disconnect")
    func session(_ commands: String) throws -> Blectl.Result { try replay(trace, "-k", "--strict", "-e", commands) }
    let again = try session(
      "connect name:Band-7; read 2a19; disconnect; connect name:Band-7; read 2a29; disconnect; connect name:Band-7; read 2a29; "
        + "disconnect; connect name:Band-7; read 2a29")
    #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
    let unlike = try session(
      "connect name:Band-7; read 2a29; connect name:Band-7; read 2a29; write ff02 00; connect name:Band-7; read 2a29")
    #expect(unlike.status == 7)
    #expect(unlike.text.split(separator: "\n").count { $0 == "Simulated Bands" } == 2, "\(unlike.text)\(unlike.errors)")
  }

  /// The message appears once, with the attribute's name and advice.
  @Test func saysItOnce() throws {
    let trace = try recording("-e", "services; read 2a19", "name:Band-7")
    let result = try replay(trace, "-e", "read 2a19; write ff02 1b9902", "name:Band-7", "--strict")
    #expect(result.status == 7)
    #expect(
      result.errors
        == "blectl: write ff02 1b9902: The recording has no write of 1b9902 to ff02 (handle 0x001c) without response. The next recorded request: "
        + "write of 0000 to 2a05@2902 (handle 0x0009). Record this too, with the device and --trace.\n",
      "\(result.errors)")
    let json = try replay(trace, "--json", "--strict", "-e", "write ff02 1b9902", "name:Band-7")
    #expect(json.text.contains("\"event\":\"disconnected\""), "\(json.text)")
  }
}
