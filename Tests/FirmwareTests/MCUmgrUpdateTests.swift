import BluetoothLE
import BluetoothLEText
import TestSupport
import Testing

@testable import BluetoothLEFirmware

@Suite(.timeLimit(.minutes(15))) struct MCUmgrUpdateTests {
  static let (old, new, third) = (Fixture.update(version: 1), Fixture.update(version: 2), Fixture.update(version: 3))
  static let upload = UpdateStep.upload(0, of: 1)

  struct Run: Sendable {
    var steps: [UpdateStep] = []
    var events: [UpdateEvent] = []
    var outcome: UpdateOutcome?
    var error: (any Error)?
    var plan: UpdatePlan?
  }

  private struct Passing: PassingError { var mayPass: Bool { true } }

  /// Plans and runs an update.
  @LoopActor
  static func run(_ server: ManagementServer, _ file: [UInt8] = new, _ options: UpdateOptions = UpdateOptions()) async throws -> Run {
    var run = Run()
    do {
      let (image, before) = (try ImageFile(file), server.requests.count)
      run.plan = try await MCUmgrUpdate(image, options: options).plan(server)
      #expect(server.requests[before...].allSatisfy { [.parameters, .bootloaderInfo, .images, .slotInfo, .echo].contains($0.operation) })
      run.outcome = try await MCUmgrUpdate(image, options: options).run(server) { event in
        run.events.append(event)
        if case .began(let step) = event { run.steps.append(step) }
      }
    } catch { run.error = error }
    return run
  }

  // MARK: The usual way

  @Test(arguments: [BootloaderMode.swapScratch, .swapMove, .directXIPRevert, .swapOffset, .unknown])
  func uploadsTestsRestartsComparesAndConfirms(_ mode: BootloaderMode) async throws {
    try await onLoop {
      let server = ManagementServer()
      server.mode = mode == .unknown ? nil : mode
      let run = try await Self.run(server)
      #expect(run.steps == [Self.upload, .test, .restart, .compare, .confirm] && run.plan?.steps == run.steps)
      #expect(run.plan?.canRevert == mode.canRevert && run.plan?.notes == [] && run.plan?.bytes == Self.new.count)
      #expect(run.plan?.runningVersion == "1.0.0+4" && run.plan?.version == "2.0.0+4")
      #expect(run.outcome?.isConfirmed == true && run.outcome?.versionAfter == "2.0.0+4" && run.outcome?.versionBefore == "1.0.0+4")
      #expect(run.outcome?.bytes == Self.new.count && run.outcome?.resumptions == 0)
      #expect(server.running.bytes == Self.new && server.isConfirmed)
      #expect(server.sent(.setState).map { $0["confirm"]?.bool } == [false, true])
      #expect(run.events.contains(.progress(sent: Self.new.count, confirmed: Self.new.count, total: Self.new.count)))
    }
  }

  @Test func withoutConfirmationTheImageStaysOnTrial() async throws {
    try await onLoop {
      let server = ManagementServer()
      var options = UpdateOptions()
      options.confirms = false
      let run = try await Self.run(server, Self.new, options)
      #expect(run.steps == [Self.upload, .test, .restart, .compare] && run.plan?.steps == run.steps)
      #expect(run.outcome?.isConfirmed == false && !server.isConfirmed)
    }
  }

  @Test func modesWithoutTrialsOnlyRestart() async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.mode, server.missing) = (.directXIP, [.setState])
      server.onReset = { (server.running, server.other) = (server.other, server.running) }
      let run = try await Self.run(server)
      #expect(run.steps == [Self.upload, .restart, .compare] && run.plan?.steps == run.steps && run.plan?.canRevert == false)
      #expect(run.outcome?.isConfirmed == nil && server.running.bytes == Self.new && run.error == nil)
      let overwrite = ManagementServer()
      overwrite.mode = .overwriteOnly
      overwrite.onReset = { (overwrite.running, overwrite.isPending) = (overwrite.other, false) }
      let other = try await Self.run(overwrite)
      #expect(other.steps == [Self.upload, .test, .restart, .compare] && other.plan?.steps == other.steps)
      #expect(other.outcome?.isConfirmed == true)
      // Such a device confirms nothing, which is no trial.
      let ram = ManagementServer()
      (ram.mode, ram.isConfirmed, ram.missing) = (.ramLoad, false, [.setState])
      ram.onReset = { (ram.running, ram.other) = (ram.other, ManagementServer.Slot()) }
      ram.onRequest = { operation, _ in
        // The other slot is not confirmed either.
        operation == .images ? CBOR.map(["images": .array([ram.running.entry])]).encoded : nil
      }
      let third = try await Self.run(ram)
      #expect(third.steps == [Self.upload, .test, .restart, .compare] && third.plan?.steps == third.steps)
      #expect(third.error == nil && third.outcome?.isConfirmed == nil && ram.sent(.setState).count == 1)
    }
  }

  @Test func eachClientEndsItsSubscription() async throws {
    try await onLoop {
      let server = ManagementServer()
      let client = try await server.client()
      let version = try await RunningFirmware.version(client)
      #expect(version == "1.0.0+4" && server.configurations == [1, 0])
      let run = try await Self.run(server)
      #expect(run.error == nil && server.configurations.last == 0)
      let list = try await ManagementClient.use(server.client()) { management in
        try await management.clearServer()
        return try await management.images()
      }
      #expect(list.images.count == 2 && server.configurations.suffix(4) == [1, 0, 1, 0])
    }
  }

  // MARK: Steps that are done

  @Test func anImageThatRunsIsNotSentAgain() async throws {
    try await onLoop {
      let server = ManagementServer(running: Self.new)
      let run = try await Self.run(server)
      #expect(run.steps == [] && run.plan?.steps == [] && run.plan?.notes == [.sameContent] && run.plan?.bytes == 0)
      #expect(run.outcome?.isConfirmed == true && server.sent(.upload).isEmpty)
      server.isConfirmed = false
      server.other.bytes = Self.old
      let trial = try await Self.run(server)
      #expect(trial.steps == [.confirm] && trial.plan?.steps == [.confirm] && server.isConfirmed)
    }
  }

  @Test func anImageThatIsStoredIsNotSentAgain() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.other.bytes = Self.new
      let run = try await Self.run(server)
      #expect(run.steps == [.test, .restart, .compare, .confirm] && run.plan?.steps == run.steps)
      for isPermanent in [false, true] {
        let pending = ManagementServer()
        (pending.other.bytes, pending.isPending, pending.isPermanent) = (Self.new, true, isPermanent)
        let run = try await Self.run(pending)
        #expect(run.steps == [.restart, .compare] + (isPermanent ? [] : [.confirm]) && run.plan?.steps == run.steps)
        #expect(pending.isConfirmed && pending.running.bytes == Self.new)
      }
    }
  }

  // MARK: Earlier updates

  @Test func anotherImageThatIsPendingOrOnTrialEndsFirst() async throws {
    try await onLoop {
      let rest: [UpdateStep] = [Self.upload, .test, .restart, .compare, .confirm]
      let pending = ManagementServer()
      (pending.other.bytes, pending.isPending) = (Self.third, true)
      let run = try await Self.run(pending)
      // The first restart begins the trial, and the second one ends it.
      #expect(run.steps == [.finishEarlier, .finishEarlier] + rest && run.plan?.steps == [.finishEarlier] + rest)
      #expect(pending.running.bytes == Self.new && pending.other.bytes == Self.old)
      let trial = ManagementServer(running: Self.third)
      (trial.other.bytes, trial.isConfirmed) = (Self.old, false)
      let second = try await Self.run(trial)
      #expect(second.steps == [.finishEarlier] + rest && trial.other.bytes == Self.old)
      // None of them is confirmed only to free its slot.
      #expect((pending.sent(.setState) + trial.sent(.setState)).map { $0["confirm"]?.bool } == [false, true, false, true])
      let back = ManagementServer(running: Self.third)
      (back.other.bytes, back.isConfirmed) = (Self.new, false)
      let third = try await Self.run(back)
      #expect(third.steps == [.finishEarlier] && third.plan?.steps == [.finishEarlier, .compare] && back.running.bytes == Self.new)
      #expect(third.outcome?.isConfirmed == true && third.error == nil)
    }
  }

  /// The version of an image that the device gives up does not count.
  @Test func aTrialOfAHigherVersionEndsFirst() async throws {
    try await onLoop {
      for mode in [BootloaderMode.directXIPRevert, .swapMove] {
        let server = ManagementServer(running: Self.third)
        (server.other.bytes, server.isConfirmed, server.mode, server.forbidsDowngrade) = (Self.old, false, mode, true)
        let run = try await Self.run(server)
        #expect(run.error == nil && run.plan?.steps.first == .finishEarlier && server.running.bytes == Self.new)
      }
    }
  }

  @Test func aDeviceThatStaysBlockedIsAnError() async throws {
    try await onLoop {
      let server = ManagementServer(running: Self.third)
      (server.other.bytes, server.isConfirmed) = (Self.old, false)
      server.onReset = {}
      let run = try await Self.run(server)
      #expect(run.error as? ManagementError == .stillBlocked && run.steps == [.finishEarlier, .finishEarlier, .finishEarlier])
      server.comesBack = false
      let gone = try await Self.run(server)
      #expect(gone.error as? ManagementError == .notBack(after: .seconds(120)))
      #expect(server.sent(.upload).isEmpty && server.sent(.setState).isEmpty)
    }
  }

  // MARK: Proof

  @Test func aDeviceThatDoesNotComeBackIsNotConfirmed() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.comesBack = false
      let run = try await Self.run(server)
      #expect(run.error as? UnprovenUpdate == .notBack(canRevert: true))
      #expect(run.events.last == .note(.notBackWithin(.seconds(120))) && server.sent(.setState).count == 1)
    }
  }

  @Test func theImageOfTheOptionIsConfirmed() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.number = 1
      var options = UpdateOptions()
      options.image = 1
      let run = try await Self.run(server, Self.new, options)
      #expect(run.error == nil && run.outcome?.isConfirmed == true && server.isConfirmed)
      #expect(server.sent(.setState).last?["hash"]?.bytes == server.running.image?.hash)
    }
  }

  @Test func aConfirmationWithoutEffectIsAnError() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, body in
        operation == .setState && body["confirm"]?.bool == true ? CBOR.map([:]).encoded : nil
      }
      let run = try await Self.run(server)
      #expect(run.error as? UnprovenUpdate == .notConfirmed && run.steps.last == .confirm && !server.isConfirmed)
    }
  }

  @Test func anImageThatCannotBeReadIsNotConfirmed() async throws {
    try await onLoop {
      let refusal = GATTError.errorResponse(.insufficientEncryption, to: .read(AttributeHandle(3)), on: nil)
      let errors: [(any Error, isUnproven: Bool)] = [
        (ManagementError.noService, true), (refusal, true), (Passing(), false), (CancellationError(), false),
      ]
      for (error, isUnproven) in errors {
        let server = ManagementServer()
        if error as? ManagementError == .noService {
          server.onReset = { server.hasService = false }
        } else {
          server.restartError = error
        }
        let run = try await Self.run(server)
        let expected: any Error = isUnproven ? UnprovenUpdate.unreadable(canRevert: true, error) : error
        #expect("\(run.error.map { "\($0)" } ?? "none")" == "\(expected)" && server.sent(.setState).count == 1, "\(run)")
      }
    }
  }

  @Test func anotherImageAfterTheRestartIsNotConfirmed() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onReset = { server.isPending = false }
      let run = try await Self.run(server)
      #expect(run.error as? UnprovenUpdate == .otherImage(version: "1.0.0+4", hash: server.running.image?.hash))
      #expect(server.sent(.setState).count == 1)
    }
  }

  @Test func aRestartThatWasLostIsRepeated() async throws {
    try await onLoop {
      let server = ManagementServer()
      var resets = 0
      server.onRequest = { operation, _ in
        guard operation == .reset else { return nil }
        resets += 1
        if resets == 1 { server.cut() }
        return resets == 1 ? [] : nil
      }
      let run = try await Self.run(server)
      #expect(run.steps == [Self.upload, .test, .restart, .restart, .compare, .confirm] && run.outcome?.isConfirmed == true)
    }
  }

  @Test func aDeviceThatRevertsBeforeItsConfirmationIsFound() async throws {
    try await onLoop {
      let server = ManagementServer()
      var lists = 0
      server.onRequest = { operation, _ in
        guard operation == .images, !server.isConfirmed else { return nil }
        lists += 1
        if lists == 2 {
          (server.running, server.other, server.isConfirmed) = (server.other, server.running, true)
          server.losePower()
        }
        return nil
      }
      let run = try await Self.run(server)
      #expect(run.error as? UnprovenUpdate == .otherImage(version: "1.0.0+4", hash: server.running.image?.hash))
      #expect(server.sent(.setState).count == 1)
    }
  }

  @Test func withoutAHashTheVersionProves() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, _ in
        guard operation == .images || operation == .setState, let version = server.running.image?.version.major else { return nil }
        if operation == .setState { server.isPending = true }
        let entry = CBOR.map([
          "slot": .integer(0), "version": .text("\(version).0.0.4"), "active": .bool(true), "confirmed": .bool(true),
        ])
        return CBOR.map(["images": .array([entry])]).encoded
      }
      let run = try await Self.run(server)
      #expect(run.error == nil && run.outcome?.versionAfter == "2.0.0+4" && run.steps.first == Self.upload)
      server.isConfirmed = true
      let again = try await Self.run(server)
      #expect(again.plan?.steps.first == Self.upload, "the version does not prove before the upload")
      #expect(again.error as? UnprovenUpdate == .sameVersion("2.0.0+4"))
    }
  }

  // MARK: Files

  @Test func paddingStaysHere() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.slotSize = Self.new.count
      let run = try await Self.run(server, Fixture.padded(Self.new, to: 30_000, imageOK: 1))
      #expect(server.running.bytes == Self.new && run.plan?.notes == [.paddingLeftOut(30_000 - Self.new.count)])
      #expect(run.plan?.bytes == Self.new.count)
    }
  }

  @Test func compressedAndEncryptedImagesAreSaid() async throws {
    try await onLoop {
      let hash = [UInt8](repeating: 7, count: 32)
      let file = Fixture.update(version: 2, flags: 0x400, protected: Fixture.area(0x6908, [Fixture.tlv(0x71, hash)]))
      let server = ManagementServer()
      let run = try await Self.run(server, file)
      #expect(run.plan?.notes == [.compressed] && run.outcome?.hashAfter == hash && run.error == nil)
      #expect(server.sent(.setState).first?["hash"]?.bytes == (try? ImageFile(file))?.hash)
      let again = try await Self.run(ManagementServer(running: file), file)
      #expect(again.plan?.steps == [])
      let encrypted = Fixture.update(version: 2, flags: 4).flipping(200)
      let other = try await Self.run(ManagementServer(), encrypted)
      #expect(other.plan?.notes == [.encrypted] && other.error == nil)
      let damaged = try await Self.run(ManagementServer(), Self.new.flipping(200))
      #expect(damaged.error is FirmwareFileError && damaged.plan == nil)
    }
  }

  @Test func whatCannotFitIsRefusedBeforeTheFirstByte() async throws {
    try await onLoop {
      let large = ManagementServer()
      large.slotSize = Self.new.count - 1
      let older = ManagementServer(running: Self.third)
      older.forbidsDowngrade = true
      let narrow = ManagementServer()
      (narrow.mtu, narrow.joinsParts) = (23, false)
      let (equal, lower) = (ManagementServer(running: Fixture.update(version: 2, size: 100)), ManagementServer(running: Self.third))
      (equal.mode, lower.mode) = (.directXIP, .ramLoad)
      // A restart would never start the stored image.
      let stored = [BootloaderMode.directXIP, .directXIPRevert, .ramLoad, .swapMove].map { mode in
        let server = ManagementServer(running: Self.third)
        (server.mode, server.forbidsDowngrade, server.other.bytes) = (mode, mode == .swapMove, Self.new)
        return server
      }
      let final = ManagementServer()
      final.mode = .overwriteOnly
      var second = UpdateOptions(), trial = second
      (second.image, trial.confirms) = (1, false)
      let version = try #require(ImageVersion("3.0.0.4")), file = try #require(ImageVersion("2.0.0.4"))
      let cases: [(ManagementServer, UpdateOptions, ManagementError)] = [
        (large, UpdateOptions(), .imageTooLarge(Self.new.count, limit: Self.new.count - 1)),
        (older, UpdateOptions(), .downgradeForbidden(running: version, file: file)), (narrow, UpdateOptions(), .mtuTooSmall(mtu: 23)),
        (equal, UpdateOptions(), .versionNotHigher(running: file, file: file)),
        (lower, UpdateOptions(), .versionNotHigher(running: version, file: file)),
        (stored[0], UpdateOptions(), .versionNotHigher(running: version, file: file)),
        (stored[1], UpdateOptions(), .versionNotHigher(running: version, file: file)),
        (stored[2], UpdateOptions(), .versionNotHigher(running: version, file: file)),
        (stored[3], UpdateOptions(), .downgradeForbidden(running: version, file: file)),
        (ManagementServer(), second, .noSuchImage(1)), (final, trial, .noTrials(.overwriteOnly)),
      ]
      for (server, options, error) in cases {
        let run = try await Self.run(server, Self.new, options)
        #expect(run.error as? ManagementError == error && run.plan == nil)
        do {
          _ = try await MCUmgrUpdate(ImageFile(Self.new), options: options).run(server) { _ in }
          Issue.record("\(error)")
        } catch let other { #expect(other as? ManagementError == error) }
        #expect(server.sent(.upload).isEmpty && server.sent(.setState).isEmpty && server.sent(.reset).isEmpty)
      }
      // The first request of an upload fits, but not the test of an image with a SHA-512.
      let long = ManagementServer()
      (long.mtu, long.joinsParts) = (80, false)
      let refused = try await Self.run(long, Fixture.update(version: 2, function: .sha512))
      #expect(refused.error as? ManagementError == .messageTooLong(.setState, 89, limit: 77) && long.sent(.upload).isEmpty)
      let split = ManagementServer()
      split.joinsParts = false
      let run = try await Self.run(split)
      #expect(run.plan?.notes == [.noReassembly] && run.error == nil)
    }
  }

  // MARK: Lost links and power

  @Test func aLinkThatIsCutAgainAndAgainLosesAtMostAWindow() async throws {
    try await onLoop {
      for cuts in [7, 20] {
        let server = ManagementServer()
        (server.cutsAfter, server.processing) = (cuts, .milliseconds(1))
        let run = try await Self.run(server)
        #expect(run.error == nil && server.running.bytes == Self.new && run.outcome?.isConfirmed == true)
        let resumptions = try #require(run.outcome?.resumptions)
        #expect(resumptions > 0 && resumptions == server.reconnects)
        #expect((run.outcome?.bytes ?? .max) <= Self.new.count + resumptions * 3 * 384)
        #expect(run.events.contains { if case .resumed(let offset) = $0 { offset > 0 } else { false } })
      }
    }
  }

  @Test func aLinkThatIsCutAtAnyRequestEndsWell() async throws {
    try await onLoop {
      let small = Fixture.update(version: 2, size: 3000)
      let whole = ManagementServer()
      _ = try await Self.run(whole, small)
      for number in 1...whole.requests.count {
        let server = ManagementServer()
        // The request gets lost, or its answer.
        for isLost in [true, false] {
          var count = 0
          (server.running.bytes, server.other.bytes, server.isConfirmed, server.isPending) = (Self.old, [], true, false)
          server.onRequest = { operation, body in
            count += 1
            guard count == number else { return nil }
            if isLost { server.cut() } else { server.losesAnswer = true }
            return isLost ? [] : nil
          }
          let run = try await Self.run(server, small)
          #expect(run.error == nil && server.running.bytes == small && server.isConfirmed, "\(number) \(isLost): \(run)")
        }
      }
    }
  }

  @Test func theLastAnswerMayBeLost() async throws {
    try await onLoop {
      let server = ManagementServer()
      var isCut = false
      server.onRequest = { operation, body in
        if operation == .upload, !isCut, (body["off"]?.integer ?? 0) + (body["data"]?.bytes?.count ?? 0) == Self.new.count {
          isCut = true
          server.other.bytes = Self.new
          server.losePower()
        }
        return nil
      }
      let run = try await Self.run(server)
      #expect(run.outcome?.bytes == Self.new.count && run.outcome?.resumptions == 1 && server.running.bytes == Self.new)
    }
  }

  // MARK: Nordic's firmware loader

  @Test func anImageThatTheLoaderRefusesLeavesTheApplicationRunning() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.mode = .firmwareLoader
      server.missing = [.images, .slotInfo, .upload, .setState, .erase]
      server.slotSize = 100
      server.onReset = { server.missing = [] }
      let run = try await Self.run(server)
      #expect(run.error as? ManagementError == .imageTooLarge(Self.new.count, limit: 100) && server.sent(.upload).isEmpty)
      #expect(server.sent(.reset).map { $0["boot_mode"]?.integer } == [1, nil] && server.identities.last == .original)
    }
  }

  @Test func theFirmwareLoaderIsFoundByItsName() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.mode = .firmwareLoader
      let commands: Set<ManagementOperation> = [.images, .slotInfo, .upload, .setState, .erase]
      server.missing = commands
      server.onReset = { server.missing = server.missing.isEmpty ? commands : [] }
      let run = try await Self.run(server)
      #expect(run.steps == [.enterBootloader, Self.upload, .restart, .compare] && run.plan?.steps == run.steps)
      let name = try #require(server.setting)
      #expect(name.count == 8 && server.sent(.saveSettings).count == 1 && server.bootMode == nil)
      #expect(server.sent(.reset).map { $0["boot_mode"]?.integer } == [1, nil])
      #expect(server.identities == [.named(String(decoding: name, as: UTF8.self)), .original])
      #expect(run.outcome?.versionAfter == "2.0.0+4" && run.outcome?.isConfirmed == nil && run.error == nil)
      #expect(server.sent(.setState).isEmpty)
      // The bootloader refuses the image, and starts the loader again, which reports another one.
      server.onReset = {
        server.missing = []
        server.running.bytes = Self.old
      }
      let other = try await Self.run(server, Self.third)
      #expect(other.error as? UnprovenUpdate == .otherImage(version: "1.0.0+4", hash: server.running.image?.hash))
    }
  }
}

extension UnprovenUpdate: Equatable {
  static func == (one: Self, other: Self) -> Bool { "\(one)" == "\(other)" }
}
