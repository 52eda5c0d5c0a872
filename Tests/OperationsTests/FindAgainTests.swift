import Bluetooth
import EventLoop
import Simulation
import TestSupport
import Testing

@testable import Finding
@testable import Operations

/// Tests which device counts as the lost one.
@Suite(.timeLimit(.minutes(15))) struct FindAgainTests {
  static let carrier = #""manufacturer_data": {"0305": "0101 22110038c1a4"}, "#

  @LoopActor
  private func air(_ address: String) throws -> String {
    LosingAir.counter(address: address).replacing(#""flags": 6, "#, with: #""flags": 6, "# + Self.carrier)
  }

  /// After an address change, the selector that found the device finds it again.
  @Test(arguments: [
    ("name:counter", "5D:00:00:00:00:01/random"), ("service:ff00", "1D:00:00:00:00:01/random"),
    ("mac:A4:C1:38:00:11:22", "D1:00:00:00:00:77/random"),
  ]) func anotherAddressOfTheSame(_ selector: String, _ address: String) async throws {
    try await onLoop {
      let selector = try #require(PeerSelector(selector))
      let air = try await LosingAir(try self.air(address))
      let connection = try await air.connect(selector)
      let old = connection.peer
      #expect(connection.isMeant(by: selector))
      try await air.lose(connection)
      air.device.present = try LosingAir.peripheral(try self.air("7F:00:00:00:00:02/random"))
      try await air.session.restore(connection)
      #expect(connection.peer != old && connection.peer == air.device.address)
      #expect(connection.isMeant(by: selector) && connection.isMeant(by: .address(connection.peer.address, nil)))
      await air.session.close()
    }
  }

  /// The same private address is preferred immediately, even if another match is stronger.
  @Test func theSameAddressComesFirst() async throws {
    try await onLoop {
      let air = try await LosingAir(LosingAir.counter(address: "5D:00:00:00:00:01/random", limits: #""rssi": -30,"#))
      let connection = try await air.connect(.name("counter"))
      try await air.lose(connection)
      let stronger = LosingAir.counter(address: "5D:00:00:00:00:02/random", limits: #""rssi": -20,"#)
      air.air.add(try LosingAir.peripheral(stronger))
      try await air.session.restore(connection)
      #expect(connection.peer == air.device.address)
      await air.session.close()
    }
  }

  /// With changing addresses, a pattern matches neither another name nor one of two devices with the same name.
  @Test(arguments: ["Counted", "Counter"]) func aPatternIsForOneDevice(_ other: String) async throws {
    try await onLoop {
      let air = try await LosingAir(LosingAir.counter(address: "5D:00:00:00:00:01/random"))
      let connection = try await air.connect(.name("count*"))
      let peer = connection.peer
      try await air.lose(connection)
      air.device.isAway = true
      for number in other == "Counter" ? [2, 3] : [2] {
        air.air.add(try LosingAir.peripheral(LosingAir.counter(address: "5D:00:00:00:00:0\(number)/random", name: other)))
      }
      EventLoop.shared.schedule(after: .seconds(60)) { air.device.isAway = false }
      try await air.session.restore(connection)
      #expect(connection.peer == peer)
      await air.session.close()
    }
  }

  /// If addresses do not change, a device with the same name never replaces the lost one. It could be another door.
  @Test(arguments: ["name:counter", "service:ff00", "D1:00:00:00:00:77"]) func anotherDeviceIsNotTaken(_ selector: String) async throws {
    try await onLoop {
      let selector = try #require(PeerSelector(selector))
      let air = try await LosingAir(LosingAir.counter(limits: #""rssi": -30,"#))
      let connection = try await air.connect(selector)
      let peer = connection.peer
      try await air.lose(connection)
      air.air.add(try LosingAir.peripheral(LosingAir.counter(address: "D1:00:00:00:00:78/random")))
      air.device.isAway = true
      EventLoop.shared.schedule(after: .seconds(60)) { air.device.isAway = false }
      let restoration = try await air.session.restore(connection)
      #expect(restoration.tries > 2 && connection.peer == peer)
      await air.session.close()
    }
  }
}
