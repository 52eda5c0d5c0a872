import Foundation
import Glibc
import TestSupport

/// Each kind of failure has an exit code and a helpful message, and leaves nothing running.
@Suite(.timeLimit(.minutes(15))) struct ExitCodeTests {
  @Test(arguments: [
    (["read", "name:nobody", "ffe1"], 2, "nobody"), (["read", "name:Band-7", "abcd"], 2, "abcd"),
    (["read", "name:Band-7", "2a19[2]"], 2, "2a19"),
    (["read", "name:Band-7", "0x0fff"], 2, "0x0fff"), (["connect", "@last"], 2, "@last"), (["connect", "@door"], 2, "door"),
    (["connect", "AA:AA:AA:AA:AA:AA"], 2, "AA:AA:AA:AA:AA:AA"), (["connect", "AA:AA:AA:AA:AA:AA/public"], 4, "AA:AA:AA:AA:AA:AA"),
    (["read", "name:Band-7", "ff02"], 5, "ff02"), (["notify", "name:Band-7", "0x0001"], 2, "not the value of a characteristic"),
    (["mac-from-adv", "--hex", "020106"], 2, "No MAC in 1 advertisement"),
    (["mac-from-adv", "--hex", "1a1695fe4855c211165068b6fe3c878095c8a5834f000000463221c6"], 2, "This advertisement has no MAC"),
    (["-i", "sim:/nonexistent", "scan"], 66, "/nonexistent"), (["-i", "tcp:127.0.0.1:1", "scan"], 3, "127.0.0.1"),
    (["-i", "unix:/nonexistent", "scan"], 3, "/nonexistent"),
    (["-i", "serial:/nonexistent", "scan"], 3, "serial:/nonexistent: "),
    (["-i", "serial:/nonexistent@9600", "scan"], 3, "serial:/nonexistent@9600: "),
    (["write", "name:Band-7", "ff02", "@/nonexistent"], 66, "/nonexistent"),
    (["notify", "name:Band-7", "ff01", "--count", "1", "--duration", "2"], 4, "0 of 1"),
  ])
  func failure(_ arguments: [String], _ status: Int, _ mention: String) throws {
    let plain = try Blectl.run(arguments)
    #expect(plain.status == Int32(status), "\(plain.errors)")
    #expect(plain.errors.contains(mention), "\(plain.errors)")
    let json = try Blectl.run(arguments + ["--json"])
    #expect(json.status == Int32(status))
    let error = try #require(json.error, "\(json.errors)")
    #expect(error.string("kind") != nil && error.string("message")?.isEmpty == false && error.keys.isSuperset(of: ["code", "name"]))
  }

  /// An address with the wrong type is never found. The hint appears for aliases and `@last` too.
  @Test(arguments: ["AA:AA:AA:AA:AA:AA/public", "@door", "@last"]) func theOtherAddressTypeIsHintedAt(_ peer: String) throws {
    let folder = URL(fileURLWithPath: TemporaryFolder.path())
    try FileManager.default.createDirectory(at: folder.appendingPathComponent("blectl"), withIntermediateDirectories: true)
    try Data(#"{"aliases":{"door":"AA:AA:AA:AA:AA:AA/public"}}"#.utf8).write(to: folder.appendingPathComponent("blectl/config.json"))
    let device = #"{"connected":"2026-01-01T00:00:00.000Z","peer":"AA:AA:AA:AA:AA:AA/public","air":"sim"}"#
    try Data("\(device)\n".utf8).write(to: folder.appendingPathComponent("blectl/devices"))
    let result = try Blectl.run(["connect", peer], environment: ["XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path])
    #expect(result.status == 4)
    #expect(result.errors.contains("its address may be random"), "\(result.errors)")
  }

  /// This machine has no AF_BLUETOOTH, no adapter, or one that tests must not touch. The message distinguishes the first two.
  @Test func noAdapter() throws {
    let result = try Blectl.run(["scan", "-i", "hci99"], adapter: nil)
    #expect(result.status == 3, "\(result.errors)")
    let descriptor = socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), 1)
    let hasBluetooth = descriptor >= 0 || errno != EAFNOSUPPORT
    if descriptor >= 0 { close(descriptor) }
    let message = hasBluetooth ? "blectl: No adapter hci99. " : "blectl: No Bluetooth in this kernel "
    #expect(result.errors.hasPrefix(message), "\(result.errors)")
  }

  /// The adapter is at fault, whatever listens at its address. The message has the user's spelling with the baud rate.
  @Test(arguments: NotAController.Kind.allCases) func whatIsNotAController(_ kind: NotAController.Kind) throws {
    let server = try NotAController(kind, says: "SSH-2.0-OpenSSH_9.2\r\n")
    let plain = try Blectl.run(["scan"], adapter: server.adapter)
    #expect(plain.status == 3 && plain.output.isEmpty)
    #expect(Self.names(server.adapter, plain.errors, "this is not H4 ("), "\(plain.errors)")
  }

  @Test(arguments: [NotAController.Kind.tcp, .unix]) func whatHangsUp(_ kind: NotAController.Kind) throws {
    let server = try NotAController(kind, says: nil)
    let json = try Blectl.run(["scan", "--json"], adapter: server.adapter)
    #expect(json.status == 3 && json.error?.string("kind") == "adapter")
    #expect(
      Self.names(server.adapter, "blectl: \(json.error?.string("message") ?? "")", "the controller closed the connection"), "\(json.errors)"
    )
  }

  /// Whether an error starts with the adapter. A long path is shortened in the middle.
  private static func names(_ adapter: String, _ error: String, _ reason: String) -> Bool {
    error.hasPrefix("blectl: \(adapter.prefix(20))") && error.contains("\(adapter.suffix(20)): \(reason)")
  }

  @Test func anAmbiguousAttributeListsTheCandidates() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Twins", "address": "D1:00:00:00:00:20/random", "advertisement": { "name": "Twins" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["read"], "value": "01" }, { "uuid": "fff1", "properties": ["read"], "value": "02" } ] } ] }
      """)
    let result = try Blectl.run(["read", "name:Twins", "fff1"], adapter: "sim:\(file)")
    #expect(result.status == 2, "\(result.errors)")
    let handles = result.errors.matches(of: /0x00[0-9a-f]{2}/).count
    #expect(handles >= 2, "\(result.errors)")
    #expect(try Blectl.run(["read", "name:Twins", "fff1[2]", "--as", "hex"], adapter: "sim:\(file)").text == "02\n")
  }

  @Test func controlCEndsAtOnce() throws {
    let running = try Blectl.start(["notify", "name:Band-7", "2a37"], virtual: false)
    #expect(running.waitForOutput(containing: "Z "))
    #expect(running.end(by: SIGINT).status == 130)
  }

  @Test func controlCWhileScanningAndConnecting() throws {
    let scan = try Blectl.start(["scan", "--duration", "0"], virtual: false)
    #expect(scan.waitForOutput(containing: "Band-7"))
    #expect(scan.end(by: SIGINT).status == 130)
    let connect = try Blectl.start(["connect", "AA:AA:AA:AA:AA:AA/random", "-v"], virtual: false)
    #expect(connect.waitForOutput(containing: "Connecting to"))
    #expect(connect.end(by: SIGTERM).status == 143)
  }

  @Test func controlCInATransferSaysHowFarItCame() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let running = try Blectl.start(["send-file", "name:Panel", "fff6", path, "--mode", "request", "--json"], virtual: false)
    #expect(running.waitForOutput(containing: "progress"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130)
    #expect(result.error?.string("kind") == "interrupted")
    let message = result.error?.string("message")
    #expect(message?.firstMatch(of: /(\d+) of 77831 bytes arrived.* blectl sim --listen/) != nil, "\(result.errors)")
    #expect(result.error?.int("resume_offset") != nil, "\(result.errors)")
  }

  @Test func controlCInASegmentedWriteSaysHowFarItCame() throws {
    let running = try Blectl.start(["write", "mac:A4:C1:38:00:11:22", "ffe1", "-", "--gap", "1000", "-vv"], virtual: false)
    running.send(DoorLockTests.openCode)
    running.endInput()
    #expect(running.waitForOutput(containing: "Write Command"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130)
    #expect(result.errors.contains("of 104 bytes were sent."), "\(result.errors)")
  }

  /// The controller never confirms the end of the scan. The first Ctrl-C waits for it, the second does not.
  @Test func aSecondControlCEndsAProgramThatIsStuck() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(["scan", "--duration", "0"], adapter: controller.adapter, virtual: false)
    #expect(controller.command(0x200C)?.first == 1)
    controller.fallSilent()
    running.signal(SIGINT)
    #expect(controller.command(0x200C)?.first == 0)
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && result.wasKilled)
  }

  @Test func verboseIsRecordsWithJSON() throws {
    let result = try Blectl.run("read", "name:Band-7", "2a19", "--json", "-vv")
    #expect(result.status == 0)
    let notes = try result.errors.split(separator: "\n").map { try #require(try Record(String($0)).string("note"), "\($0)") }
    #expect(notes.contains { $0.contains("Connecting to") } && notes.contains { $0.contains("Read By Type Request") }, "\(notes)")
    #expect(try Blectl.run("read", "name:Band-7", "2a19", "--json").errors.isEmpty)
  }

  @Test func controlCEndsWaitingForTheReaderOfATrace() throws {
    let pipe = TemporaryPath()
    let made = unsafe mkfifo(pipe.path, 0o600)
    #expect(made == 0)
    let running = try Blectl.start(["read", "name:Band-7", "2a19", "--trace", pipe.path], virtual: false)
    #expect(running.waitForOutput(containing: "Waiting for a reader of the pipe"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && !result.wasKilled)
  }

  /// Virtual time waits for the reader of a pipe, at the start and at the end.
  @Test func aTraceWaitsForItsReader() throws {
    let pipe = TemporaryPath()
    let made = unsafe mkfifo(pipe.path, 0o600)
    #expect(made == 0)
    let running = try Blectl.start(["scan", "--duplicates", "--duration", "600", "--trace", pipe.path])
    #expect(running.waitForOutput(containing: "Waiting for a reader of the pipe"))
    #expect(try RunningProcess.run(["tail", "-c", "1", pipe.path]).output.count == 1)
    let result = running.wait()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
  }

  @Test func aClosedPipeEndsQuietly() throws {
    let shell = try Shell.run("\(Blectl.path) -i sim scan --duration 0 --duplicates | head -n 1; echo ${PIPESTATUS[0]}")
    #expect(shell.output.split(separator: "\n").last == "74")
    #expect(shell.errors.isEmpty)
  }

  @Test func aFullDiskIsSaid() throws {
    let shell = try Shell.run("\(Blectl.path) -i sim scan --duration 1 >/dev/full")
    #expect(shell.status == 74)
    #expect(shell.errors.contains("No space left"))
  }

  /// SIGXFSZ would end the process in the middle of a connection. The test environment may ignore the signal.
  @Test(arguments: [">FILE", "--log FILE", "--trace FILE", "--trace - >FILE"]) func aFileThatMayNotGrowIsSaid(_ output: String) throws {
    let file = TemporaryFolder.path()
    let shell = try Shell.run(
      "ulimit -f 1; BLECTL_CLOCK=virtual exec env --default-signal=XFSZ \(Blectl.path) -i sim scan --duration 60 --duplicates --json "
        + output.replacing("FILE", with: file) + (output.contains(">") ? "" : " >/dev/null"))
    #expect(shell.status == 74 && shell.errors.contains("File too large") && shell.errors.contains("see the limit: ulimit -f"), "\(shell)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count <= 1024)
  }

  /// Otherwise the next opened file or socket gets the number: output goes there, or reads block forever.
  @Test func closedStandardDescriptorsStayClosed() throws {
    let input = try Shell.run("timeout 20 \(Blectl.path) mac-from-adv -i sim --duration 1 <&-")
    #expect(input.status == 0, "\(input.errors)")
    let value = try Shell.run("timeout 20 \(Blectl.path) write -i sim name:Band-7 ff02 - <&-")
    #expect(value.status == 66, "\(value.errors)")
    let trace = TemporaryFolder.path()
    #expect(try Shell.run("\(Blectl.path) read -i sim name:Band-7 2a19 --trace \(trace) <&- >&- 2>&-").status == 74)
    #expect(
      try Shell.run("\(Blectl.path) read -i sim name:nobody 2a19 --timeout 1 --trace \(trace) 2>&-; grep -c nobody \(trace)").output
        == "0\n")
  }

  @Test(arguments: [["frobnicate", "--json"], ["--json", "frobnicate"]])
  func anUnknownCommandIsNamed(_ arguments: [String]) throws {
    let message = try #require(try Blectl.run(arguments).error?.string("message"))
    #expect(message.contains("frobnicate") && message.contains("send-file"), "\(message)")
  }

  @Test func aWrongArgumentSaysWhatItTakesInJSONToo() throws {
    let message = try #require(try Blectl.run("read", "@", "ffe1", "--json").error?.string("message"))
    #expect(message.contains("\"@\"") && message.contains("name:GLOB"), "\(message)")
  }
}
