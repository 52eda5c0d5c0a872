import Foundation
import TestSupport

/// Both roles of blectl on rootcanal, the virtual controllers of Android: another reading of HCI and of the link layer than Bumble's and ours.
@Suite(.timeLimit(.minutes(15))) struct RootcanalTests {
  #if arch(x86_64)
    private static let isAvailable = true
  #else
    private static let isAvailable = false
  #endif
  /// Starts rootcanal in place of Python, with any free ports.
  private static let start = """
    import os, rootcanal.binaries
    os.dup2(1, 2)
    path = rootcanal.binaries.get_package_binary_resource_path('rootcanal')
    os.execv(path, [path] + [f'-{name}_port=0' for name in ('hci', 'test', 'link', 'link_ble')])
    """
  private static let lock = """
    {"name": "MyLock", "address": "F0:F1:F2:00:00:01/random", "interval_ms": 40, "security": {},
     "advertisement": "020106", "scan_response": "07094d794c6f636b",
     "services": [{"uuid": "ffe0", "characteristics": [
       {"uuid": "ffe1", "properties": ["read", "write", "notify"], "value": "0102", "reactions": [{"then": [{"notify": "ffe1", "value": "77"}]}]},
       {"uuid": "ffe2", "properties": ["read"], "permissions": ["read_encrypted"], "value": "aa"}]}]}
    """

  @Test(.enabled(if: isAvailable, "rootcanal has no program for this processor"))
  func aServedDeviceIsUsed() throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    let air = try RunningProcess([python, "-c", Self.start])
    _ = air.nextLine { $0.contains("Opening an HCI") }
    let said = try #require(air.nextLine { $0.contains("Listening on: ") })
    let port = try #require(said.firstMatch(of: /Listening on: (\d+)/)?.1)
    func start(_ words: String..., state: String) throws -> RunningProcess {
      try Blectl.start(
        words + ["--json"], environment: ["XDG_STATE_HOME": state], adapter: "tcp:127.0.0.1:\(port)", virtual: false, hasInput: false)
    }
    let served = try start("peripheral", try TemporaryFolder.file(Self.lock), state: TemporaryFolder.path())
    #expect(served.waitForOutput(containing: "advertising"))
    let state = TemporaryFolder.path()
    let used = try start("-e", "services; read ffe1; write ffe1 0900; notify ffe1 -n 1 --write ffe1=55", "MyLock", state: state)
      .wait()
    #expect(used.status == 0, "\(used.errors)")
    let records = try used.records
    #expect(records.filter { $0.string("event") == "value" }.map { $0.string("value") } == ["0102"], "\(used.text)")
    #expect(records.first { $0.string("event") == "written" }?.string("mode") == "request")
    #expect(records.last?.string("value") == "77")
    let paired = try start("pair", "MyLock", state: state).wait()
    #expect(try paired.records.first?.bool("secure_connections") == true, "\(paired.errors)")
    // The next link uses the key.
    let read = try start("read", "MyLock", "ffe2", state: state).wait()
    #expect(try read.records.first?.string("value") == "aa", "\(read.errors)")
    let events = try served.end(by: SIGINT).records.compactMap { $0.string("event") }
    #expect(events.count { $0 == "connected" } == 3 && events.count { $0 == "disconnected" } == 3, "\(events)")
    #expect(["subscribed", "written", "notified", "paired", "read"].allSatisfy(events.contains), "\(events)")
    #expect(air.end(by: SIGTERM).wasKilled)
  }
}
