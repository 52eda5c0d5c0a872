import BluetoothLECompression
import TestSupport

@testable import BluetoothLEFirmware

/// Updates over links that hold.
@Suite(.timeLimit(.minutes(15))) struct SecureDFUTests {
  /// Four objects of at most 256 bytes.
  static let image = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }

  static func package() throws -> DFUPackage { try DFUPackage(ZipArchive(Fixture.package(binary: image))) }

  /// A SoftDevice with a bootloader, and an application, which is first in the manifest.
  static let combinedFile = makeCombined([0x100, 0x123], [0x100, 0x123])

  /// - Parameters:
  ///   - first: The SoftDevices that the first part replaces.
  ///   - second: The SoftDevices with which the application runs.
  private static func makeCombined(_ first: [UInt64], _ second: [UInt64]) -> [UInt8] {
    let manifest = Fixture.manifest([("application", "app.bin", "app.dat"), ("softdevice_bootloader", "sd_bl.bin", "sd_bl.dat")])
    let binary = Array(image[..<300])
    let packet = Fixture.packet(Fixture.initCommand(binary, type: 3, sizes: [(5, 200), (6, 100)], softdevices: first))
    let more = [Fixture.Entry(name: "sd_bl.bin", contents: binary), Fixture.Entry(name: "sd_bl.dat", contents: packet)]
    let application = Fixture.packet(Fixture.initCommand(image, softdevices: second))
    return Fixture.package(binary: image, packet: application, manifest: manifest, more: more)
  }

  private static func combined() throws -> DFUPackage { try DFUPackage(ZipArchive(combinedFile)) }

  static let initPacket = Fixture.packet(Fixture.initCommand(image))
  static let initPacketCount = (initPacket.count + 19) / 20

  @Test func aWholeUpdate() async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.mtu = 259
      try await device.update()
      #expect(device.installed == [Self.image])
      #expect(device.searches == [.nextAddress, .previousAddress])
      #expect(device.requests.map { $0[0] } == [2, 6, 1, 3, 4, 6, 2] + [1, 4, 1, 4, 1, 4] + [1, 3, 4], "the short object has no receipt")
      #expect(device.requests.filter { $0.starts(with: [1, 2]) } == [256, 256, 256, 232].map { [1, 2] + Fixture.little($0, 4) })
      #expect(device.packets.joined().elementsEqual(Self.initPacket + Self.image))
      #expect((device.outcome.bytes, device.outcome.resumptions) == (1000, 0))
      let progress = [(0, 0), (256, 0), (256, 256), (512, 256), (512, 512), (768, 512), (768, 768), (1000, 768), (1000, 1000)]
      #expect(
        device.events == [.began(.enterBootloader), .began(.upload(0, of: 1))]
          + progress.map { .progress(sent: $0.0, confirmed: $0.1, total: 1000) } + [.began(.restart)])
    }
  }

  @Test func softDeviceAndBootloaderAreBeforeTheApplication() async throws {
    try await onLoop(with: DFUDevice()) { device in
      let package = try Self.combined()
      let plan = try await SecureDFUUpdate(package).plan(device)
      #expect(plan.steps == [.enterBootloader, .upload(0, of: 2), .restart, .upload(1, of: 2), .restart])
      #expect((plan.bytes, plan.version, plan.hash) == (1300, "10203", SHA2.sha256.hash(Self.image)))
      #expect(device.requests.isEmpty, "a plan changes something")
      try await device.update(package)
      #expect(device.installed == [Array(Self.image[..<300]), Self.image])
      #expect(device.searches == [.nextAddress, .same, .previousAddress])
      // Each restart takes a second.
      #expect(device.outcome.bytes == 1300 && device.outcome.uploadTime < .seconds(1))
    }
  }

  /// The first update ends after its first part, whose init packet the bootloader refuses from then on, as one for the old SoftDevice, too.
  @Test(arguments: [5, 14, 7] as [UInt8]) func anUpdateThatEndedAfterItsFirstPartGoesOn(_ reason: UInt8) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.presence = reason
      let package = try DFUPackage(ZipArchive(Self.makeCombined([0x100], reason == 7 ? [0x123] : [0x100, 0x123])))
      await #expect(throws: CancellationError.self) {
        _ = try await SecureDFUUpdate(package).run(device) { if $0 == .began(.upload(1, of: 2)) { throw CancellationError() } }
      }
      try await device.update(package)
      #expect(device.installed == [Array(Self.image[..<300]), Self.image])
      #expect(device.searches == [.nextAddress, .same, .previousAddress])
      #expect(device.outcome.bytes == 1000)
      #expect(device.events.prefix(3) == [.began(.upload(0, of: 2)), .note(.partInstalled(0, of: 2)), .began(.upload(1, of: 2))])
    }
  }

  /// The answer to the last request of the first part is lost.
  @Test func aPartThatWasInstalledUnansweredIsNotSentAgain() async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.lastRequest, device.doesLast) = (11, true)
      try await device.update(Self.combined())
      #expect(device.installed == [Array(Self.image[..<300]), Self.image])
      #expect((device.outcome.bytes, device.outcome.resumptions) == (1300, 1))
      #expect(device.searches == [.nextAddress, .previousAddress])
    }
  }

  private static let refusals: [(reason: UInt8, application: [UInt64], parts: Int)] = [
    (5, [0x100], 2), (14, [0x100], 2), (6, [0x123], 1), (7, [0x123], 2), (7, [0x100], 1), (7, [0xFFFE], 1), (7, [], 1),
  ]

  /// Only the last part decides. Other reasons end the update, and so does a wrong SoftDevice if the application does not need the new one.
  @Test(arguments: refusals) func refusedParts(_ reason: UInt8, _ application: [UInt64], _ parts: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answers = { $0[0] == 4 ? [[0x60, 4, 11, reason]] : nil }
      let package = try DFUPackage(ZipArchive(Self.makeCombined([0x100], application)))
      await #expect(throws: DFUError.refused(.execute, .extended, DFUExtendedError(reason))) { try await device.update(package) }
      #expect(device.requests.count { $0[0] == 4 } == parts && device.imageBytes == 0)
    }
  }

  @Test(arguments: [(23, 20), (100, 96), (185, 180), (247, 244)]) func packetsAreWholeWords(_ mtu: Int, _ size: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.mtu, device.objectLimit) = (mtu, 4096)
      try await device.update()
      #expect(device.packets.map(\.count).max() == size)
      #expect(device.installed == [Self.image])
    }
  }

  /// The firmware of lulf/pinetime-embassy does so.
  @Test(arguments: [nil, 4]) func aDeviceAnswersEachPacketWithoutValues(_ prn: Int?) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.answersPackets = true
      try await device.update(nil, UpdateOptions(prn: prn))
      #expect(device.installed == [Self.image] && device.imageBytes == 1000)
    }
  }

  private static let bootloaders: [(UInt64?, Int, [RestartedIdentity])] = [
    (0x8EC9_0003, 1, [.nextAddress, .previousAddress]), (0x8EC9_0004, 0, [.same, .same]),
    (0x8E40_0001, 1, [.nextAddress, .previousAddress]),
    (0x8EC9_0003, 5, [.nextAddress, .named(""), .previousAddress]), (nil, 1, [.previousAddress]),
    (nil, 0, [.previousAddress, .same]),
  ]

  /// The last one runs already. That with an unusual address starts before the answer, and its application is not found.
  @Test(arguments: bootloaders) func bootloadersAreFound(_ button: UInt64?, _ distance: Int, _ searches: [RestartedIdentity]) async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.button, device.distance) = (button, distance)
      if button == nil { device.restart(bootloader: true) }
      let steps = try await SecureDFUUpdate(Self.package()).plan(device).steps
      #expect(steps == (button == nil ? [] : [.enterBootloader]) + [.upload(0, of: 1), .restart])
      try await device.update()
      #expect(device.installed == [Self.image])
      #expect(device.searches == searches.map { $0 == .named("") ? .named(device.name) : $0 })
      #expect(device.events.first == .began(steps[0]))
      #expect(device.events.last == (distance == 5 ? .note(.notBackWithin(.seconds(20))) : .began(.restart)))
    }
  }

  /// A bootloader with an unusual address has a name of its own, unless the application refuses the name or does not answer.
  @Test(arguments: [nil, [[0x20, 2, 2]], [[0x20, 2, 6]], [[0x20, 1, 1]], []] as [[[UInt8]]?])
  func theBootloaderHasANameOfItsOwn(_ answers: [[UInt8]]?) async throws {
    try await onLoop(with: DFUDevice()) { device in
      let start = EventLoop.shared.now
      device.distance = 5
      device.answers = { $0[0] == 2 && !device.isBootloader ? answers : nil }
      try await device.update()
      #expect(device.installed == [Self.image])
      #expect(device.searches == [.nextAddress, .named(device.name), .previousAddress])
      if answers == nil { #expect(device.name.wholeMatch(of: /Dfu[0-9A-F]{5}/) != nil) } else { #expect(device.name == "DfuTarg") }
      let waits = answers == [] || answers == [[0x20, 1, 1]]
      #expect(start.duration(to: EventLoop.shared.now) == .seconds(waits ? 6 : 3))
    }
  }

  /// Several devices have the usual name of a bootloader, and only one of them is meant.
  @Test(arguments: [0, 1]) func noOtherBootloaderIsTaken(_ others: Int) async throws {
    try await onLoop {
      let air = try await UpdateAir(#""dfu": {}"#, others: others)
      let device = air.linked()
      let client = try await device.restarted(as: .named("DfuTarg"), within: .seconds(20))
      #expect((client != nil) == (others == 0))
      await air.session.close()
    }
  }

  /// The return of the application is told, not demanded.
  @Test(arguments: [0, 1, 2]) func aDeviceThatStaysAway(_ returns: Int) async throws {
    try await onLoop(with: DFUDevice()) { device in
      (device.button, device.distance, device.returns) = (0x8EC9_0004, 0, returns)
      do { try await device.update(Self.combined()) } catch DFUError.bootloaderNotFound where returns < 2 {}
      #expect(device.installed.count == returns)
      #expect((device.events.last == .note(.notBackWithin(.seconds(20)))) == (returns == 2))
    }
  }

  @Test(arguments: [true, false]) func anApplicationMayReportItsVersion(_ hasVersion: Bool) async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.hasVersion = hasVersion
      let update = SecureDFUUpdate(try Self.package())
      let plan = try await update.plan(device)
      let outcome = try await update.run(device) { _ in }
      #expect(plan.runningVersion == (hasVersion ? "v0" : nil) && outcome.versionBefore == plan.runningVersion)
      #expect(outcome.versionAfter == (hasVersion ? "v1" : nil))
    }
  }

  /// The firmware is installed, so that a connection that fails now is a note.
  @Test func aDeviceThatComesBackWithoutItsBond() async throws {
    try await onLoop(with: DFUDevice()) { device in
      let problem = PairingFailure.bondRejected(.pinOrKeyMissing)
      device.problem = problem
      try await device.update()
      #expect(device.installed == [Self.image] && device.outcome.bytes == 1000)
      #expect(device.events.last == .note(.notConnected(ReturnFailure(problem))))
      device.problem = CancellationError()
      device.restart(bootloader: true)
      await #expect(throws: CancellationError.self) { try await device.update() }
    }
  }

  @Test func otherDevicesAndFilesAreRefused() async throws {
    try await onLoop(with: DFUDevice()) { device in
      device.button = nil
      await #expect(throws: DFUError.noTarget) { _ = try await SecureDFUUpdate(Self.package()).plan(device) }
      await #expect(throws: DFUError.noTarget) { try await device.update() }
      let other = try DFUPackage(ZipArchive(Fixture.package(packet: Self.initPacket)))
      await #expect(throws: FirmwareFileError.self) { _ = try await SecureDFUUpdate(other).plan(device) }
    }
  }
}
