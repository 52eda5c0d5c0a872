import BluetoothLEText
import TestSupport

@testable import BluetoothLEFirmware

/// Lost packets, refusals, silence and nonsense.
@Suite(.timeLimit(.minutes(15))) struct SecureDFUErrorTests {
  private typealias Sample = SecureDFUTests

  private static let results: [UInt8: DFUResult] = [
    2: .opcodeNotSupported, 3: .invalidParameter, 4: .insufficientResources, 5: .invalidObject, 7: .unsupportedType, 8: .notPermitted,
    10: .failed, 11: .extended,
  ]
  private static let reasons: [DFUExtendedError] = [
    .unknown(0), .unknown(1), .commandFormat, .unknownCommand, .initCommand, .firmwareVersion, .hardwareVersion, .softdeviceVersion,
    .signatureMissing, .hashType, .hash, .signatureType, .verification, .space, .alreadyPresent, .unknown(15), .unknown(16),
  ]
  private static let buttonless: [UInt8: ButtonlessResult] = [
    2: .opcodeNotSupported, 4: .failed, 5: .invalidName, 6: .busy, 7: .notBonded,
  ]
  private static let limits: [(DFUOperation, Int)] = [(.create, 60), (.setPRN, 10), (.crc, 10), (.execute, 60), (.select, 10)]
  private static let zeros = [UInt8](repeating: 0, count: 12)

  /// Requests, answers to them, and the errors that follow. The requests without an operation start the bootloader.
  private static var failures: [(DFUOperation?, [[UInt8]], DFUError)] {
    var crc = CRC32()
    crc.add(Sample.initPacket[...])
    var all: [(DFUOperation?, [[UInt8]], DFUError)] = [
      (nil, [], .noAnswer(nil, after: .seconds(10))), (.crc, [[0x60, 3, 1] + zeros[..<7]], .invalidAnswer(.crc)),
      (.select, [[0x60, 6, 1]], .invalidAnswer(.select)), (.select, [[0x60, 6, 1, 0, 2] + zeros[..<9]], .invalidAnswer(.select)),
      (.select, [[0x60, 6, 1] + zeros], .invalidAnswer(.select)),
      (.crc, [[0x60, 3, 1, 0xFF, 0xFF, 0xFF, 0xFF] + Fixture.little(Int(crc.value), 4)], .crcMismatch(.command, at: 0, tries: 3)),
    ]
    // Answers to other requests, and what is no answer, do not count.
    for (operation, limit) in limits {
      let code = operation.rawValue
      all.append((operation, [[0x60, 5, 1], [0x61, code, 1], [0x60, code], []], .noAnswer(operation, after: .seconds(limit))))
      for result in 0...12 as ClosedRange<UInt8> where result != 1 {
        all.append((operation, [[0x60, code, result]], .refused(operation, results[result] ?? .unknown(result), nil)))
      }
    }
    for (code, reason) in reasons.enumerated() {
      all.append((.execute, [[0x60, 4, 11, UInt8(code)]], .refused(.execute, .extended, reason)))
    }
    for code in 0...8 as ClosedRange<UInt8> where code != 1 {
      let answers: [[UInt8]] = [[0x20, 1], [0x20, 2, 1], [0x21, 1, 1], [0x20, 1, code]]
      all.append((nil, answers, .buttonlessRefused(buttonless[code] ?? .unknown(code))))
    }
    return all
  }

  @Test(arguments: failures) func anAnswerEndsTheUpdate(_ operation: DFUOperation?, _ answers: [[UInt8]], _ error: DFUError) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      if operation != nil { device.restart(bootloader: true) }
      device.answers = { $0[0] == (operation?.rawValue ?? 1) ? answers : nil }
      await #expect(throws: error) { try await device.update() }
      #expect(!device.isSubscribed)
      guard case .noAnswer(_, let limit) = error else { return }
      #expect(start.duration(to: EventLoop.shared.now) == limit)
    }
  }

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
      #expect(device.requests.contains([2, 1, 0]) == (times > 1), "only the third try has a receipt for each packet")
      #expect(device.requests.filter { $0[0] == 2 }.prefix(3) == [[2, 0, 0], [2, 13, 0], [2, 0, 0]])
      // A lost packet costs a second, because the receipt of its object is missing. So does a lost receipt.
      #expect(start.duration(to: EventLoop.shared.now) <= .seconds(isLost ? times == 3 ? 4 : 3 : 2))
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

  /// An offset beyond the end means that the device has another image.
  @Test(arguments: [1001, Int(UInt32.max)]) func anOffsetBeyondTheEnd(_ offset: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0 == [6, 2] ? [[0x60, 6, 1, 0, 1, 0, 0] + Fixture.little(offset, 4) + Self.zeros[..<4]] : nil }
      try await device.update()
      #expect(device.installed == [Sample.image])
    }
  }

  /// A receipt that is lost is awaited for a second, and then asked for.
  @Test(
    arguments: [
      (nil, 3, -1), (nil, 2, 1), (-1, 0, -1), (0, 0, -1), (1, 51, -1), (5, 8, -1), (5, 8, 1), (13, 3, -1), (52, 0, -1), (70_000, 0, -1),
    ],
    [false, true])
  func receiptsAreAskedFor(_ row: (prn: Int?, receipts: Int, lost: Int), _ isSDK12: Bool) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      (device.isSDK12, device.lostReceipt) = (isSDK12, row.lost)
      try await device.update(nil, UpdateOptions(prn: row.prn))
      #expect(device.installed == [Sample.image])
      #expect((device.imageBytes, device.receipts) == (1000, row.receipts))
      // Without a number of packets, the objects of the maximum size have receipts until one is lost.
      var values = [13] + (row.lost < 0 ? [] : [0])
      if let prn = row.prn { values = prn > 0 ? [Int](repeating: min(prn, 0xFFFF), count: 4) : [] }
      #expect(device.requests.filter { $0[0] == 2 } == ([0] + values).map { [2] + Fixture.little($0, 2) })
      #expect(device.requests.count { $0[0] == 3 } == (row.prn == nil ? 2 : 5) + (row.lost < 0 ? 0 : row.prn == nil ? 2 : 1))
      // The restarts take two seconds.
      #expect(start.duration(to: EventLoop.shared.now) == .seconds(row.lost < 0 ? 2 : 3))
    }
  }

  @Test(arguments: [(-1, 0.5), (0, 3), (3, 3), (40, 3)]) func cancellation(_ packet: Int, _ seconds: Double) async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.button, device.distance) = (0x8EC9_0004, 0)
      device.answers = { device.packets.count > packet && $0[0] == 3 ? [] : nil }
      let task = EventLoop.shared.spawn { () -> Bool in
        do { try await device.update() } catch { return error is CancellationError }
        return false
      }
      try await EventLoop.shared.sleep(for: .seconds(seconds))
      let count = device.requests.count
      task.cancel()
      #expect(await task.value)
      #expect(!device.isSubscribed)
      #expect(device.requests.count == count)
      #expect(device.attempts == 3)
    }
  }

  @Test func anErrorOfTheEventsEndsTheUpdate() async throws {
    try await onLoop(with: DFUDevice()) { device in
      await #expect(throws: LinkLost("output")) {
        _ = try await SecureDFUUpdate(Sample.package()).run(device) { if case .progress(60..., _, _) = $0 { throw LinkLost("output") } }
      }
      #expect(device.attempts == 3)
    }
  }
}
