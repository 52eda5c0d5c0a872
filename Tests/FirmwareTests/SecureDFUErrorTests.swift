import TestSupport

@testable import BluetoothLEFirmware

/// Lost packets, refusals, silence and nonsense.
@Suite(.timeLimit(.minutes(15))) struct SecureDFUErrorTests {
  private typealias Sample = SecureDFUTests

  private static let results: [UInt8: DFUResult] = [
    2: .opcodeNotSupported, 3: .invalidParameter, 4: .insufficientResources, 5: .invalidObject, 7: .unsupportedType, 8: .notPermitted,
    10: .failed, 11: .extended,
  ]
  private static let extended: [DFUExtendedError] = [
    .unknown(0), .unknown(1), .commandFormat, .unknownCommand, .initCommand, .firmwareVersion, .hardwareVersion, .softdeviceVersion,
    .signatureMissing, .hashType, .hash, .signatureType, .verification, .space, .alreadyPresent, .unknown(15), .unknown(16),
  ]

  /// An object whose packets are lost or damaged is sent again. Here the second packet of the second object.
  @Test(arguments: [1, 2, 3], [false, true]) func packetsAreLost(_ times: Int, _ isLost: Bool) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      var damaged: Set<Int> = []
      device.radio = { packet in
        guard device.data.count == 276, damaged.count < times, damaged.insert(device.requests.count).inserted else { return packet }
        return isLost ? nil : packet.flipping(3)
      }
      if times < 3 {
        try await device.update()
        #expect(device.installed == [Sample.image])
        #expect(device.imageBytes == 1000 + times * 256)
        #expect(device.outcome.bytes == device.imageBytes)
      } else {
        await #expect(throws: DFUError.crcMismatch(.data, at: 256, tries: 3)) { try await device.update() }
        // With a receipt for each packet, the third try ends at once.
        #expect(device.imageBytes == 3 * 256 + 2 * 20)
      }
      #expect((device.receipts > 0) == (times > 1), "only the third try has receipts")
      #expect(start.duration(to: EventLoop.shared.now) <= .seconds(times == 3 && isLost ? 3 : 2))
    }
  }

  @Test func aDamagedInitPacket() async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.radio = { device.packets.count % Sample.initPacketCount == 1 ? $0.flipping(0) : $0 }
      await #expect(throws: DFUError.crcMismatch(.command, at: 0, tries: 3)) { try await device.update() }
      #expect(device.requests.map { $0[0] } == [2, 6, 1, 3, 1, 3, 1, 3])
    }
  }

  /// A part that starts from its beginning has no receipts for its init packet.
  @Test func anUpdateThatDidNotResumeWellBeginsAgain() async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.lastPacket = Sample.initPacketCount + 20
      device.radio = { device.data.count == 276 && device.requests.count < 30 ? $0.flipping(3) : $0 }
      try await device.update()
      #expect(device.installed == [Sample.image])
      #expect(device.requests.count { $0 == [6, 1] } == 3)
    }
  }

  // MARK: Refusals

  @Test(arguments: [1, 2, 3, 4, 6] as [UInt8], [2, 3, 4, 5, 7, 8, 10, 11, 6, 0, 255] as [UInt8])
  func eachRequestMayBeRefused(_ operation: UInt8, _ code: UInt8) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0[0] == operation && device.isBootloader ? [[0x60, operation, code]] : nil }
      let name = try #require(DFUOperation(rawValue: operation))
      await #expect(throws: DFUError.refused(name, Self.results[code] ?? .unknown(code), nil)) { try await device.update() }
    }
  }

  /// The last request brings the reason of the whole update: that of the signature, the version, the hash.
  @Test(arguments: 0..<17 as Range<UInt8>) func reasonsOfTheBootloader(_ code: UInt8) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0[0] == 4 && device.data.count == 1000 ? [[0x60, 4, 11, code]] : nil }
      await #expect(throws: DFUError.refused(.execute, .extended, Self.extended[Int(code)])) { try await device.update() }
      #expect(device.installed.isEmpty)
    }
  }

  @Test func anInitPacketMayBeTooLarge() async throws {
    try await onLoop(with: DFUDevice()) { device in
      let count = Sample.initPacket.count
      device.commandLimit = count - 1
      await #expect(throws: DFUError.initPacketTooLarge(count, limit: count - 1)) { try await device.update() }
      #expect(device.packets.isEmpty)
      device.commandLimit = count
      try await device.update()
    }
  }

  // MARK: Silence and nonsense

  @Test(arguments: [(1, 60), (2, 10), (3, 10), (4, 60), (6, 10)] as [(UInt8, Int)])
  func eachRequestHasALimit(_ operation: UInt8, _ seconds: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.restart(bootloader: true)
      // Answers to other requests, and what is no answer, do not count.
      device.answers = { $0[0] == operation ? [[0x60, 5, 1], [0x61, $0[0], 1], [0x60, $0[0]], []] : nil }
      let (start, name) = (EventLoop.shared.now, try #require(DFUOperation(rawValue: operation)))
      await #expect(throws: DFUError.noAnswer(name, after: .seconds(seconds))) { try await device.update() }
      #expect(start.duration(to: EventLoop.shared.now) == .seconds(seconds))
    }
  }

  private static let nonsense: [(DFUOperation, [UInt8])] = [
    (.crc, [0, 0, 0, 0, 0, 0, 0]), (.select, []), (.select, [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    (.select, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test(arguments: nonsense) func anAnswerMakesNoSense(_ operation: DFUOperation, _ values: [UInt8]) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0[0] == operation.rawValue && device.isBootloader ? [[0x60, $0[0], 1] + values] : nil }
      await #expect(throws: DFUError.invalidAnswer(operation)) { try await device.update() }
    }
  }

  /// An offset beyond the end, or bytes that nobody sent, mean that the device has another image.
  @Test(arguments: [1001, Int(UInt32.max)]) func anOffsetBeyondTheEnd(_ offset: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0 == [6, 2] ? [[0x60, 6, 1, 0, 1, 0, 0] + Fixture.little(offset, 4) + Fixture.little(0, 4)] : nil }
      try await device.update()
      #expect(device.installed == [Sample.image])
      device.answers = { $0[0] == 3 && !device.data.isEmpty ? [[0x60, 3, 1] + Fixture.little(offset, 4) + Fixture.little(0, 4)] : nil }
      await #expect(throws: DFUError.crcMismatch(.data, at: 0, tries: 3)) { try await device.update() }
    }
  }

  // MARK: Receipts

  @Test(arguments: [(-1, 0), (0, 0), (1, 51), (5, 8), (13, 3), (52, 0), (70_000, 0)], [false, true])
  func receiptsAreAskedFor(_ row: (prn: Int, receipts: Int), _ isSDK12: Bool) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      device.isSDK12 = isSDK12
      try await device.update(nil, DFUOptions(prn: row.prn))
      #expect(device.installed == [Sample.image])
      #expect(device.receipts == row.receipts)
      let value = Fixture.little(min(row.prn, 0xFFFF), 2)
      #expect(device.requests.filter { $0[0] == 2 } == [[2, 0, 0]] + (row.prn > 0 ? [[UInt8]](repeating: [2] + value, count: 4) : []))
      #expect(start.duration(to: EventLoop.shared.now) < .seconds(3), "a receipt was awaited in vain")
    }
  }

  @Test func aLostReceiptIsAskedFor() async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      device.lostReceipt = 1
      try await device.update(nil, DFUOptions(prn: 5))
      #expect(device.imageBytes == 1000)
      #expect(device.requests.count { $0[0] == 3 } == 6)
      #expect(start.duration(to: EventLoop.shared.now) >= .seconds(3))
    }
  }

  // MARK: The end from this side

  @Test(arguments: [0, 3, 40]) func cancellation(_ packet: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { device.packets.count > packet && $0[0] == 3 ? [] : nil }
      let task = EventLoop.shared.spawn { () -> Bool in
        do { try await device.update() } catch { return error is CancellationError }
        return false
      }
      try await EventLoop.shared.sleep(for: .seconds(3))
      let count = device.requests.count
      task.cancel()
      #expect(await task.value)
      #expect(device.requests.count == count)
      #expect(device.attempts == 3)
    }
  }

  @Test func anErrorOfTheEventsEndsTheUpdate() async throws {
    try await onLoop(with: DFUDevice()) { device in
      let update = SecureDFUUpdate(try Sample.package())
      await #expect(throws: LinkLost("output")) {
        _ = try await update.run(device) { if case .progress(60..., _, _) = $0 { throw LinkLost("output") } }
      }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      #expect(device.imageBytes == 60)
    }
  }
}
