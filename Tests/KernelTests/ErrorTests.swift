import Foundation
import TestSupport

extension KernelTests {
  /// Errors that users meet, each of which leaves no scan and no connection behind.
  @Suite struct ErrorTests {
    init() throws { try Guest.lock() }

    private func expect(
      _ result: ProcessResult, _ status: Int32, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(result.status == status, "\(result.text)\(result.errors)", sourceLocation: sourceLocation)
      #expect(result.error?.string("message")?.contains(words) == true, "\(result.errors)", sourceLocation: sourceLocation)
    }

    @Test func anAdapterThatIsDown() throws {
      try Guest.switchOff("hci0")
      expect(try Guest.blectl("-i", "hci0", "scan", "--json"), 3, "sudo btmgmt -i hci0 power on")
      expect(try Guest.blectl("-i", "hci0", "connect", "\(BumbleAir.peer)/random", "--json"), 3, "sudo btmgmt -i hci0 power on")
      #expect(try Guest.blectl("adapters", "--json").records.first?.bool("up") == false)
      try Guest.switchOn("hci0")
      #expect(try Guest.blectl("adapters", "--json").records.first?.bool("up") == true)
    }

    @Test func anAdapterThatIsNotThere() throws { expect(try Guest.blectl("-i", "hci9", "scan", "--json"), 3, "No adapter hci9.") }

    @Test func anAdapterThatIsBlocked() throws {
      let block = "/sys/class/bluetooth/hci0/rfkill*/soft"
      try Guest.must("sh", "-c", "echo 1 | tee \(block)")
      expect(try Guest.blectl("-i", "hci0", "scan", "--json"), 3, "rfkill unblock bluetooth")
      try Guest.must("sh", "-c", "echo 0 | tee \(block)")
      try Guest.switchOn("hci0")
      try Guest.expectQuiet()
    }

    @Test func aUserWithoutCapabilities() throws {
      try Guest.must("cp", Blectl.path, "/tmp/blectl")
      func asNobody(_ arguments: String...) throws -> ProcessResult {
        try RunningProcess.run(
          ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "/tmp/blectl"] + arguments)
      }
      expect(try asNobody("scan", "--json"), 3, "sudo setcap cap_net_raw,cap_net_admin=p /tmp/blectl")
      expect(try asNobody("-i", "user:0", "scan", "--json"), 3, "CAP_NET_ADMIN")
      // Connecting needs no capability.
      let read = try asNobody("read", "\(BumbleAir.peer)/random", "ffe2")
      #expect(read.text == "hello lock\n", "\(read.errors)")
      // The user may not ask the controller to disconnect. The kernel does so 2 s after the socket is closed.
      try Guest.waitForNoLink()
      try Guest.expectQuiet()
    }

    /// The kernel's own limit is 40 s, and it reports that as a refused connection.
    @Test func aPeerOutOfRange() throws {
      expect(try Guest.blectl("connect", "C0:11:22:33:44:55/random", "--json"), 4, "no answer in 20 s")
      try Guest.expectQuiet()
    }

    @Test func theWrongAddressType() throws {
      let wrong = try Guest.blectl("connect", "\(BumbleAir.peer)/public", "--timeout", "3", "--json")
      expect(wrong, 4, "random")
      #expect(!wrong.errors.contains("refused"))
      try Guest.expectQuiet()
      // Without a type, blectl finds it.
      let found = try Guest.blectl("connect", BumbleAir.peer, "--json")
      #expect(try found.records.first?.string("address_type") == "random", "\(found.errors)")
    }

    @Test func aUserChannelThatCannotBeHad() throws {
      expect(try Guest.blectl("-i", "user:0", "scan", "--json"), 3, "sudo hciconfig hci0 down")
      // The peripheral holds the user channel of hci1.
      expect(try Guest.blectl("-i", "user:1", "scan", "--json"), 3, "user channel")
      expect(try Guest.blectl("-i", "user:9", "scan", "--json"), 3, "No adapter")
    }

    @Test func twoAtOnce() throws {
      let listening = try Guest.start("notify", "\(BumbleAir.peer)/random", "ffe5", "--json")
      #expect(listening.waitForOutput(containing: "notification"))
      expect(try Guest.blectl("read", "\(BumbleAir.peer)/random", "ffe2", "--json"), 3, "another program is using")
      #expect(listening.end(by: SIGINT).status == 130)
      try Guest.expectQuiet()
      // Two scans share the controller. The first to end does not stop the other.
      let long = try Guest.start("scan", "--json", "--duration", "6", "--duplicates")
      let short = try Guest.blectl("scan", "--json", "--duration", "2")
      #expect(short.status == 0, "\(short.errors)")
      let result = long.wait()
      #expect(result.status == 0 && !result.lines.isEmpty, "\(result.errors)")
      try Guest.expectQuiet()
    }

    @Test func ctrlC() throws {
      for arguments in [["scan", "--json", "--duration", "0"], ["notify", "\(BumbleAir.peer)/random", "ffe5", "--json"]] {
        let running = try Blectl.start(arguments, adapter: nil, virtual: false, hasInput: false)
        #expect(running.waitForOutput(containing: "event"))
        #expect(running.end(by: SIGINT).status == 130)
        try Guest.expectQuiet()
      }
    }
  }
}
