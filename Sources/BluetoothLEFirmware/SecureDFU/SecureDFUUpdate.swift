// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// An update by Nordic Secure DFU. Its bytes are those of the binaries, without the init packets. Only the application may report a version.
package final class SecureDFUUpdate: UpdateProcedure {
  private let files: DFUPackage
  private let options: UpdateOptions
  private var outcome = UpdateOutcome()
  private var versionBefore: String?
  /// How the application is found after the last part.
  private var application = [RestartedIdentity.previousAddress, .same]
  /// The time in which a bootloader, and then the application, must come back.
  private let patience = Duration.seconds(20)
  /// The number of searches for a device that may have restarted, after links that end without the answer to the last request.
  private static let mostSearches = 3

  package init(_ package: DFUPackage, options: UpdateOptions = UpdateOptions()) { (files, self.options) = (package, options) }

  package func plan(_ device: any UpdateDevice) async throws -> UpdatePlan {
    try files.validate()
    let table = try await device.client().discover()
    guard DFUTarget.isTarget(table) || DFUTarget.isButtonless(table) else { throw DFUError.noTarget }
    var plan = UpdatePlan()
    versionBefore = try await version(device.client())
    plan.runningVersion = versionBefore
    (plan.version, plan.hash) = (files.parts.last?.initPacket.firmwareVersion.map { String($0) }, files.parts.last?.initPacket.hash)
    plan.bytes = files.parts.reduce(0) { $0 + $1.binary.count }
    plan.steps = DFUTarget.isTarget(table) ? [] : [.enterBootloader]
    plan.steps += files.parts.indices.flatMap { [.upload($0, of: files.parts.count), .restart] }
    return plan
  }

  package func run(_ device: any UpdateDevice, _ onEvent: @escaping @LoopActor (UpdateEvent) throws -> Void) async throws -> UpdateOutcome {
    outcome = UpdateOutcome()
    outcome.versionBefore = versionBefore
    for (index, part) in files.parts.enumerated() {
      let (isLast, step) = (index == files.parts.count - 1, UpdateStep.upload(index, of: files.parts.count))
      guard try await install(part, step, isLast: isLast, device, onEvent) else {
        try onEvent(.note(.partInstalled(index, of: files.parts.count)))
        continue
      }
      try onEvent(.began(.restart))
      if isLast {
        if let note = try await finish(device) { try onEvent(.note(note)) }
      } else if try await restarted(device, as: [.same]) == nil {
        throw DFUError.bootloaderNotFound
      }
    }
    return outcome
  }

  /// Connects to the new application. The firmware is installed, so that no error of this connection is one of the update.
  /// - Returns: The note about a device that is not connected now.
  private func finish(_ device: any UpdateDevice) async throws -> UpdateNote? {
    do {
      guard let client = try await restarted(device, as: application) else { return .notBackWithin(patience) }
      outcome.versionAfter = try await version(client)
      return nil
    } catch  where !(error is CancellationError) { return .notConnected(ReturnFailure(error)) }
  }

  /// Reads the version of the application. Returns nil if there is none, or if the device refuses it.
  private func version(_ client: Client) async throws -> String? {
    do { return try await client.firmwareRevision() } catch GATTError.errorResponse { return nil }
  }

  private func restarted(_ device: any UpdateDevice, as identities: [RestartedIdentity]) async throws -> Client? {
    for identity in identities {
      if let client = try await device.restarted(as: identity, within: patience / identities.count) { return client }
    }
    return nil
  }

  /// Sends one part, and continues after each lost link.
  /// - Returns: False if an earlier update installed the part, or this one did, but the answer was lost. Never for the last part.
  private func install(
    _ part: DFUPackage.Part, _ step: UpdateStep, isLast: Bool, _ device: any UpdateDevice,
    _ onEvent: @LoopActor (UpdateEvent) throws -> Void
  ) async throws -> Bool {
    var (client, target): (Client, DFUTarget?) = (try await device.client(), nil)
    // The search after a restart uses none of the attempts to reconnect.
    var searches = 0
    while true {
      do {
        client = try await bootloader(client, device, isFinishing: target?.isFinishing ?? false, onEvent)
        if target == nil { try onEvent(.began(step)) }
        let open = try await DFUTarget(client, receipts: options.prn)
        target = open
        let result = await Result(of: { try await send(part, open, onEvent) })
        // A device that has the whole part restarts.
        if (try? result.get()) != true { await open.close() }
        return try result.get()
      } catch  where client.isLost(by: error) {
        outcome.resumptions += 1
        // The new application may have another address than the bootloader.
        if isLast, let target, target.isFinishing {
          guard searches < Self.mostSearches else { throw error }
          searches += 1
          if let other = try await restarted(device, as: application) {
            client = other
            continue
          }
        }
        client = try await reconnect(device, after: error)
      }
    }
  }

  /// Connects again. A bootloader that lost its power may have started the old application, which has another address.
  private func reconnect(_ device: any UpdateDevice, after error: any Error) async throws -> Client {
    do { return try await device.reconnect(after: error) } catch let last
      where application == [.previousAddress] && ReconnectPolicy.mayPass(last)
    {
      guard let client = try await device.restarted(as: .original, within: patience) else { throw last }
      return client
    }
  }

  private func send(
    _ part: DFUPackage.Part, _ target: DFUTarget, _ onEvent: @LoopActor (UpdateEvent) throws -> Void
  ) async throws -> Bool {
    do { return try await send(part, target, resumes: options.resumes, onEvent) } catch DFUError.crcMismatch
      where target.isResumed, DFUError.refused(_, _, nil) where target.isResumed
    {
      // The device kept bytes of another update, or lost some of its own, or cannot continue: the part starts from its beginning.
      return try await send(part, target, resumes: false, onEvent)
    }
  }

  /// Whether a refusal of an init packet may mean that an earlier update installed the part. The later parts are safe then, because they name
  /// the SoftDevices that they need.
  private func mayBeInstalled(_ part: DFUPackage.Part, _ reason: DFUExtendedError) -> Bool {
    let later = files.parts.drop { $0.kind != part.kind }.dropFirst()
    guard reason == .softdeviceVersion else { return !later.isEmpty && [.firmwareVersion, .alreadyPresent].contains(reason) }
    // A part that takes only the SoftDevice which it replaces is refused after that. 0xFFFE means any SoftDevice.
    return [.softdevice, .softdeviceBootloader].contains(part.kind) && !later.isEmpty
      && later.map { Set($0.initPacket.softdevices) }.allSatisfy { !$0.contains(0xFFFE) && !$0.isSubset(of: part.initPacket.softdevices) }
  }

  /// Sends the init packet and the image.
  private func send(
    _ part: DFUPackage.Part, _ target: DFUTarget, resumes: Bool, _ onEvent: @LoopActor (UpdateEvent) throws -> Void
  ) async throws -> Bool {
    do { try await target.transfer(part.initPacketBytes, as: .command, resumes: resumes) } catch DFUError.refused(.execute, _, let reason?)
      where mayBeInstalled(part, reason)
    { return false }
    outcome.sent.begin()
    try await target.transfer(part.binary, as: .data, resumes: resumes) {
      try outcome.count($0, $1, of: part.binary.count, onEvent)
    }
    return true
  }

  /// Returns a client of the bootloader. Starts the bootloader first if the application runs.
  private func bootloader(
    _ client: Client, _ device: any UpdateDevice, isFinishing: Bool, _ onEvent: @LoopActor (UpdateEvent) throws -> Void
  ) async throws -> Client {
    let table = try await client.discover()
    if DFUTarget.isTarget(table) { return client }
    guard !isFinishing else { throw DFUError.lastExecuteUnanswered }
    guard let button = DFUTarget.button(table) else { throw DFUError.noTarget }
    try onEvent(.began(.enterBootloader))
    let name = try await DFUTarget.enterBootloader(client, button)
    let isBonded = button.uuid == DFUTarget.bonded
    application = [isBonded ? .same : .previousAddress]
    var restarted = try await device.restarted(as: isBonded ? .same : .nextAddress, within: patience)
    if restarted == nil, !isBonded { restarted = try await device.restarted(as: .named(name ?? "DfuTarg"), within: patience) }
    guard let restarted, DFUTarget.isTarget(try await restarted.discover()) else { throw DFUError.bootloaderNotFound }
    return restarted
  }
}
