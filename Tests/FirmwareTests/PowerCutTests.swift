import BluetoothLESimulator
import TestSupport

@testable import BluetoothLEFirmware

/// Updates of simulated devices that lose their power: what runs then is an old image or the new one, and the next update succeeds.
@Suite(.timeLimit(.minutes(15))) struct PowerCutTests {
  private static let (earlier, new) = (UpdateAir.image(1, 5), UpdateAir.image(2))

  /// What an earlier update has left: nothing, an image that the next restart tries, or one on trial.
  enum Rest { case nothing, pending, onTrial }

  /// The mode of the bootloader, and the pages that an update erases, swaps or copies. Those of a slot are four, and those of an image three.
  private static let states: [(Int, Rest, pages: Int)] = [
    (1, .nothing, 7), (1, .pending, 15), (1, .onTrial, 11), (9, .nothing, 7), (9, .pending, 15), (9, .onTrial, 11),
    (2, .nothing, 7), (2, .pending, 11),
  ]

  @LoopActor private static func device(_ mode: Int, _ rest: Rest) async throws -> UpdateAir {
    let air = try await UpdateAir(#""mcumgr": {"mode": \#(mode), "slot_size": 16384, "image_size": 9000}"#)
    let images = try #require(air.device.peripheral.management).images
    var options = UpdateOptions()
    options.confirms = mode == 2
    if rest == .pending {
      await #expect(throws: CancellationError.self) {
        try await air.update(earlier, options) { if $0 == .began(.restart) { throw CancellationError() } }
      }
    } else if rest == .onTrial {
      try await air.update(earlier, options)
    }
    #expect((images.pending != nil) == (rest == .pending) && images.isOnTrial == (rest == .onTrial))
    return air
  }

  /// Starts an update in which the power is cut. It goes on, or `stops` with the power, as a person who gives up.
  /// - Returns: Whether the update got that far, and its error.
  @LoopActor private static func update(_ air: UpdateAir, _ file: [UInt8], stops: Bool) async throws -> (wasCut: Bool, error: (any Error)?)
  {
    func wasCut() -> Bool { air.ledger.powerCutAfterPages == nil && air.ledger.powerCutAfterBytes == nil }
    var (isDone, problem): (Bool, (any Error)?) = (false, nil)
    let first = EventLoop.shared.spawn {
      do { try await air.update(file) } catch { problem = error }
      isDone = true
    }
    while !isDone, !(stops && wasCut()) { try await EventLoop.shared.sleep(for: .milliseconds(20)) }
    first.cancel()
    await first.value
    defer { (air.ledger.powerCutAfterPages, air.ledger.powerCutAfterBytes) = (nil, nil) }
    return (wasCut(), problem)
  }

  /// Updates, checks what ran, and restarts once more.
  @LoopActor private static func finish(_ air: UpdateAir, _ place: String) async throws {
    let outcome = try await air.update(new)
    #expect(outcome.versionAfter == "2.0.0" && outcome.isConfirmed == true, "\(place)")
    air.device.peripheral.powerCut()
    try await air.untilRunning()
    #expect(try air.device.peripheral.management?.images.running?.hash == ImageFile(new).hash, "\(place)")
    #expect(air.device.versions.isSubset(of: ["1.0.0", "1.5.0", "2.0.0"]), "\(place): \(air.device.versions)")
    await air.session.close()
  }

  /// Power goes with each page, and within and between the pages of the upload. The update itself goes on, unless the trial has begun.
  @Test(arguments: states) func powerGoesAtEachPage(_ mode: Int, _ rest: Rest, _ pages: Int) async throws {
    let cuts: [(page: Int?, byte: Int?)] = (1...pages + 1).map { ($0, nil) } + [31, 4096, 8191, 10_072].map { (nil, $0) }
    try await onLoop {
      for (page, byte) in cuts {
        for stops in mode == 9 ? [(page ?? 0) % 2 == 0] : [false, true] {
          let air = try await Self.device(mode, rest)
          air.ledger.powerCutAfterPages = page.map { air.ledger.pages + $0 }
          air.ledger.powerCutAfterBytes = byte.map { air.ledger.received + $0 }
          let first = try await Self.update(air, Self.new, stops: stops)
          #expect(first.wasCut == (page ?? 1 <= pages))
          let isExpected = stops || first.error == nil || first.error is UnprovenUpdate && page == pages
          #expect(isExpected, "\(page ?? 0), \(byte ?? 0)")
          try await Self.finish(air, "page \(page ?? 0), byte \(byte ?? 0), \(stops)")
        }
      }
    }
  }

  /// Power goes between the steps of an update. One that was on trial then has to begin again.
  @Test(arguments: states) func powerGoesBetweenTheSteps(_ mode: Int, _ rest: Rest, _: Int) async throws {
    try await onLoop {
      for number in 0..<20 {
        let air = try await Self.device(mode, rest)
        var seen = 0
        do {
          let outcome = try await air.update(Self.new) { event in
            if case .progress = event { return }
            if seen == number { air.device.peripheral.powerCut() }
            seen += 1
          }
          #expect(outcome.versionAfter == "2.0.0" && outcome.isConfirmed == true, "event \(number)")
        } catch is UnprovenUpdate {}
        try await Self.finish(air, "event \(number)")
        guard seen > number else { return #expect(number > 3) }
      }
    }
  }

  /// Power goes in each part of a package, and at each page that is erased or copied. The next update sends only what is missing.
  @Test(arguments: ["no_bonds", "bonds"]) func powerGoesInEachPart(_ way: String) async throws {
    let cuts: [(page: Int?, byte: Int?)] = (1...4).map { ($0, nil) } + [150, 301, 1100].map { (nil, $0) }
    try await onLoop {
      for (page, byte) in cuts {
        for stops in [false, true] {
          let air = try await UpdateAir(#""dfu": {"buttonless": "\#(way)"}"#, #", "security": {}"#)
          let (device, place) = (try #require(air.device.peripheral.bootloader), "page \(page ?? 0), byte \(byte ?? 0), \(stops)")
          air.pairs = true
          (air.ledger.powerCutAfterPages, air.ledger.powerCutAfterBytes) = (page, byte)
          let first = try await Self.update(air, SecureDFUTests.combinedFile, stops: stops)
          #expect(first.wasCut && (stops || first.error == nil), "\(place): \(first.error.map { "\($0)" } ?? "")")
          try await air.update(SecureDFUTests.combinedFile)
          try await air.untilRunning()
          #expect(device.application == SecureDFUTests.image && device.applicationVersion == 10203 && !device.isActive, "\(place)")
          #expect((device.softdevice, device.bootloaderVersion) == (0x123, 10203), "\(place)")
          #expect(air.device.versions.isSubset(of: ["bootloader", "1", "10203"]), "\(place): \(air.device.versions)")
          await air.session.close()
        }
      }
    }
  }

  private static let binary = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
  private static let ways = [
    (#""buttonless": "no_bonds""#, 2), (#""buttonless": "bonds""#, 2), (#""flash_size": 65536"#, 2), (#""buttonless": "no_bonds""#, 1),
  ]

  /// Power goes in the middle of each object, and at each of three pages that are erased, and then copied from the second bank.
  /// A device with one bank may have no application meanwhile, but always a bootloader.
  @Test(arguments: ways) func powerGoesAtEachPageOfABootloader(_ way: String, _ banks: Int) async throws {
    try await onLoop {
      for cut in 1...3 * banks + 4 {
        for stops in [false, true] {
          let air = try await UpdateAir(#""dfu": {\#(way), "banks": \#(banks)}"#, #", "security": {}"#)
          let (device, file) = (try #require(air.device.peripheral.bootloader), Fixture.package(binary: Self.binary))
          air.pairs = true
          if cut <= 3 { air.ledger.powerCutAfterBytes = cut * 3000 } else { air.ledger.powerCutAfterPages = cut - 3 }
          let first = try await Self.update(air, file, stops: stops)
          #expect(first.wasCut == (cut <= 3 * banks + 3))
          if !stops, way.contains("buttonless") { #expect(first.error == nil, "cut \(cut)") }
          try await air.untilRunning()
          let (hasButton, isNew) = (!way.contains("buttonless"), device.applicationVersion == 10203)
          // A person presses the button. Without one, the new application takes the update, too.
          if hasButton, !isNew, !device.isActive { device.enterBootloader() }
          if !hasButton || !isNew { try await air.update(file) }
          try await air.untilRunning()
          #expect(device.application == Self.binary && device.applicationVersion == 10203 && !device.isActive, "cut \(cut), \(stops)")
          #expect(air.device.versions.isSubset(of: ["bootloader", "1", "10203"]), "cut \(cut), \(stops)")
          await air.session.close()
        }
      }
    }
  }

  /// A device that fails at the same byte each time makes no progress, although it confirms the bytes before again and again.
  @Test func aDeviceThatFailsAtTheSameByte() async throws {
    try await onLoop {
      let air = try await Self.device(1, .nothing)
      await #expect(throws: (any Error).self) {
        try await air.update(Self.new) { event in
          if case .progress(_, let confirmed, _) = event, confirmed > 3000 { air.device.peripheral.powerCut() }
        }
      }
      // Two events may come before the power goes.
      #expect((9...27).contains(air.ledger.restarts), "\(air.ledger.restarts)")
      await air.session.close()
    }
  }
}
