import BluetoothLESimulator
import TestSupport

/// Tests the host on the virtual controller: two independent readings of the same specification.
@Suite(.timeLimit(.minutes(15))) struct VirtualAirTests {
  @Test(.onLoop, arguments: [(true, 251, 8, 251), (false, 27, 4, 27), (true, 27, 1, 251)])
  @LoopActor func wholeSession(_ row: (extended: Bool, buffer: Int, buffers: Int, dataLength: Int)) async throws {
    let air = Air(seed: 1)
    let echo = Echo(lock)
    air.add(echo)
    var configuration = VirtualController.Configuration()
    configuration.extended = row.extended
    configuration.bufferLength = row.buffer
    configuration.buffers = row.buffers
    configuration.dataLength = row.dataLength
    let controller = VirtualController(air: air, configuration: configuration)
    let central = HostCentral(controller, name: "sim")
    try await central.start()

    var seen: [AdvertisingReport] = []
    _ = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) {
      try await central.scan(ScanParameters(), started: {}) { seen.append($0) }
    }
    #expect(seen.count >= 5)
    #expect(seen.allSatisfy { $0.peer == lock })

    let link = try await central.connect(lock, timeout: .seconds(5))
    var echoed: [[UInt8]] = []
    link.channel.handler = { if case .received(let pdu) = $0 { echoed.append(pdu) } }
    var sent: [[UInt8]] = []
    for number in 0..<200 {
      try await link.channel.waitUntilWritable()
      let pdu = [0x52] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 + number * 5 % 240)
      sent.append(pdu)
      link.channel.send(pdu)
    }
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(echo.received == sent)
    #expect(echoed == sent)
    let parameters = try await link.requestInterval(.microseconds(7500))
    #expect(parameters.interval == .microseconds(7500))
    #expect(parameters.maxTxOctets == row.dataLength)
    await link.disconnect()

    // The device is found and connected again. An absent device times out and leaves nothing behind.
    let error = await failure { _ = try await central.connect(absent, timeout: .seconds(1)) }
    #expect(error as? GAPError == .noConnection(absent, within: .seconds(1)))
    let again = try await central.connect(lock, timeout: .seconds(5))
    #expect(again.peer == lock)
    await central.close()
    #expect(controller.violations.isEmpty, "\(controller.violations)")
  }
}
