import BluetoothLE
import BluetoothLEText
import TestSupport
import Testing

@testable import BluetoothLEFirmware

@Suite(.timeLimit(.minutes(15))) struct ImageUploadTests {
  private static let file = Fixture.update(version: 2)

  /// Uploads the file, and returns the progress.
  @LoopActor @discardableResult
  private static func upload(
    _ server: ManagementServer, _ file: [UInt8] = file, image: Int = 0, resumes: Bool = true
  ) async throws -> [[Int]] {
    let management = try await ManagementClient(server.client())
    var progress: [[Int]] = []
    try await management.upload(file[...], image: image, resumes: resumes) { progress.append([$0, $1]) }
    return progress
  }

  /// Runs an upload that must fail.
  @LoopActor
  private static func failure(_ server: ManagementServer, image: Int = 0) async -> ManagementError? {
    do { try await upload(server, image: image) } catch { return error as? ManagementError }
    return nil
  }

  private static func off(_ offset: Int, match: Bool? = nil) -> [UInt8] {
    let members = [CBOR.Member(key: .text("off"), value: .integer(offset))]
    return CBOR.map(members + (match.map { [CBOR.Member(key: .text("match"), value: .bool($0))] } ?? [])).encoded
  }

  // MARK: Speed

  @Test(arguments: [(384, 4, 3), (1024, 4, 3), (2475, 2, 1), (384, 1, 1), (384, 20, 19), (128, 4, 3)])
  func messagesFillTheBufferAndTheWindow(_ size: Int, _ count: Int, _ window: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.bufferSize, server.bufferCount, server.processing, server.delay) = (size, count, .milliseconds(30), .milliseconds(1))
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      #expect(server.depth == window)
      let lengths = server.requests.filter { $0.operation == .upload }.map(\.length)
      // One byte stays unused where the length of the data would need another one.
      #expect(lengths.dropLast().allSatisfy { $0 == size || $0 == size - 1 }, "\(lengths)")
      #expect(server.writes.allSatisfy { $0.count <= 244 })
    }
  }

  @Test(arguments: [244, 245, 246, 247, 384]) func withoutReassemblyEachMessageIsOneWrite(_ size: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.joinsParts, server.bufferSize) = (false, size)
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      // Only the echo was longer, and its text cannot be taken for a request.
      #expect(server.sent(.echo).isEmpty)
      #expect(server.requests.filter { $0.operation == .upload }.dropLast().allSatisfy { $0.length >= 243 && $0.length <= 244 })
    }
  }

  /// The value of an attribute has at most 512 bytes, however large the MTU is. Bumble's server drops longer writes.
  @Test(arguments: [true, false]) func noWriteIsLongerThanAnAttribute(_ joinsParts: Bool) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.mtu, server.bufferSize, server.joinsParts) = (517, 1024, joinsParts)
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      #expect(server.writes.map(\.count).max() == 512)
      #expect(server.requests.contains { $0.operation == .upload && $0.length == (joinsParts ? 1024 : 512) })
    }
  }

  @Test func aSilentServerIsClearedAfterTheProbe() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, _ in operation == .echo ? [] : nil }
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      #expect(server.configurations == [1, 0, 1])
      #expect(server.requests.filter { $0.operation == .upload }.allSatisfy { $0.length <= 244 })
    }
  }

  @Test func serversWithoutParametersOrEchoWork() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.missing = [.parameters, .echo]
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file && server.depth == 1)
      let other = ManagementServer()
      other.missing = [.echo]
      try await Self.upload(other)
      #expect(other.requests.contains { $0.operation == .upload && $0.length == 384 })
    }
  }

  // MARK: The first request

  @Test(arguments: [(23, nil), (62, nil), (65, false), (102, false), (103, true), (247, true)] as [(Int, Bool?)])
  func theFirstRequestHasAnImageHeader(_ mtu: Int, _ hasHash: Bool?) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.mtu, server.joinsParts) = (mtu, false)
      let file = Fixture.update(version: 2, size: 70_000)
      guard let hasHash else {
        let error = await Self.failure(server)
        #expect(error == .mtuTooSmall(mtu: mtu))
        return #expect(server.sent(.upload).isEmpty)
      }
      try await Self.upload(server, file)
      let first = try #require(server.sent(.upload).first)
      #expect((first["sha"]?.bytes == SHA2.sha256.hash(file)) == hasHash)
      #expect((first["data"]?.bytes?.count ?? 0) >= 32 && first["len"]?.integer == file.count && first["image"] == nil)
      #expect(server.sent(.upload).dropFirst().allSatisfy { $0["sha"] == nil && $0["len"] == nil })
    }
  }

  @Test func theNumberOfTheImageIsSent() async throws {
    try await onLoop {
      let server = ManagementServer()
      try await Self.upload(server, image: 2)
      #expect(server.sent(.upload).map { $0["image"]?.integer }.prefix(2) == [2, nil])
    }
  }

  // MARK: Offsets

  @Test(arguments: [1, 5, 20]) func aLostRequestIsSentOncePerOffset(_ lost: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      server.processing = .milliseconds(5)
      try await Self.upload(server)
      let usual = server.sent(.upload).count
      server.clear()
      var count = 0
      // The device's buffers were full: it never saw the request.
      server.onRequest = { operation, _ in
        if operation == .upload { count += 1 }
        return operation == .upload && count == lost + 1 ? [] : nil
      }
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      #expect((usual + 1...usual + 3).contains(server.sent(.upload).count))
    }
  }

  @Test func aLostAnswerCostsNothing() async throws {
    try await onLoop {
      var upload = ImageUpload(total: 400, window: 3)
      upload.sent(1, 100, within: .seconds(1))
      try upload.answered(1, offset: 100)
      for sequence in 2...4 as ClosedRange<UInt8> { upload.sent(sequence, 100, within: .seconds(1)) }
      try upload.answered(3, offset: 300)
      #expect(upload.open.map(\.sequence) == [4] && upload.confirmed == 300)
      try upload.answered(2, offset: 200)
      #expect(upload.confirmed == 300)
      try upload.answered(4, offset: 400)
      #expect(upload.isComplete)
    }
  }

  @Test func aRestartAtZeroSendsAllFirstFieldsAgain() async throws {
    try await onLoop {
      let server = ManagementServer()
      var count = 0
      server.onRequest = { operation, _ in
        if operation == .upload { count += 1 }
        // Another client began an upload in between.
        return operation == .upload && count == 10 ? Self.off(0) : nil
      }
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      let firsts = server.sent(.upload).filter { $0["off"]?.integer == 0 }
      #expect(firsts.count == 2 && firsts.allSatisfy { $0["sha"]?.bytes != nil && $0["len"]?.integer == Self.file.count })
    }
  }

  @Test(arguments: [0, 352, 1000]) func anOffsetThatDoesNotMoveIsAnError(_ offset: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, _ in operation == .upload ? Self.off(offset) : nil }
      let error = await Self.failure(server)
      #expect(error == .uploadStuck(at: offset, tries: 5))
      #expect(server.sent(.upload).count <= 3 * 6)
    }
  }

  @Test(arguments: [-1, file.count + 1, Int.max]) func impossibleOffsetsAreErrors(_ offset: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, _ in operation == .upload ? Self.off(offset) : nil }
      let error = await Self.failure(server)
      #expect(error == .invalidAnswer(.upload))
      server.onRequest = { operation, _ in operation == .upload ? CBOR.map(["rc": .integer(0)]).encoded : nil }
      let other = await Self.failure(server)
      #expect(other == .invalidAnswer(.upload))
    }
  }

  @Test func anOtherHashIsAnErrorOnlyIfTheHashWasSent() async throws {
    try await onLoop {
      let server = ManagementServer()
      let end = { @LoopActor (operation: ManagementOperation, body: CBOR) -> [UInt8]? in
        guard operation == .upload, (body["off"]?.integer ?? 0) + (body["data"]?.bytes?.count ?? 0) == Self.file.count else { return nil }
        return Self.off(Self.file.count, match: false)
      }
      server.onRequest = end
      let error = await Self.failure(server)
      #expect(error == .uploadMismatch)
      let narrow = ManagementServer()
      (narrow.mtu, narrow.joinsParts, narrow.onRequest) = (70, false, end)
      let none = await Self.failure(narrow)
      #expect(none == nil)
    }
  }

  // MARK: Resumption

  @Test func aCutUploadContinuesWhereTheDeviceIs() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.cutsAfter = 20
      await #expect(throws: LinkLost.self) { try await Self.upload(server) }
      server.cutsAfter = nil
      server.clear()
      let progress = try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      let start = try #require(progress.first)
      #expect(start[0] == start[1] && start[0] > 5000 && server.sent(.upload)[1]["off"]?.integer == start[0])
      #expect(progress.last == [Self.file.count, Self.file.count])
      #expect(server.sent(.upload)[0]["sha"]?.bytes != nil)
    }
  }

  /// Some servers write only whole words, and ask again for the rest. That is no earlier upload.
  @Test(arguments: [4, 32]) func aServerMayTakeAPartOfARequest(_ word: Int) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.joinsParts, server.word) = (false, word)
      let progress = try await Self.upload(server)
      #expect(server.other.bytes == Self.file)
      #expect(progress.first == [0, 0] && progress.last == [Self.file.count, Self.file.count])
      #expect(zip(progress, progress.dropFirst()).allSatisfy { $0[1] <= $1[1] })
    }
  }

  @Test func staleBytesAreNotContinued() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.cutsAfter = 20
      await #expect(throws: LinkLost.self) { try await Self.upload(server) }
      server.cutsAfter = nil
      server.clear()
      let management = try await ManagementClient(server.client())
      var first: Int?
      try await management.upload(Self.file[...], resumes: false) { sent, _ in first = first ?? sent }
      #expect(first == 0 && server.other.bytes == Self.file)
      #expect(server.sent(.upload).prefix(2).map { $0["off"]?.integer } == [0, 0])
    }
  }

  @Test func aDeviceThatHasTheImageGetsNothingMore() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.onRequest = { operation, _ in operation == .upload ? Self.off(Self.file.count, match: true) : nil }
      let progress = try await Self.upload(server)
      #expect(progress.first == [Self.file.count, Self.file.count] && server.sent(.upload).count == 1)
    }
  }

  // MARK: Refusals

  @Test(arguments: [true, false]) func errorsOfBothFormsEndTheUpload(_ hasGroupErrors: Bool) async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.hasGroupErrors, server.slotSize) = (hasGroupErrors, 1000)
      let error = await Self.failure(server)
      #expect(
        error
          == .refused(
            .upload, ManagementRefusal(group: hasGroupErrors ? 1 : nil, code: hasGroupErrors ? 30 : 1), reason: hasGroupErrors ? nil : "no")
      )
      #expect(server.sent(.upload).count == 1)
    }
  }

  @Test func aBusyDeviceIsAwaitedForThirtySeconds() async throws {
    try await onLoop {
      let server = ManagementServer()
      let begin = EventLoop.shared.now
      var isBusy = { begin.duration(to: EventLoop.shared.now) < .seconds(20) }
      server.onRequest = { operation, body in
        (operation == .upload && body["off"]?.integer ?? 0 > 3000 || operation == .bootloaderInfo) && isBusy()
          ? CBOR.map(["rc": .integer(10)]).encoded : nil
      }
      try await Self.upload(server)
      #expect(server.other.bytes == Self.file && server.sent(.upload).count < 200)
      isBusy = { true }
      let error = await Self.failure(server)
      #expect(error == .refused(.upload, ManagementRefusal(code: 10), reason: nil))
      let management = try await ManagementClient(server.client())
      await #expect(throws: ManagementError.refused(.bootloaderInfo, ManagementRefusal(code: 10), reason: nil)) {
        try await management.bootloader()
      }
    }
  }

  @Test func aSilentDeviceIsAnErrorInTheEnd() async throws {
    try await onLoop {
      let server = ManagementServer()
      let begin = EventLoop.shared.now
      server.onRequest = { operation, body in operation == .upload && body["off"]?.integer != 0 ? [] : nil }
      let error = await Self.failure(server)
      #expect(error == .noAnswer(.upload, after: .seconds(30), tries: 3))
      #expect(begin.duration(to: EventLoop.shared.now) < .seconds(31))
      server.onRequest = { operation, _ in operation == .erase ? [] : nil }
      let management = try await ManagementClient(server.client())
      await #expect(throws: ManagementError.noAnswer(.erase, after: .seconds(75))) { try await management.erase() }
    }
  }

  @Test func answersThatMatchNothingAreDropped() async throws {
    try await onLoop {
      let server = ManagementServer()
      var last: [UInt8] = []
      server.onRequest = { operation, _ in
        guard let write = server.writes.last(where: { $0.count >= 8 }), operation != .echo else { return nil }
        // A late answer to an earlier request, one to none, and one of another group with the right number.
        if !last.isEmpty { server.answer(to: last, CBOR.map(["off": .integer(7)]).encoded) }
        server.answer(to: write, CBOR.map(["rc": .integer(3)]).encoded, sequence: write[6] &+ 100)
        server.answer(to: write[..<4] + [0, 9] + write[6...], CBOR.map(["rc": .integer(3)]).encoded)
        if operation != .upload { last = write }
        return nil
      }
      let management = try await ManagementClient(server.client())
      for _ in 0..<300 { _ = try await management.images() }
      server.onRequest = nil
      try await management.upload(Self.file[...])
      #expect(server.other.bytes == Self.file)
    }
  }

  // MARK: Commands

  @Test func commandsOfTheFirmwareToolWork() async throws {
    try await onLoop {
      let server = ManagementServer()
      server.other.bytes = Self.file
      let management = try await ManagementClient(server.client())
      let text = try await management.echo(String(repeating: "long", count: 80))
      let (parameters, info) = (try await management.parameters(), try await management.applicationInfo())
      #expect(text.utf8.count == 320 && parameters == ManagementParameters(bufferSize: 384, bufferCount: 4) && info == "Zephyr 4.3")
      let (mode, slot) = (try await management.bootloader().mode, try await management.uploadImage(forSlot: 1))
      #expect(mode == .swapMove && slot == 2)
      await #expect(throws: ManagementError.slotNotAddressable(2)) { try await management.uploadImage(forSlot: 2) }
      let hash = try #require(server.other.image?.hash)
      let list = try await management.setState(hash: hash, confirm: false)
      #expect(list.images.map(\.isPending) == [false, true] && list.images.map(\.isPermanent) == [false, false])
      server.isPending = false
      await #expect(throws: ManagementError.refused(.setState, ManagementRefusal(group: 1, code: 8), reason: nil)) {
        try await management.setState(hash: [1], confirm: true)
      }
      try await management.erase(slot: 1)
      #expect(server.sent(.erase).map { $0["slot"]?.integer } == [1] && server.other.bytes.isEmpty)
      server.onRequest = { operation, _ in
        if operation == .reset { server.cut() }
        return nil
      }
      try await management.reset()
      server.missing = Set(ManagementOperation.allCases)
      let old = try await ManagementClient(server.client())
      let (none, nothing) = (try await old.parameters(), try await old.slotInfo())
      let (unknown, silent) = (try await old.bootloader().mode, try await old.applicationInfo())
      #expect(none == nil && nothing == nil && unknown == .unknown && silent == nil)
      await #expect(throws: ManagementError.refused(.images, ManagementRefusal(code: 8), reason: nil)) { try await old.images() }
    }
  }

  /// The link goes on after a plan alone, an error and a cancellation.
  @Test func aSubscriptionEndsOnEveryPath() async throws {
    try await onLoop {
      let (server, image) = (ManagementServer(), try ImageFile(Self.file))
      _ = try await MCUmgrUpdate(image).plan(server)
      #expect(server.configurations == [1, 0])
      await #expect(throws: ManagementError.slotNotAddressable(9)) {
        try await ManagementClient.use(server.client()) { try await $0.uploadImage(forSlot: 9) }
      }
      server.missing = [.images]
      await #expect(throws: ManagementError.self) { try await MCUmgrUpdate(image).plan(server) }
      server.missing = []
      var task: Task<Void, Never>?
      task = EventLoop.shared.spawn { _ = try? await MCUmgrUpdate(image).run(server) { if case .progress = $0 { task?.cancel() } } }
      await task?.value
      #expect(server.configurations == [1, 0, 1, 0, 1, 0, 1, 0] && server.reconnects == 0 && server.other.bytes.isEmpty)
    }
  }

  @Test func aDeviceWithoutTheServiceIsRefused() async throws {
    try await onLoop {
      let (near, far) = MemoryChannel.pair()
      let peer = ScriptedPeer(far)
      var server = PlainServer([PlainServer.Item(handle: 1, type: UUID(0x2800), value: [0x0F, 0x18])])
      peer.fallback = { server.answer($0) }
      await #expect(throws: ManagementError.noService) { try await ManagementClient(Client(near)) }
      withExtendedLifetime(peer) {}
    }
  }
}
