import TestSupport

@testable import BluetoothLEFirmware

/// Updates over links that end, and of devices that already have bytes.
@Suite(.timeLimit(.minutes(15))) struct SecureDFUResumptionTests {
  private typealias Sample = SecureDFUTests

  /// Whether the device has an old bootloader, and whether it loses its power; the number of packets for a receipt; the bytes sent twice.
  private static let links: [(Bool, Bool, Int?, Int)] = [
    (false, false, nil, 0), (true, false, nil, 0), (false, true, nil, 256), (true, true, 0, 256), (false, false, 4, 0), (true, false, 4, 0),
  ]

  /// The link ends after each packet. At most one object is sent twice, and none if the device keeps its bytes.
  @Test(arguments: links) func eachPacketMayBeTheLastOfALink(_ isSDK12: Bool, _ losesPower: Bool, _ prn: Int?, _ twice: Int) async throws {
    try await onLoop {
      for packet in 0..<Sample.initPacketCount + 51 {
        let (device, start) = (DFUDevice(), EventLoop.shared.now)
        (device.isSDK12, device.losesPower, device.lastPacket) = (isSDK12, losesPower, packet)
        try await device.update(nil, UpdateOptions(prn: prn))
        #expect(device.installed == [Sample.image], "packet \(packet)")
        #expect(device.imageBytes <= 1000 + twice, "packet \(packet)")
        #expect((device.imageBytes...1000 + 256).contains(device.outcome.bytes), "packet \(packet)")
        #expect(device.outcome.resumptions == 1)
        #expect(device.events.count { $0 == .began(.upload(0, of: 1)) } == 1)
        #expect(start.duration(to: EventLoop.shared.now) < .seconds(4), "packet \(packet)")
      }
    }
  }

  /// The link ends at each request, before or after its effect. Without the answer to the last one, nobody knows what runs.
  @Test(arguments: [false, true], [false, true]) func eachRequestMayBeTheLastOfALink(_ isSDK12: Bool, _ isDone: Bool) async throws {
    try await onLoop {
      for request in 0..<16 {
        let device = DFUDevice()
        (device.isSDK12, device.lastRequest, device.doesLast) = (isSDK12, request, isDone)
        if request == 15, isDone {
          await #expect(throws: DFUError.lastExecuteUnanswered) { try await device.update() }
        } else {
          try await device.update()
          #expect((device.outcome.resumptions, device.searches.count) == (1, request < 15 ? 2 : 3))
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

  /// A device that drops each link at the last request is found again each time, which uses no attempt to reconnect.
  @Test func aDeviceThatNeverAnswersTheLastRequest() async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.button, device.distance, device.returns) = (0x8EC9_0004, 0, 100)
      device.answers = {
        guard $0 == [4], device.data.count == 1000, device.requests.last(where: { $0[0] == 6 }) == [6, 2] else { return nil }
        device.lose()
        return []
      }
      await #expect(throws: LinkLost("cut")) { try await device.update() }
      #expect(device.requests.count { $0 == [4] } == 5 + 3 * 2 && device.imageBytes == 1000)
      #expect(device.searches == [.same, .same, .same, .same] && device.attempts == 3)
    }
  }

  private static func prefix(_ count: Int) -> [UInt8] { Array(Sample.image[..<count]) }

  /// What a device has of an image, how much of it is permanent, and the size of its last object; the byte at which the update continues, if it
  /// does; the bytes that follow.
  private static let left: [([UInt8], executed: Int, object: Int, at: Int?, sent: Int)] = [
    ([], 0, 0, nil, 1000), (prefix(20), 0, 256, 20, 980), (prefix(256), 0, 256, 256, 744), (prefix(256), 256, 0, 256, 744),
    (prefix(276), 256, 256, 276, 724), (prefix(1000), 768, 232, 1000, 0), (prefix(512) + [1, 2], 512, 256, 512, 488),
    // An executed object has other bytes, so that the CRC is wrong three times. The third try ends at its first receipt.
    (prefix(512).flipping(500), 512, 0, 256, 256 + 256 + 20 + 1000),
  ]

  @Test(arguments: left) func theDeviceHasBytes(_ row: ([UInt8], executed: Int, object: Int, at: Int?, sent: Int)) async throws {
    try await onLoop(with: DFUDevice()) { device in
      try device.resume(Sample.initPacket, row.0, executed: row.executed, object: row.object)
      try await device.update()
      #expect(device.events[1] == (row.at.map { .resumed(at: $0) } ?? .progress(sent: 0, confirmed: 0, total: 1000)))
      #expect(device.installed == [Sample.image])
      #expect((device.imageBytes, device.outcome.bytes) == (row.sent, row.sent))
    }
  }

  /// Some bootloaders cannot continue: lulf/nrf-dfu executes what was created last, whatever was selected, and refuses an unfinished image.
  @Test(arguments: [2, 3, 5, 8, 10] as [UInt8]) func theDeviceCannotContinue(_ result: UInt8) async throws {
    try await onLoop(with: DFUDevice()) { device in
      try device.resume(Sample.initPacket, Self.prefix(300), executed: 256, object: 256)
      device.answers = { $0 == [4] && !device.requests.contains { $0[0] == 1 } ? [[0x60, 4, result]] : nil }
      try await device.update()
      #expect(device.installed == [Sample.image] && device.imageBytes == 1000)
    }
  }

  /// Bytes of another update do not count, and none count without resumption, also after a lost link.
  @Test(arguments: [true, false]) func theDeviceHasBytesInVain(_ resumes: Bool) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let other = Fixture.packet(Fixture.initCommand(Self.prefix(512)))
      try device.resume(resumes ? other : Sample.initPacket, Self.prefix(512), executed: 512, object: 0)
      device.lastPacket = resumes ? -1 : Sample.initPacketCount + 12
      try await device.update(nil, UpdateOptions(resumes: resumes))
      #expect(device.installed == [Sample.image])
      #expect(!device.events.contains { if case .resumed = $0 { true } else { false } })
      #expect(device.imageBytes == (resumes ? 1000 : 1256))
    }
  }
}
