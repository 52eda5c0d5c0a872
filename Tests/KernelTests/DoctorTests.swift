import Foundation
import TestSupport

extension KernelTests {
  /// Each finding, on a machine in the corresponding state.
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
      #expect(try result.status == 3 && failures(result).first?.contains("sudo btmgmt -i hci0 power on") == true, "\(result.text)")
    }

    /// Doctor names an adapter in use: Lock-01 holds the user channel of hci1.
    @Test func anAdapterThatIsTaken() throws {
      let result = try Guest.blectl("-i", "hci1", "doctor", "--json")
      let told = try failures(result).first ?? ""
      #expect(result.status == 3 && told.hasPrefix("In use: python") && told.contains("owns its HCI user channel"), "\(result.text)")
    }

    @Test func anotherThatSeesHCI() throws {
      let monitor = try RunningProcess(["btmon"])
      try Guest.wait(for: "doctor to see btmon") {
        let notes = try Guest.blectl("doctor", "--json").records.filter { $0.string("state") == "note" && $0.string("subject") == "HCI" }
        return notes.contains { $0.string("message")?.contains("btmon (pid ") == true }
      }
      monitor.end(by: SIGTERM)
    }

    @Test func aDeviceThatTheKernelConnectsTo() throws {
      let device = "-t 2 C0:FF:EE:00:00:42 </dev/zero"
      try Guest.must("sh", "-c", "btmgmt --index 0 add-device -a 2 \(device)")
      let result = try Guest.blectl("-i", "hci0", "doctor", "--json")
      let told = try result.records.filter { $0.string("subject") == "hci0" && $0.string("state") == "note" }.compactMap {
        $0.string("message")
      }
      #expect(
        result.status == 0 && told.contains { $0.contains("`sudo btmgmt --index 0 del-device -t 2 C0:FF:EE:00:00:42`") }, "\(result.text)")
      // Follow the advice of doctor.
      try Guest.must("sh", "-c", "btmgmt --index 0 del-device \(device)")
      #expect(try !Guest.blectl("-i", "hci0", "doctor").text.contains("C0:FF:EE:00:00:42"))
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
            "the switch \(device) (hci0) is off in software. Run: rfkill unblock bluetooth") == true,
        "\(result.text)")
    }

    /// Missing capabilities: the file may get them, the process cannot get any, or the file system ignores or cannot store them.
    @Test func aUserWithoutCapabilities() throws {
      func asNobody(_ path: String, _ options: String...) throws -> [String] {
        let result = try RunningProcess.run(
          ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + options + [path, "doctor", "--json"])
        #expect(result.status == 3, "\(result.text)\(result.errors)")
        return try failures(result)
      }
      try Guest.must("cp", Blectl.path, "/tmp/blectl")
      #expect(
        try asNobody("/tmp/blectl").first?.contains("sudo setcap cap_net_raw,cap_net_admin=p /tmp/blectl` (on an overlay") == true)
      #expect(try asNobody("/tmp/blectl", "--bounding-set", "-all").first?.contains("--cap-add NET_RAW") == true)
      #expect(try asNobody("/tmp/blectl", "--no-new-privs").first?.contains("no_new_privs") == true)
      try Guest.must("mkdir", "-p", "/tmp/nosuid")
      try Guest.must("mount", "-t", "tmpfs", "-o", "nosuid,mode=755", "none", "/tmp/nosuid")
      try Guest.must("cp", Blectl.path, "/tmp/nosuid/blectl")
      let told = try asNobody("/tmp/nosuid/blectl").first
      try Guest.must("umount", "/tmp/nosuid")
      #expect(told?.contains("mounted nosuid") == true, "\(told ?? "")")
      try Guest.must("mkdir", "-p", "/tmp/ramfs")
      try Guest.must("mount", "-t", "ramfs", "-o", "mode=755", "none", "/tmp/ramfs")
      try Guest.must("cp", Blectl.path, "/tmp/ramfs/blectl")
      #expect(try Guest.run("setcap", "cap_net_raw,cap_net_admin=p", "/tmp/ramfs/blectl").status != 0)
      let kept = try asNobody("/tmp/ramfs/blectl").first
      try Guest.must("umount", "/tmp/ramfs")
      #expect(kept?.contains("(ramfs at /tmp/ramfs) cannot store capabilities. Copy the program to another one:") == true, "\(kept ?? "")")
    }

    @Test func aLinkThatIsHeld() throws {
      let listening = try Guest.start("notify", "\(BumbleAir.peer)/random", "ffe5", "--json")
      #expect(listening.waitForOutput(containing: "notification"))
      let result = try Guest.blectl("-i", "hci0", "doctor", "--json")
      #expect(listening.end(by: SIGINT).status == 130)
      #expect(result.status == 0 && result.text.contains("is connected to \(BumbleAir.peer)"), "\(result.text)")
      #expect(result.text.contains("blectl (pid ") && result.text.contains("Stop that program."), "\(result.text)")
      try Guest.expectQuiet()
    }
  }
}
