import BluetoothLESimulator
import TestSupport

/// Tests transfers through the whole simulation: HCI, link layer, the device's L2CAP.
@Suite(.timeLimit(.minutes(15))) struct VirtualControllerTransferTests {
  struct Case: Sendable, CustomStringConvertible {
    let phy: PHYMask
    let bytes: UInt16
    let interval: ConnectionInterval
    let value: Int
    var buffers = (length: 251, count: 8)
    var description: String { "\(phy.phys.map(\.name)) LL \(bytes) \(interval.duration), \(value) octets" }
  }

  @LoopActor
  private static func connect(
    _ it: Case, air: Air = Air()
  ) async throws -> (host: TestHost, device: TestDevice, handle: ConnectionHandle) {
    let device = TestDevice()
    device.keeps = false
    air.add(device)
    let host = TestHost(air: air) { ($0.bufferLength, $0.buffers) = it.buffers }
    try await host.setUp()
    let handle = try await host.connect(device.address, interval: it.interval).handle
    if it.bytes > 27 {
      try await host.complete(LESetDataLength(handle: handle, txOctets: it.bytes, txTime: 2120))
      try await host.event { if case .leDataLengthChange = $0 { () } else { nil } }
    }
    if it.phy != .le1M {
      try await host.status(LESetPHY(handle: handle, allPHYs: 0, tx: it.phy, rx: it.phy, options: 0))
      try await host.event { if case .lePHYUpdateComplete = $0 { () } else { nil } }
    }
    return (host, device, handle)
  }

  /// Sends `total` bytes in Write Commands of `value` bytes, and waits for the last credit.
  @LoopActor
  private static func transfer(_ it: Case, _ total: Int, air: Air = Air()) async throws -> (host: TestHost, device: TestDevice) {
    let (host, device, handle) = try await connect(it, air: air)
    let pdu = [UInt8](repeating: 0x52, count: it.value + 3)
    var left = total
    while left > 0 {
      try await host.send(Array(pdu.prefix(left + 3)), handle: handle, length: it.buffers.length)
      left -= it.value
    }
    try await host.wait { host.credits == it.buffers.count }
    host.controller.close()
    return (host, device)
  }

  @Test(arguments: [
    Case(phy: .le1M, bytes: 27, interval: 6, value: 20), Case(phy: .le1M, bytes: 27, interval: 24, value: 182),
    Case(phy: .le1M, bytes: 251, interval: 6, value: 244), Case(phy: .le1M, bytes: 251, interval: 24, value: 244),
    Case(phy: .le1M, bytes: 251, interval: 40, value: 495), Case(phy: .le1M, bytes: 251, interval: 12, value: 512),
    Case(phy: .le2M, bytes: 27, interval: 12, value: 20), Case(phy: .le2M, bytes: 251, interval: 9, value: 244),
    Case(phy: .le2M, bytes: 251, interval: 12, value: 244), Case(phy: .le2M, bytes: 251, interval: 24, value: 495),
    Case(phy: .le2M, bytes: 251, interval: 80, value: 512), Case(phy: .le2M, bytes: 251, interval: 320, value: 244),
    Case(phy: .le2M, bytes: 251, interval: 40, value: 182), Case(phy: .le2M, bytes: 251, interval: 12, value: 244, buffers: (27, 16)),
  ])
  func throughputIsThatOfTheAir(it: Case) async throws {
    try await onLoop {
      let coding: AirTime.Coding = it.phy == .le2M ? .le2M : .le1M
      let expected = AirTime.throughput(
        value: it.value, linkBytes: Int(it.bytes), coding, interval: Int(it.interval.rawValue) * 1250, hciBytes: it.buffers.length)
      // Enough connection events, so that the last, partly filled one does not matter.
      let count = Int(expected * max(0.5, Double(it.interval.rawValue) * 0.05)) / it.value
      let (_, device) = try await Self.transfer(it, count * it.value)
      #expect(device.bytes == count * (it.value + 3))
      let rate = Double((count - 1) * it.value) / (Double(device.lastTime - device.firstTime) / 1e9)
      #expect(abs(rate / expected - 1) < 0.03, "\(rate) instead of \(expected)")
    }
  }

  /// The picture of the fifth field report: 77,831 bytes. Time is virtual, so only the processor's time counts.
  @Test(.onLoop, arguments: [20, 182, 244])
  @LoopActor func aPicture(value: Int) async throws {
    let (host, device) = try await Self.transfer(Case(phy: .le1M, bytes: value == 20 ? 27 : 251, interval: 6, value: value), 77_831)
    let segments = (77_831 + value - 1) / value
    #expect(device.bytes == 77_831 + 3 * segments)
    #expect(host.controller.violations.isEmpty)
  }

  @Test func theSameSeedGivesTheSameLog() async throws {
    let logs = try await onLoop { () async throws -> [[String]] in
      var logs: [[String]] = []
      for seed in [3, 3, 4] as [UInt64] {
        let air = Air(seed: seed)
        air.faults.packetErrorRate = 0.05
        let (host, device) = try await Self.transfer(Case(phy: .le2M, bytes: 251, interval: 12, value: 244), 50_000, air: air)
        #expect(device.bytes == 50_000 + 3 * 205)
        logs.append(host.log.map { "\($0.time) \(Hex.encode($0.packet))" })
      }
      return logs
    }
    #expect(logs[0] == logs[1])
    #expect(logs[0] != logs[2])
  }

  /// With one request at a time, a round trip takes two intervals.
  @Test(.onLoop) @LoopActor func requestsTakeTwoIntervals() async throws {
    let (host, device, handle) = try await Self.connect(Case(phy: .le1M, bytes: 251, interval: 24, value: 244))
    device.onReceive = { _, channel in channel.send([0x13]) }
    for count in 1...50 {
      try await host.send([UInt8](repeating: 0x12, count: 247), handle: handle)
      try await host.wait { host.frames.count == count }
    }
    let rate = 49 * 244 / (Double(device.lastTime - device.firstTime) / 1e9)
    #expect(abs(rate / 4066 - 1) < 0.03)
    host.controller.close()
  }
}
