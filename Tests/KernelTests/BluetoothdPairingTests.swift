import Foundation
import TestSupport

@testable import BluetoothLELinux

extension KernelTests {
  /// Pairing through bluetoothd, and bonds that it keeps. Each blectl is a process of its own.
  @Suite(.serialized) final class BluetoothdPairingTests {
    private static let peer = "\(BumbleAir.peer)/random"
    private let lock: BumbleAir
    private let daemon: Bluetoothd
    private let state = "/tmp/bonds-\(UUID().uuidString)"

    init() throws {
      lock = try Guest.lock()
      // The guest switches the adapter on by hciconfig, without a Security Manager.
      for isOn in [false, true] {
        _ = ManagementChannel.ask(0x0005, adapter: 0, [isOn ? 1 : 0])  // Set Powered
        try Guest.wait(for: "hci0 to be \(isOn ? "on" : "off")") { try Guest.must("hciconfig", "hci0").contains("UP") == isOn }
      }
      lock.say("forget")
      _ = lock.event("forgotten")
      try Guest.waitForNoLink()
      daemon = try Bluetoothd("hci0")
      try Guest.wait(for: "bluetoothd to find hci0") {
        try Guest.run("busctl", "get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Powered").text.contains("true")
      }
    }

    deinit {
      // No key of a test remains.
      _ = try? blectl("unpair", Self.peer)
      daemon.stop()
    }

    /// Makes Lock-01 pair by a method: see bumble_air.py.
    private func pairs(by method: String) {
      lock.say("pairing:\(method)")
      _ = lock.event("pairing")
    }

    private func blectl(_ arguments: String...) throws -> ProcessResult {
      try Blectl.run(["-i", "hci0", "--json"] + arguments, environment: ["XDG_STATE_HOME": state], adapter: nil, virtual: false)
    }

    private func secret() throws -> String? {
      let result = try blectl("read", Self.peer, "ffea")
      if result.status == 5, result.errors.contains("blectl pair") { return nil }
      try #require(result.status == 0, "\(result.errors)")
      return try result.records.first { $0.string("event") == "value" }?.string("text")
    }

    private func expectPaired(_ kind: String) throws {
      pairs(by: kind)
      let result =
        kind == "none" ? try blectl("pair", Self.peer) : try blectl("pair", Self.peer, "--passkey", kind, "--level", "4")
      try #require(result.status == 0, "\(result.errors)")
      let record = try #require(try result.records.first { $0.string("event") == "paired" })
      #expect(record.string("method") == (kind == "none" ? "just_works" : "passkey"))
      #expect(record.bool("authenticated") == (kind != "none") && record.bool("bonded") == true && record.int("key_size") == 16)
      #expect(record.bool("secure_connections") == (kind == "none" ? nil : true) && record.string("identity") == BumbleAir.peer)
    }

    @Test(arguments: ["none", "246810"]) func methods(_ kind: String) throws {
      #expect(try secret() == nil)
      try expectPaired(kind)
      #expect(try secret() == "secret")
      let bond = try #require(try blectl("bonds").records.first)
      #expect(bond.string("identity") == BumbleAir.peer && bond.string("kept_by") == "bluetoothd" && bond.isNull("created"))
      // A second pairing is not necessary.
      let again = try blectl("pair", Self.peer)
      #expect(again.status == 0, "\(again.errors)")
      #expect(try again.records.first?.isNull("method") == true)
      #expect(try blectl("unpair", Self.peer).records.map { $0.string("event") } == ["unpaired"])
      lock.say("forget")
      _ = lock.event("forgotten")
      #expect(try blectl("bonds").text == "")
      #expect(try secret() == nil)
    }

    /// The agent of another program gets no question, and still works afterwards.
    @Test func anotherAgent() throws {
      let control = try daemon.control()
      defer { control.end() }
      try expectPaired("246810")
      #expect(try control.say("version", until: "Version").contains("passkey") == false)
      #expect(try secret() == "secret")
    }

    /// `--pair` pairs when the device refuses the first request.
    @Test func onDemand() throws {
      pairs(by: "none")
      let result = try blectl("read", Self.peer, "ffea", "--pair")
      #expect(result.status == 0 && result.text.contains("secret"), "\(result.errors)")
    }

    @Test func whatItCannotDo() throws {
      for options in [["--no-bond"], ["--min-key-size", "7"], ["--legacy", "refuse"]] {
        let result = try Blectl.run(["-i", "hci0", "pair", Self.peer] + options, adapter: nil, virtual: false)
        #expect(result.status == 64 && result.errors.contains("-i user:N"), "\(result.errors)")
      }
      try Guest.expectQuiet()
    }

    // MARK: Lock-01 ends the link

    @Test func wrongPasskey() throws {
      pairs(by: "246810")
      let result = try blectl("pair", Self.peer, "--passkey", "111111")
      #expect(result.status == 5 && result.error?.string("message")?.contains("the passkey differs") == true, "\(result.errors)")
      #expect(try blectl("bonds").text == "")
    }
  }
}
