import TestSupport

@testable import BluetoothLEFirmware

/// Updates over links that end, and of devices that already have bytes.
@Suite(.timeLimit(.minutes(15))) struct SecureDFUResumptionTests {
  private typealias Sample = SecureDFUTests

  /// The link ends after each packet. At most one object is sent twice, and none if the device keeps its bytes.
  @Test(arguments: [false, true], [false, true]) func eachPacketMayBeTheLastOfALink(_ isSDK12: Bool, _ losesPower: Bool) async throws {
    try await onLoop {
      for packet in 0..<Sample.initPacketCount + 51 {
        let device = DFUDevice()
        (device.isSDK12, device.losesPower, device.lastPacket) = (isSDK12, losesPower, packet)
        try await device.update()
        #expect(device.installed == [Sample.image], "packet \(packet)")
        #expect(device.imageBytes <= 1000 + (losesPower ? 256 : 0), "packet \(packet)")
        #expect((device.imageBytes...1000 + 256).contains(device.outcome.bytes), "packet \(packet)")
        #expect(device.outcome.resumptions == 1)
      }
    }
  }

  /// The link ends at each request, before or after its effect. Without the answer to the last one, nobody knows what runs.
  @Test(arguments: [false, true], [false, true]) func eachRequestMayBeTheLastOfALink(_ isSDK12: Bool, _ isDone: Bool) async throws {
    try await onLoop {
      for request in 0..<18 {
        let device = DFUDevice()
        (device.isSDK12, device.lastRequest, device.doesLast) = (isSDK12, request, isDone)
        if request == 17, isDone {
          await #expect(throws: DFUError.lastExecuteUnanswered) { try await device.update() }
        } else {
          try await device.update()
          #expect(device.outcome.resumptions == 1)
        }
        #expect(device.installed == [Sample.image], "request \(request)")
        #expect(device.imageBytes == 1000, "request \(request)")
      }
    }
  }

  @Test func eachAttemptMayFail() async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.radio = { _ in
        device.lose()
        return nil
      }
      await #expect(throws: LinkLost("cut")) { try await device.update() }
      #expect(device.attempts == 0)
    }
  }

  /// What a device has, and what follows.
  struct Left: Sendable {
    let image: [UInt8]
    let executed: Int
    var object = 0
    var packet = SecureDFUTests.initPacket
    var options = DFUOptions()
    /// The byte at which the update continues. Nil if it does not.
    let at: Int?
    let sent: Int
  }

  private static func prefix(_ count: Int) -> [UInt8] { Array(Sample.image[..<count]) }

  private static let left = [
    Left(image: [], executed: 0, at: nil, sent: 1000), Left(image: prefix(20), executed: 0, object: 256, at: 20, sent: 980),
    Left(image: prefix(256), executed: 0, object: 256, at: 256, sent: 744), Left(image: prefix(256), executed: 256, at: 256, sent: 744),
    Left(image: prefix(276), executed: 256, object: 256, at: 276, sent: 724),
    Left(image: prefix(1000), executed: 768, object: 232, at: 1000, sent: 0),
    // Bytes of another update; the same, but not to be used; an object with other bytes.
    Left(image: prefix(512), executed: 512, packet: Fixture.packet(Fixture.initCommand(prefix(512))), at: nil, sent: 1000),
    Left(image: prefix(512), executed: 512, options: DFUOptions(resumes: false), at: nil, sent: 1000),
    Left(image: prefix(512) + [1, 2], executed: 512, object: 256, at: 512, sent: 488),
    // An executed object has other bytes, so that the CRC is wrong three times. The third try ends at its first receipt.
    Left(image: prefix(512).flipping(500), executed: 512, at: 256, sent: 256 + 256 + 20 + 1000),
  ]

  @Test(arguments: left) func theDeviceHasBytes(_ row: Left) async throws {
    try await onLoop(with: DFUDevice()) { device in
      try device.resume(row.packet, row.image, executed: row.executed, object: row.object)
      try await device.update(nil, row.options)
      #expect(device.events[1] == (row.at.map { .resumed(at: $0) } ?? .progress(sent: 0, confirmed: 0, total: 1000)))
      #expect(device.installed == [Sample.image])
      #expect(device.imageBytes == row.sent)
      #expect(device.outcome.bytes == row.sent)
    }
  }

  /// Receipts go on after a lost link, also if the device counts from an earlier `create`.
  @Test(arguments: [false, true]) func receiptsAfterALostLink(_ isSDK12: Bool) async throws {
    try await onLoop {
      for packet in Sample.initPacketCount..<Sample.initPacketCount + 51 {
        let (device, start) = (DFUDevice(), EventLoop.shared.now)
        (device.isSDK12, device.lastPacket) = (isSDK12, packet)
        try await device.update(nil, DFUOptions(prn: 4))
        #expect(device.installed == [Sample.image], "packet \(packet)")
        #expect(device.imageBytes <= 1000 + (isSDK12 ? 256 : 0), "packet \(packet)")
        #expect(start.duration(to: EventLoop.shared.now) < .seconds(4), "packet \(packet)")
      }
    }
  }
}
