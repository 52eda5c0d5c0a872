import Foundation
import Glibc
import TestSupport

@testable import BluetoothLELinux

extension KernelTests {
  /// `peripheral` on the kernel's stack and on blectl's own host, with BlueZ and blectl as the central.
  @Suite(.serialized) struct PeripheralRoleTests {
    init() throws {
      Guest.removeLock()
      try Guest.switchOff("hci1")
      try Guest.switchOn("hci0")
      try Guest.waitForNoLink()
    }

    /// BlueZ's gatttool discovers, reads, writes, subscribes, and gets what a line on standard input sends.
    @Test(arguments: [("user:1", "hci0"), ("hci0", "hci1")]) func gatttool(_ adapter: String, _ central: String) throws {
      try Guest.switchOn(central)
      let device = try ServedPeripheral(adapter)
      let tool = ["gatttool", "-i", central, "-b", device.address, "-t", device.type]
      func ask(_ words: String...) throws -> String {
        let result = try RunningProcess.run(tool + words)
        #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result.errors)")
        return result.text
      }
      #expect(try ask("--primary").hasSuffix("attr handle = 0x000a, end grp handle = 0x0011 uuid: 0000ffe0-0000-1000-8000-00805f9b34fb\n"))
      let value = "handle = 0x000b, char properties = 0x1a, char value handle = 0x000c, uuid = 0000ffe1-0000-1000-8000-00805f9b34fb\n"
      #expect(try ask("--characteristics").contains(value))
      #expect(try ask("--char-read", "-a", "0x000c") == "Characteristic value/descriptor: 01 02 \n")
      #expect(try ask("--char-write-req", "-a", "0x000c", "-n", "0a0b") == "Characteristic value was written successfully\n")
      #expect(try ask("--char-read", "-a", "0x000c") == "Characteristic value/descriptor: 0a 0b \n")
      let listening = try RunningProcess(tool + ["--char-write-req", "-a", "0x000d", "-n", "0100", "--listen"], hasInput: false)
      #expect(device.event("subscribed")?.string("mode") == "notify")
      device.process.send(line: "notify ffe1 aabb")
      #expect(listening.waitForOutput(containing: "Notification handle = 0x000c value: aa bb"))
      listening.end(by: SIGINT)
      // Before the kernel ends the idle link: Linux 6.1 may crash when a socket closes after its link (hci_chan_del).
      device.process.send(line: "disconnect")
      #expect(device.event("disconnected") != nil)
      let served = device.process.end(by: SIGINT)
      #expect(served.status == 130 && !served.errors.contains("note"), "\(served.errors)")
      let address = try AdapterList.adapters().first { $0.name == central }?.address.map { "\($0)" }
      #expect(try address != nil && served.records.first { $0.string("event") == "connected" }?.string("address") == address)
      let own = try served.records.filter { $0.string("uuid") == "ffe1" }
      #expect(own.compactMap { $0.string("event") } == ["read", "written", "read", "subscribed", "notified"], "\(served.text)")
      #expect(own.compactMap { $0.string("value") } == ["0102", "0a0b", "0a0b", "aabb"])
    }

    /// The devices of the examples, served by one adapter, pass the scripts of the examples.
    @Test func examples() throws {
      let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../man/examples").path
      func serve(_ text: String, _ use: () throws -> ProcessResult) throws {
        let device = try ServedPeripheral("user:1", text)
        let result = try use()
        #expect(result.status == 0, "\(result.text)\(result.errors)")
        #expect(device.process.end(by: SIGINT).status == 130)
      }
      // An adapter serves one device: the second lock of the file stays at home.
      let lock = try String(contentsOfFile: "\(examples)/gate-lock.json", encoding: .utf8)
        .replacing(/,\s*"others": \[.*?\n    \]/.dotMatchesNewlines(), with: "")
      try serve(lock) { try Guest.blectl("-i", "hci0", "run", "\(examples)/lock.blectl") }
      // The script sends a second command while the band sends its history, which this band does slowly: so may this machine.
      let band = try String(contentsOfFile: "\(examples)/wristband.json", encoding: .utf8)
        .replacing(#""after_ms": 25"#, with: #""after_ms": 250"#)
      try serve(band) {
        let shell = try RunningProcess.run(
          ["\(examples)/wristband.sh"],
          environment: ["BLECTL": Blectl.path, "BLECTL_ADAPTER": "hci0", "PATH": "/usr/bin:/bin", "HOME": "/tmp"])
        #expect(shell.status == 0 && shell.lines.count { $0.hasPrefix("day ") } == 3, "\(shell.text)\(shell.errors)")
        return try Guest.blectl("-i", "hci0", "run", "\(examples)/wristband.blectl")
      }
    }

    // MARK: The kernel's adapter

    /// The numbers of the advertising instances of hci0 (Read Advertising Features).
    private func instances() throws -> [UInt8] {
      let answer = try #require(ManagementChannel.ask(0x003D, adapter: 0))
      return answer.parameters.dropFirst(8).sorted()
    }

    /// The current settings of hci0 (Read Controller Information).
    private func settings() throws -> [UInt8] {
      let answer = try #require(ManagementChannel.ask(0x0004, adapter: 0))
      return Array(answer.parameters.dropFirst(13).prefix(4))
    }

    /// A signal ends the links at once, and leaves the adapter as it was. What SIGKILL leaves, the next start removes.
    @Test func whatASignalLeaves() throws {
      // The instance of another program: connectable, with two bytes of data.
      #expect(ManagementChannel.ask(0x003E, adapter: 0, [1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x1A])?.status == 0)
      defer { _ = ManagementChannel.ask(0x003F, adapter: 0, [1]) }
      let before = try settings()
      let killed = try ServedPeripheral("hci0")
      killed.process.end(by: SIGKILL)
      #expect(try instances() == [1, 2])
      for signal in [SIGINT, SIGTERM] {
        let device = try ServedPeripheral("hci0")
        // Otherwise this one would have the number 3.
        #expect(try instances() == [1, 2])
        let central = try Guest.start("-i", "user:1", "notify", device.peer, "ffe1", "--json")
        #expect(device.event("subscribed") != nil)
        let ended = device.process.end(by: signal)
        // Closed sockets alone would keep the link for 4 s.
        #expect(try Guest.links() == [])
        // No note, for example that the central is another program's.
        #expect(ended.status == 128 + signal && !ended.errors.contains("note"), "\(ended.errors)")
        #expect(try instances() == [1] && settings() == before)
        let told = central.wait()
        #expect(told.status == 6 && told.error?.string("message")?.contains("0x13") == true, "\(told.errors)")
      }
      // The kernel would put Flags in front of this.
      let long = try ServedPeripheral.start(
        "hci0", TemporaryFolder.file(ServedPeripheral.device(advertisement: #""1cff\#(String(repeating: "5a", count: 27))""#)))
      let refused = long.wait()
      #expect(refused.status == 64 && refused.errors.contains("has 29 bytes; hci0 sends at most 28"), "\(refused.errors)")
      #expect(try instances() == [1] && settings() == before)
    }

    /// Another program listens later, and gets the link.
    @Test func anOvertakenListener() throws {
      let device = try ServedPeripheral("hci0")
      var other = try SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, 0)
      try SystemCall.bind(other.rawValue, .att(nil, .public))
      try SystemCall.listen(other.rawValue)
      let central = try Guest.start("-i", "user:1", "read", device.peer, "ffe1")
      #expect(device.process.waitForOutput(containing: "another program took the connection"))
      _ = central.end(by: SIGINT)
      #expect(device.process.end(by: SIGINT).status == 130)
      other.close()
    }
  }
}
