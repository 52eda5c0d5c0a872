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
        try await device.update(Sample.package())
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
        (device.isSDK12, device.lastRequest) = (isSDK12, (request, isDone))
        if request == 17, isDone {
          await #expect(throws: DFUError.lastExecuteUnanswered) { try await device.update(Sample.package()) }
        } else {
          try await device.update(Sample.package())
          #expect(device.outcome.resumptions == 1)
        }
        #expect(device.installed == [Sample.image], "request \(request)")
        #expect(device.imageBytes == 1000, "request \(request)")
      }
    }
  }

  @Test func eachAttemptMayFail() async throws {
    try await onLoop {
      let device = DFUDevice()
      device.radio = { number, packet in
        device.lose()
        return number > 20 ? packet : nil
      }
      await #expect(throws: LinkLost("cut")) { try await device.update(Sample.package()) }
      #expect(device.attempts == 0)
    }
  }

  /// - Parameters: The bytes of the image that the device has, those that it executed, the first progress, and the bytes sent.
  @Test(
    arguments: [
      (0, 0, 0, 1000), (20, 0, 20, 980), (256, 0, 256, 744), (256, 256, 256, 744), (276, 256, 276, 724), (1000, 768, 1000, 0),
    ] as [(Int, Int, Int, Int)]) func theDeviceHasBytes(_ row: (count: Int, executed: Int, first: Int, sent: Int)) async throws
  {
    try await onLoop {
      let device = DFUDevice()
      try device.resume(
        Sample.initPacket, Array(Sample.image[..<row.count]), executed: row.executed,
        object: row.count > row.executed ? min(256, 1000 - row.executed) : 0)
      try await device.update(Sample.package())
      #expect(device.events[1] == (row.first > 0 ? .resumed(at: row.first) : .progress(sent: 0, confirmed: 0, total: 1000)))
      #expect(device.installed == [Sample.image])
      #expect(device.imageBytes == row.sent)
      #expect(device.outcome.bytes == row.sent)
    }
  }

  /// Without resumption, and for the bytes of other updates, the update starts from its beginning.
  @Test(arguments: [0, 1, 2, 3]) func theDeviceHasBytesOfAnotherUpdate(_ row: Int) async throws {
    try await onLoop {
      let (device, good) = (DFUDevice(), Array(Sample.image[..<512]))
      switch row {
      case 0: try device.resume(Fixture.packet(Fixture.initCommand(good)), good, executed: 512)
      case 1: try device.resume(Sample.initPacket, good, executed: 512)
      case 2: try device.resume(Sample.initPacket, good + [1, 2], executed: 512, object: 256)
      default: try device.resume(Sample.initPacket, good.flipping(500), executed: 512)
      }
      try await device.update(Sample.package(), DFUOptions(resumes: row != 1))
      #expect(device.installed == [Sample.image])
      #expect(device.events.contains { if case .resumed = $0 { true } else { false } } == (row > 1))
      // An executed object has the wrong CRC three times. The third try ends at its first receipt.
      #expect(device.imageBytes == [1000, 1000, 488, 1000 + 2 * 256 + 20][row])
      #expect(device.outcome.bytes == device.imageBytes)
    }
  }

  /// Receipts go on after a lost link, also if the device counts from an earlier `create`.
  @Test(arguments: [false, true]) func receiptsAfterALostLink(_ isSDK12: Bool) async throws {
    try await onLoop {
      for packet in Sample.initPacketCount..<Sample.initPacketCount + 51 {
        let (device, start) = (DFUDevice(), EventLoop.shared.now)
        (device.isSDK12, device.lastPacket) = (isSDK12, packet)
        try await device.update(Sample.package(), DFUOptions(prn: 4))
        #expect(device.installed == [Sample.image], "packet \(packet)")
        #expect(device.imageBytes <= 1000 + (isSDK12 ? 256 : 0), "packet \(packet)")
        #expect(start.duration(to: EventLoop.shared.now) < .seconds(4), "packet \(packet)")
      }
    }
  }
}
