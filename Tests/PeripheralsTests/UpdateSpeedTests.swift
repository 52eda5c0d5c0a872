import BluetoothLESimulator
import TestSupport

@testable import BluetoothLEFirmware

/// Compares uploads over simulated links with the bounds in the documentation of `DFUTarget.transfer` and `ManagementClient.upload`.
@Suite(.timeLimit(.minutes(15))) struct UpdateSpeedTests {
  private static let links: [(phy: PHY, milliseconds: Int)] = [(.le1M, 15), (.le1M, 50), (.le2M, 15), (.le2M, 50)]

  /// Connects to a device with an MTU of 247. Packets have the maximum length.
  @LoopActor
  private static func withClient(
    _ update: String, _ phy: PHY, _ milliseconds: Int, _ body: @LoopActor (Client, VirtualPeripheral) async throws -> Void
  ) async throws {
    let peripheral = try UpdateTestClient.device(update, more: #", "mtu": 247"#)
    let air = Air(seed: 3)
    air.add(peripheral)
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let link = try #require(try await central.connect(peripheral.address, timeout: .seconds(20)) as? HostLink)
    if phy == .le2M { _ = try await link.requestPHY(phy) }
    _ = try await link.requestInterval(.milliseconds(milliseconds))
    try await body(Client(link.channel), peripheral)
    await central.close()
  }

  /// The times of upload progress. The rate leaves out the first and the last step, which do more than the others.
  private struct Steps {
    var steps: [(bytes: Int, time: LoopClock.Instant)] = []

    @LoopActor mutating func add(_ confirmed: Int) {
      if confirmed > steps.last?.bytes ?? 0 { steps.append((confirmed, EventLoop.shared.now)) }
    }

    /// Bytes per second.
    func rate() throws -> Double {
      try #require(steps.count > 4)
      let (first, last) = (steps[1], steps[steps.count - 2])
      return Double(last.bytes - first.bytes) / (first.time.duration(to: last.time) / .seconds(1))
    }
  }

  /// Returns the bytes per second of an upload to a Nordic bootloader.
  @LoopActor
  private static func secureDFU(_ keys: String, _ phy: PHY, _ milliseconds: Int) async throws -> Double {
    var steps = Steps()
    try await withClient("\"dfu\": {\(keys)}", phy, milliseconds) { client, peripheral in
      let image = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 5 + $0 >> 8) }
      let target = try await DFUTarget(client)
      let packet = SecureBootloaderTests.packet(size: image.count, hash: SHA2.sha256.hash(image).reversed())
      try await target.transfer(packet, as: .command, resumes: true)
      try await target.transfer(image, as: .data, resumes: true) { steps.add($1) }
      #expect(peripheral.bootloader?.executed == image.count && peripheral.bootloader?.ledger.repeated == 0)
    }
    return try steps.rate()
  }

  @Test(arguments: links) func secureDFU(_ phy: PHY, _ milliseconds: Int) async throws {
    try await onLoop {
      let packetsPerEvent = milliseconds * 1000 / AirTime.exchange(bytes: 251, AirTime.Coding(phy))
      let events = (17 + packetsPerEvent - 1) / packetsPerEvent
      let bound = 4096 / Double((events + 3) * milliseconds) * 1000
      let rate = try await Self.secureDFU("", phy, milliseconds)
      #expect(rate >= 0.95 * bound, "\(rate) of \(bound)")
    }
  }

  /// The receipt for the packets of an object arrives before the answer to its `create`. Three more events are left after the erasure.
  @Test func aBootloaderMayEraseBeforeItAnswers() async throws {
    try await onLoop {
      let rate = try await Self.secureDFU(#""page_erase_ms": 90"#, .le1M, 15)
      #expect(rate >= 0.95 * 4096 / 0.15, "\(rate)")
    }
  }

  /// The bytes per second of messages in whole connection events, the length of which is in µs.
  private static func bound(_ size: Int, _ coding: AirTime.Coding, event: Int) -> Double {
    var exchanges = stride(from: 0, to: size, by: 244).map { AirTime.exchange(bytes: min(244, size - $0) + 7, coding) }
    // The answer of 18 bytes is opposite to the last write, which is the shortest.
    exchanges[exchanges.count - 1] += AirTime.pdu(bytes: 25, coding) - AirTime.pdu(bytes: 0, coding)
    var (events, rest) = (0, 0)
    for exchange in (0..<500).flatMap({ _ in exchanges }) {
      if exchange > rest { (events, rest) = (events + 1, event) }
      rest -= exchange
    }
    return 500 * Double(size - 26) / Double(events * event) * 1e6
  }

  @Test(arguments: links, [384, 1024, 2475]) func management(_ link: (phy: PHY, milliseconds: Int), _ size: Int) async throws {
    try await onLoop {
      let (phy, milliseconds) = link
      try await Self.withClient(#""mcumgr": {"buffer_size": \#(size)}"#, phy, milliseconds) { client, peripheral in
        let image = ImageSlots.image(version: ImageVersion(major: 2, minor: 0, revision: 0), size: 200_000)
        var steps = Steps()
        try await ManagementClient(client).upload(image[...]) { steps.add($1) }
        #expect(peripheral.management?.ledger.repeated == 0)
        let bound = Self.bound(size, AirTime.Coding(phy), event: milliseconds * 1000)
        let rate = try steps.rate()
        #expect(rate >= 0.95 * bound, "\(rate) of \(bound)")
      }
    }
  }
}
