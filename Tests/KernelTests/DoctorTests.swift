import Foundation
import TestSupport
import Testing

extension KernelTests {
  /// Each finding on the machine as it then is.
  @Suite struct DoctorTests {
    init() throws { try Guest.lock() }

    private func failures(_ result: ProcessResult) throws -> [String] {
      try result.records.filter { $0.string("state") == "failure" }.compactMap { $0.string("message") }
    }

    @Test func nothingIsWrong() throws {
      let result = try Guest.blectl("doctor", "--json")
      let records = try result.records
      #expect(result.status == 0, "\(result.text)\(result.errors)")
      #expect(records.contains { $0.string("subject") == "hci0" && $0.string("message")?.contains(" up ") == true }, "\(result.text)")
      #expect(records.contains { $0.string("subject") == "rights" && $0.string("message")?.contains("CAP_NET_RAW") == true })
      try Guest.expectQuiet()
    }

    @Test func anAdapterThatIsDown() throws {
      try Guest.switchOff("hci0")
      let result = try Guest.blectl("-i", "hci0", "doctor", "--json")
      try Guest.switchOn("hci0")
      #expect(try result.status == 3 && failures(result).first?.contains("sudo hciconfig hci0 up") == true, "\(result.text)")
    }

    @Test func anAdapterThatIsBlocked() throws {
      let block = "/sys/class/bluetooth/hci0/rfkill*/soft"
      let device = try Guest.must("sh", "-c", "echo 1 | tee \(block) >&2; basename /sys/class/bluetooth/hci0/rfkill*").trimmingCharacters(
        in: .whitespacesAndNewlines)
      let result = try Guest.blectl("-i", "hci0", "doctor", "--json")
      try Guest.must("sh", "-c", "echo 0 | tee \(block)")
      try Guest.switchOn("hci0")
      #expect(
        try result.status == 3
          && failures(result).first?.contains(
            "the switch \(device) (hci0) is off in software: switch it on with `rfkill unblock bluetooth`") == true,
        "\(result.text)")
    }

    /// In turn: the file may be given capabilities, is on a file system where that counts nothing, and the process may not get any.
    @Test func aUserWithoutCapabilities() throws {
      func asNobody(_ path: String, _ options: String...) throws -> [String] {
        let result = try RunningProcess.run(
          ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + options + [path, "doctor", "--json"])
        #expect(result.status == 3, "\(result.text)\(result.errors)")
        return try failures(result)
      }
      try Guest.must("cp", Blectl.path, "/tmp/blectl")
      #expect(try asNobody("/tmp/blectl").first?.contains("sudo setcap cap_net_raw,cap_net_admin=p /tmp/blectl") == true)
      #expect(try asNobody("/tmp/blectl", "--bounding-set", "-all").first?.contains("--cap-add NET_RAW") == true)
      #expect(try asNobody("/tmp/blectl", "--no-new-privs").first?.contains("no_new_privs") == true)
      try Guest.must("mkdir", "-p", "/tmp/nosuid")
      try Guest.must("mount", "-t", "tmpfs", "-o", "nosuid,mode=755", "none", "/tmp/nosuid")
      try Guest.must("cp", Blectl.path, "/tmp/nosuid/blectl")
      let told = try asNobody("/tmp/nosuid/blectl").first
      try Guest.must("umount", "/tmp/nosuid")
      #expect(told?.contains("mounted nosuid") == true, "\(told ?? "")")
    }

    @Test func aLinkThatIsHeld() throws {
      let listening = try Guest.start("notify", "\(BumbleAir.peer)/random", "ffe5", "--json")
      #expect(listening.waitForOutput(containing: "notification"))
      let result = try Guest.blectl("-i", "hci0", "doctor", "--json")
      listening.signal(SIGINT)
      #expect(listening.wait().status == 130)
      #expect(result.status == 0 && result.text.contains("bluetoothctl disconnect \(BumbleAir.peer)"), "\(result.text)")
      try Guest.expectQuiet()
    }
  }
}
