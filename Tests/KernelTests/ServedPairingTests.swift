import Foundation
import Glibc
import TestSupport

@testable import BluetoothLELinux

extension KernelTests {
  /// The kernel pairs for `peripheral` as its file says. The central is blectl's own host, and the device ends each link: see
  /// `VisitingCentralsTests`.
  @Suite(.serialized) struct ServedPairingTests {
    private let state = "/tmp/paired-\(UUID().uuidString)"
    private let central: RunningProcess

    init() throws {
      Guest.removeLock()
      try Guest.switchOff("hci1")
      // The guest switches the adapter on by hciconfig, without a Security Manager.
      try Guest.prepareKeys(of: "hci0")
      central = try Blectl.start(
        ["-i", "user:1", "repl", "--json"], environment: ["XDG_STATE_HOME": "\(state)-central"], adapter: nil, virtual: false)
    }

    private func serve(_ security: String) throws -> ServedPeripheral {
      try ServedPeripheral("hci0", ServedPeripheral.device(#""security": \#(security), "#), state: state)
    }

    /// Performs a command of the central. - Returns: Its exit status, and its record with this event.
    private func ask(_ line: String, _ event: String) throws -> (status: Int?, record: Record?) {
      central.send(line: line)
      var record: Record?
      while let line = central.nextLine(where: { _ in true }) {
        let next = try Record(line)
        if next.string("event") == event { record = next }
        if next.string("event") == "done" { return (next.int("status"), record) }
      }
      throw Guest.ToolFailed(description: "\(line): \(central.wait().errors)")
    }

    private func connect(to device: ServedPeripheral) throws { #expect(try ask("connect \(device.peer)", "connected").status == 0) }

    private func read(_ uuid: String) throws -> Int? { try ask("read \(uuid)", "value").status }

    private func disconnect(_ device: ServedPeripheral) {
      device.process.send(line: "disconnect")
      #expect(device.event("disconnected") != nil)
      #expect(central.nextLine { $0.contains(#""event":"disconnected""#) } != nil)
    }

    /// The current settings of hci0 (Read Controller Information).
    private func settings() throws -> [UInt8] {
      Array(try #require(ManagementChannel.ask(0x0004, adapter: 0)).parameters.dropFirst(13).prefix(4))
    }

    /// The keys that the kernel has for hci0.
    private func keys() throws -> String { try String(contentsOfFile: "/sys/kernel/debug/bluetooth/hci0/long_term_keys", encoding: .utf8) }

    @Test(arguments: [
      (#"{"io": "none"}"#, "", "just_works"), (#"{"io": "none", "sc": false}"#, "", "just_works"),
      (#"{"io": "yesno"}"#, "--io yesno --confirm yes", "numeric_comparison"),
      (#"{"io": "keyboard", "passkey": "246810"}"#, "--io display --passkey 246810", "passkey"),
      (#"{"io": "keyboard", "passkey": "246810", "sc": false}"#, "--io display --passkey 246810", "passkey"),
    ]) func methods(_ security: String, _ options: String, _ method: String) throws {
      defer { central.finish() }
      let settings = try settings()
      let isAuthenticated = method != "just_works"
      let device = try serve(security)
      try connect(to: device)
      #expect(try read("ffe2") == 5)
      let (status, paired) = try ask("pair \(options)", "paired")
      #expect(status == 0 && paired?.string("method") == method && paired?.bool("authenticated") == isAuthenticated)
      #expect(paired?.bool("secure_connections") == !security.contains("sc"))
      let event = device.event("paired")
      #expect(event?.string("method") == method && event?.bool("bonded") == true)
      #expect(try read("ffe2") == 0)
      #expect(try read("ffe3") == (isAuthenticated ? 0 : 5))
      disconnect(device)
      try connect(to: device)
      #expect(try read("ffe2") == 0)
      let first = device.process.end(by: SIGINT)
      #expect(central.nextLine { $0.contains(#""event":"disconnected""#) } != nil)
      #expect(first.status == 130 && !first.errors.contains("note"), "\(first.errors)")
      #expect(try self.settings() == settings)

      // The next device has the keys from its state, as after a restart of the computer.
      #expect(ManagementChannel.ask(0x0013, adapter: 0, [0, 0])?.status == 0)
      let next = try serve(security)
      try connect(to: next)
      #expect(try read("ffe2") == 0)
      #expect(try next.process.end(by: SIGINT).records.allSatisfy { $0.string("event") != "paired" })
    }

    /// The kernel loses the keys, too, and does not get them again from the state of the device.
    @Test func forgottenBonds() throws {
      defer { central.finish() }
      let device = try serve(#"{"io": "none"}"#)
      try connect(to: device)
      #expect(try ask("pair", "paired").status == 0)
      #expect(device.event("paired") != nil)
      #expect(try !keys().isEmpty)
      device.process.send(line: "fault forget bonds")
      #expect(device.event("fault")?.string("fault") == "forget bonds")
      disconnect(device)
      #expect(try keys() == "")
      #expect(device.process.end(by: SIGINT).status == 130)
      let next = try serve(#"{"io": "none"}"#)
      #expect(try keys() == "")
      #expect(next.process.end(by: SIGINT).status == 130)
    }
  }
}
