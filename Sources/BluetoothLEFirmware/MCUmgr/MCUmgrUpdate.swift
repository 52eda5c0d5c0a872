// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// An update with MCUmgr: upload, one trial, and confirmation after the comparison of the hashes.
package final class MCUmgrUpdate: UpdateProcedure {
  private let file: ImageFile
  private let options: UpdateOptions
  /// The time in which the device must come back after a restart. A swap of large slots takes more than a minute.
  private let patience = Duration.seconds(120)
  private var state: UpdateState
  private var outcome = UpdateOutcome()
  /// The version that ran before the upload. Nil if there was no upload, or no version.
  private var replaced: String?
  private var onEvent: @LoopActor (UpdateEvent) throws -> Void = { _ in }
  private var management: ManagementClient?

  package init(_ image: ImageFile, options: UpdateOptions = UpdateOptions()) {
    (file, self.options, state) = (image, options, UpdateState(file: image, options: options))
  }

  package func plan(_ device: any UpdateDevice) async throws -> UpdatePlan { try await closing { try await makePlan(device) } }

  package func run(_ device: any UpdateDevice, _ onEvent: @escaping @LoopActor (UpdateEvent) throws -> Void) async throws -> UpdateOutcome {
    (outcome, self.onEvent) = (UpdateOutcome(), onEvent)
    try await closing { try await run(device) }
    return outcome
  }

  private func makePlan(_ device: any UpdateDevice) async throws -> UpdatePlan {
    try await begin(device)
    var plan = UpdatePlan()
    (plan.runningVersion, plan.runningHash) = (state.running?.version, state.running?.hash)
    (plan.version, plan.hash, plan.canRevert) = (file.version.description, file.hash, state.bootloader.mode.canRevert)
    plan.steps = state.steps
    if let other = state.blocking { plan.notes.append(.unfinished(version: other.version, isOnTrial: other == state.running)) }
    if file.hashCheck == .encrypted { plan.notes.append(.encrypted) }
    if file.isCompressed { plan.notes.append(.compressed) }
    if state.isInstalled() { plan.notes.append(.sameContent) }
    guard plan.steps.contains(.upload(0, of: 1)) else { return plan }
    if state.bootloader.mode == .singleApplication { plan.notes.append(.singleSlot) }
    plan.bytes = file.upload.count
    if file.padding > 0 { plan.notes.append(.paddingLeftOut(file.padding)) }
    // The firmware loader has other slots and buffers than the application.
    if state.list != nil, try await isSplit(device) { plan.notes.append(.noReassembly) }
    return plan
  }

  private func run(_ device: any UpdateDevice) async throws {
    try await begin(device)
    (outcome.versionBefore, outcome.hashBefore) = (state.running?.version, state.running?.hash)
    // A pending image starts its trial with the first restart, which the second one ends.
    for _ in 1...3 where state.blocking != nil {
      try onEvent(.began(.finishEarlier))
      try await reset(device)
      try await comeBack(device, as: .same)
    }
    guard state.blocking == nil else { throw ManagementError.stillBlocked }
    if state.bootloader.mode == .firmwareLoader {
      try await load(device)
    } else if !state.isInstalled() {
      if state.stored == nil { try await upload(device) }
      if state.needsTest { try await test(device) }
      try await start(device)
    }
    if state.needsConfirmation { try await confirm(device) }
    (outcome.versionAfter, outcome.hashAfter, outcome.isConfirmed) = (state.running?.version, state.running?.hash, state.isConfirmed)
  }

  // MARK: Steps

  private func begin(_ device: any UpdateDevice) async throws {
    try file.validate()
    try await read(device)
    let mode = state.bootloader.mode
    guard options.confirms || mode.canRevert || mode == .unknown else { throw ManagementError.noTrials(mode) }
    try state.checkVersion()
  }

  private func upload(_ device: any UpdateDevice) async throws {
    _ = try await isSplit(device)
    replaced = state.running?.version
    try onEvent(.began(.upload(0, of: 1)))
    var isAgain = false
    try await onLink(device) { management in
      if isAgain {
        outcome.resumptions += 1
        // Perhaps only the last answer was lost.
        state.list = try await management.images()
        if state.stored != nil || state.isInstalled() { return }
      }
      isAgain = true
      try await management.prepareUpload(file.upload, image: options.image ?? 0)
      outcome.sent.begin()
      try await management.upload(file.upload, image: options.image ?? 0, resumes: options.resumes) {
        try outcome.count($0, $1, of: file.upload.count, onEvent)
      }
    }
  }

  private func test(_ device: any UpdateDevice) async throws {
    try onEvent(.began(.test))
    try await onLink(device) { management in
      state.list = try await management.images()
      guard state.needsTest else { return }
      // A server without this request starts the image by itself.
      do { state.list = try await management.setState(hash: file.hash, confirm: false) } catch  where ManagementError.isUnsupported(error) {
      }
    }
  }

  /// Restarts into the new image, and compares it with the file. Restarts again if the command was lost with its link.
  private func start(_ device: any UpdateDevice) async throws {
    let mode = state.bootloader.mode
    for _ in 1...3 {
      try onEvent(.began(.restart))
      try await reset(device)
      do { try await comeBack(device, as: mode == .firmwareLoader ? .original : .same) } catch ManagementError.notBack {
        try onEvent(.note(.notBackWithin(patience)))
        throw UnprovenUpdate.notBack(canRevert: mode.canRevert)
      } catch  where !ReconnectPolicy.mayPass(error) && !(error is CancellationError) {
        // The new image may lack the service, or the bonds.
        throw UnprovenUpdate.unreadable(canRevert: mode.canRevert, error)
      }
      guard mode.hasTrials, !state.isInstalled(), state.stored?.isPending == true else { break }
    }
    try onEvent(.began(.compare))
    if state.list != nil { try compare() }
  }

  private func compare() throws {
    guard state.isInstalled(isSent: true) else {
      throw UnprovenUpdate.otherImage(version: state.running?.version, hash: state.running?.hash)
    }
    if let replaced, state.running?.hash == nil, state.running?.version == replaced { throw UnprovenUpdate.sameVersion(replaced) }
  }

  private func confirm(_ device: any UpdateDevice) async throws {
    try onEvent(.began(.confirm))
    try await onLink(device) { management in
      // A device that was reset after the comparison has returned to the old image.
      state.list = try await management.images()
      try compare()
      guard state.needsConfirmation else { return }
      // Without a hash, the request means image 0.
      guard let hash = options.image == nil ? [] : state.running?.hash else { throw UnprovenUpdate.notConfirmed }
      state.list = try await management.setState(hash: hash.isEmpty ? nil : hash, confirm: true)
      guard !state.needsConfirmation else { throw UnprovenUpdate.notConfirmed }
    }
  }

  /// Updates a device with Nordic's firmware loader, which has the same commands, but only one slot and other links.
  private func load(_ device: any UpdateDevice) async throws {
    let runsApplication = state.list == nil
    if runsApplication {
      try onEvent(.began(.enterBootloader))
      let name = "FL_\(Int.random(in: 10_000...99_999))"
      try await onLink(device) { try await $0.setLoaderName(name) }
      try await reset(device, bootMode: 1)
      try await comeBack(device, as: .named(name))
    }
    if !state.isInstalled() {
      do { try await upload(device) } catch  where runsApplication && outcome.bytes == 0 && !ReconnectPolicy.mayPass(error) {
        // The application is still whole. If the way back fails, the first error says more.
        if (try? await reset(device)) != nil { _ = try? await device.restarted(as: .original, within: patience) }
        throw error
      }
      state.list = try await onLink(device) { try await $0.images() }
    }
    try compare()
    let received = state.list
    try await start(device)
    // The application cannot tell what runs. The loader has told what it has received.
    state.list = state.list ?? received
  }

  // MARK: Links

  /// Runs an operation, and again after each lost link.
  private func onLink<T>(_ device: any UpdateDevice, _ body: @LoopActor (ManagementClient) async throws -> T) async throws -> T {
    var client = try await device.client()
    while true {
      do {
        if management?.client !== client { management = try await ManagementClient(client) }
        if let management { return try await body(management) }
      } catch  where client.isLost(by: error) { client = try await device.reconnect(after: error) }
    }
  }

  /// Runs `body`, and ends the subscription on every path.
  private func closing<T>(_ body: @LoopActor () async throws -> T) async throws -> T {
    let result = await Result(of: body)
    await management?.close()
    management = nil
    return try result.get()
  }

  private func read(_ device: any UpdateDevice) async throws {
    try await onLink(device) { management in
      (state.bootloader, state.list) = (try await management.bootloader(), nil)
      let isLoader = state.bootloader.mode == .firmwareLoader
      do { state.list = try await management.images() } catch  where isLoader && ManagementError.isUnsupported(error) {}
    }
  }

  /// Makes all checks that need no byte of the image.
  /// - Returns: Whether messages are shorter than the device's buffer, because it does not join their parts.
  private func isSplit(_ device: any UpdateDevice) async throws -> Bool {
    try await onLink(device) { management in
      try state.check(try await management.slotInfo())
      try await management.prepareUpload(file.upload, image: options.image ?? 0)
      if state.bootloader.mode.hasTrials { try management.checkState(hash: file.hash) }
      let size = try await management.parameters()?.bufferSize ?? 0
      return management.joinsParts == false && size > management.writeSize
    }
  }

  private func reset(_ device: any UpdateDevice, bootMode: Int? = nil) async throws {
    try await onLink(device) { try await $0.reset(bootMode: bootMode) }
    management = nil
  }

  /// Waits for the device, and reads its new state.
  /// - Throws: `ManagementError.notBack`; the errors of `restarted` and of `read`.
  private func comeBack(_ device: any UpdateDevice, as identity: RestartedIdentity) async throws {
    guard try await device.restarted(as: identity, within: patience) != nil else {
      throw ManagementError.notBack(after: patience)
    }
    try await read(device)
  }
}
