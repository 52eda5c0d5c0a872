import Foundation
import TestSupport

extension KernelTests {
  /// A recording made on the kernel's stack is replayed without it. The recordings are our own traces, and btmon's of other programs.
  @Suite struct ReplayTests {
    static let peer = "\(BumbleAir.peer)/random"

    @Test func replaysOurTraces() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      for arguments in [
        ["scan", "--count", "1", "--name", "Lock-01"], ["services", BumbleAir.peer, "--values"], ["read", Self.peer, "ffe2", "ffe3"],
        ["read", BumbleAir.peer, "ffea"], ["write", Self.peer, "ffe4", "0102", "--mode", "request", "--read-back"],
        ["write", Self.peer, "ffe1", Bytes.hex("ping"), "--expect", "ffe2"], ["notify", Self.peer, "ffe5", "-n", "4"],
        ["connect", Self.peer], ["connect", Self.peer, "--interval", "50"], ["-e", "read ffe2; read ffe4; services", Self.peer],
        ["notify", Self.peer, "ffe5", "-d", "10", "--write", "ffe8=02"], ["mac-from-adv", BumbleAir.peer, "--learn"],
        ["read", "AA:BB:CC:DD:EE:FF", "ffe2", "-t", "2"], ["read", "AA:BB:CC:DD:EE:FF/random", "ffe2", "-t", "2"],
      ] {
        try Replayed.expectSame(arguments, adapter: air.adapter)
      }
      let picture = try TemporaryFolder.file(Bytes.picture(5000))
      try Replayed.expectSame(["send-file", Self.peer, "ffe1", picture, "--mode", "request"], adapter: air.adapter)
      try Guest.expectQuiet(air.adapter)
    }

    @Test func replaysTheUserChannel() throws {
      try Guest.lock()
      try Guest.switchOff("hci0")
      defer { _ = try? Guest.switchOn("hci0") }
      try Replayed.expectSame(["services", Self.peer, "--values"], adapter: "user:0")
      try Replayed.expectSame(["notify", Self.peer, "ffe5", "-n", "3"], adapter: "user:0")
    }

    /// bluetoothctl finds, connects, reads and listens, and btmon records all adapters.
    @Test func replaysAnotherProgramsSession() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let services = try air.blectl("services", BumbleAir.peer, "--json")
      #expect(services.status == 0, "\(services.errors)")
      let daemon = try Bluetoothd(air.adapter)
      defer { daemon.stop() }
      let tool = try daemon.control()
      defer { tool.end() }
      let monitor = try Monitor()
      try daemon.connect(tool)
      try tool.say("menu gatt\nselect-attribute 0000ffe2-0000-1000-8000-00805f9b34fb\nread", until: "hello lock", times: 2)
      try tool.say("select-attribute 0000ffe5-0000-1000-8000-00805f9b34fb\nnotify on", until: "tick 3", times: 1)
      try tool.say("back\ndisconnect \(BumbleAir.peer)", until: "Successful disconnected")
      let file = try monitor.end()
      let replay = "replay:\(file)"
      let scanned = try Blectl.run(["scan", "--json", "--count", "1", "--name", "Lock-01"], adapter: replay, virtual: false)
      #expect(try scanned.records.first?.string("address") == BumbleAir.peer, "\(scanned.errors)")
      let seen = try Blectl.run(["services", BumbleAir.peer, "--json"], adapter: replay, virtual: false)
      #expect(seen.text == services.text, "\(seen.errors)")
      let read = try Blectl.run(["read", BumbleAir.peer, "ffe2"], adapter: replay, virtual: false)
      #expect(read.text == "hello lock\n", "\(read.errors)")
      let heard = try Blectl.run(["notify", BumbleAir.peer, "ffe5", "-n", "3", "--json"], adapter: replay, virtual: false)
      #expect(try heard.records.map { $0.string("text") } == ["tick 1", "tick 2", "tick 3"], "\(heard.errors)")
      let unknown = try Blectl.run(["read", BumbleAir.peer, "ffe3", "--strict"], adapter: replay, virtual: false)
      #expect(unknown.status == 7 && unknown.errors.contains("The recording has no Read By Type request for ffe3. "), "\(unknown.errors)")
    }

    @Test func replaysGatttool() throws {
      try Guest.lock()
      let monitor = try Monitor()
      let theirs = try Guest.run("gatttool", "-i", "hci0", "-b", BumbleAir.peer, "-t", "random", "--char-read", "-u", "ffe2")
      #expect(theirs.status == 0, "\(theirs.errors)")
      try Guest.waitForNoLink()
      let file = try monitor.end()
      let read = try Blectl.run(["read", Self.peer, "ffe2"], adapter: "replay:\(file)", virtual: false)
      #expect(read.text == "hello lock\n", "\(read.errors)")
    }
  }
}

/// A btmon process that records the traffic of every adapter.
private final class Monitor {
  private let process: RunningProcess
  private let path = "/tmp/monitor.btsnoop"

  init() throws {
    try? FileManager.default.removeItem(atPath: path)
    process = try RunningProcess(["btmon", "-w", path])
    let path = path
    try Guest.wait(for: "btmon to record") { try Self.size(path) > 16 }
  }

  /// Stops btmon. - Returns: The file, with all packets that were on their way to btmon.
  func end() throws -> String {
    // btmon writes in the order of events, so the file is complete when it has this command. The command asks for the signal strength of a
    // nonexistent link, as no other program does.
    let marker = Data([0x05, 0x14, 0x02, 0xAD, 0x0E])
    _ = try RunningProcess.run(["hcitool", "-i", "hci0", "cmd", "0x05", "0x0005", "ad", "0e"])
    let path = path
    try Guest.wait(for: "btmon to have written all") { try Data(contentsOf: URL(fileURLWithPath: path)).range(of: marker) != nil }
    process.end(by: SIGTERM)
    return path
  }

  private static func size(_ path: String) throws -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
