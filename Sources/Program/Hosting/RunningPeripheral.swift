package import BluetoothLELinux
package import BluetoothLESimulator
package import CommandLine

/// A device of a peripheral file that runs on a radio, and what centrals did since the last command.
@LoopActor
package final class RunningPeripheral {
  /// The name of the device, as messages show it.
  package let title: String
  /// The address that centrals see. Nil if the host does not know it: the kernel's is known while it takes connections.
  package var address: PeerAddress? { peripheral.advertisedAddress }
  /// The events since the last command that no expectation has taken.
  package let events = RecentEvents<ServedRecord>()
  /// The error that made the adapter unusable. Nil while the device runs.
  package private(set) var failure: (any Error)?

  private let device: ServedDevice
  private let radio: ServingRadio
  private let peripheral: any PeripheralRole
  private let onFailure: @LoopActor (any Error) -> Void
  /// The identities of the centrals with a bond.
  private var bonded: [PeerAddress] = []

  /// Returns the only device of a file's devices.
  /// - Throws: `Failure(.usage)` for several devices.
  package static func only(_ descriptions: [PeripheralDescription], in file: String) throws(Failure) -> PeripheralDescription {
    if let description = descriptions.first, descriptions.count == 1 { return description }
    throw Failure(
      .usage, "\(DisplayText.quote(file)) describes \(descriptions.count) devices. An adapter serves one: keep one in the file.")
  }

  /// Starts a device. Takes over the radio, also if it throws.
  /// - Parameters:
  ///   - note: A function that shows what went wrong while the device keeps running.
  ///   - onEvent: A function that receives each event of the device.
  ///   - onFailure: A function that receives the error that made the adapter unusable.
  /// - Throws: The errors of the host; `Failure` for an adapter that cannot serve a device, or serves one.
  static func start(
    _ description: PeripheralDescription, _ options: ServingOptions, on radio: ServingRadio, _ process: ProcessContext,
    note: @escaping @LoopActor (String) -> Void, onEvent: @escaping @LoopActor (ServedRecord) -> Void,
    onFailure: @escaping @LoopActor (any Error) -> Void
  ) async throws -> RunningPeripheral {
    do {
      let peripheral = radio.peripheral
      guard peripheral.onCentral == nil else {
        throw Failure(.adapter, "This adapter already serves a device. Use another adapter, or end that device.")
      }
      var description = description
      // The controller would get the keys.
      if radio.withholding != nil { description.security = nil }
      let store = CentralStore(process.configuration, adapter: radio.withholding == nil ? radio.central.identity : nil)
      let device = ServedDevice(description, on: peripheral, centrals: try store.centrals(process.bonds), options: options)
      let unfollowed = device.unfollowedKeys.joined(separator: ", ")
      if !unfollowed.isEmpty { note("This radio cannot follow these keys: \(unfollowed). The simulator can: -i sim:FILE.") }
      let running = RunningPeripheral(device, description.name, peripheral, radio, onFailure: onFailure)
      running.bonded = try store.centrals(process.bonds).map(\.identity)
      device.memory.onChange = { [weak running] in
        guard let running else { return }
        running.forgetKeys()
        do { try store.keep(running.device.memory.centrals, process.bonds) } catch { note(Failure(error).message) }
      }
      device.onFailure = { note(Failure($0).message) }
      device.onPasskey = { note("To pair, enter \($0) on the central.") }
      (radio.central as? KernelCentral)?.pairedDevice = device
      device.onEvent = { [weak running] in
        let record = ServedRecord($0)
        running?.events.add(record)
        onEvent(record)
      }
      do {
        try await device.start()
        running.forgetKeys()
      } catch {
        await device.end()
        throw error
      }
      peripheral.onFailure = { [weak running] in running?.fail($0) }
      return running
    } catch {
      await radio.close()
      throw error
    }
  }

  private init(
    _ device: ServedDevice, _ name: String, _ peripheral: any PeripheralRole, _ radio: ServingRadio,
    onFailure: @escaping @LoopActor (any Error) -> Void
  ) {
    (self.device, self.radio, self.peripheral, self.onFailure) = (device, radio, peripheral, onFailure)
    title = DisplayText.escape(name)
  }

  /// Removes the keys of centrals that the device has forgotten from the kernel, which would go on encrypting with them.
  private func forgetKeys() {
    let left = device.memory.centrals.map(\.identity)
    if radio.central is KernelCentral, let identity = radio.central.identity {
      for central in bonded where !left.contains(central) { _ = KernelKeyring.forget(central, of: identity) }
    }
    bonded = left
  }

  private func fail(_ error: any Error) {
    failure = error
    events.wake()
    onFailure(error)
  }

  /// Performs a line. Later expectations see only the events after it.
  /// - Returns: See `ServedDevice.perform`.
  /// - Throws: The errors of `ServedDevice.perform`; the failure of the adapter.
  func perform(_ line: PeripheralLine) throws -> Int? {
    if let failure { throw failure }
    events.removeAll()
    return try namingAttributes { try device.perform(line) }
  }

  /// Returns the handle of an attribute of the device.
  /// - Throws: The errors of `AttributeDatabase.resolve`.
  package func handle(of selector: Selector) throws -> AttributeHandle {
    try namingAttributes { try device.device.store.database.resolve(selector).handle }
  }

  /// The number of attributes that an error lists.
  private static let listed = 16

  /// Runs a body that resolves a selector. An error then lists the attributes of the device, which `services` does not know.
  private func namingAttributes<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as GATTError {
      let table = AttributeTable(device.device.store.database)
      let handles = table.characteristics.map(\.valueHandle)
      let names = handles.prefix(Self.listed).map { handle in table.name(at: handle).map { "\($0) (\(handle))" } ?? "\(handle)" }
      let list = names.isEmpty ? "It has none." : "It has " + names.joined(separator: ", ") + (handles.count > names.count ? ", …" : ".")
      var failure = Failure(error)
      failure.message = failure.message.replacing(GATTError.listing, with: list)
      throw failure
    }
  }

  /// Removes and returns the first event since the last command that satisfies `fits`. Nil at `deadline`.
  /// - Throws: The failure of the adapter; CancellationError.
  package func event(until deadline: LoopClock.Instant, where fits: (ServedRecord) -> Bool) async throws -> ServedRecord? {
    var position = 0
    while true {
      if let event = events.take(after: &position, where: fits) { return event }
      if let failure { throw failure }
      if try await !events.untilNext(until: deadline) { return nil }
    }
  }

  /// Writes the result of the start: the name and the address of the device.
  /// - Parameter advice: How the user ends the device.
  func announce(_ advice: String, _ output: Output) async throws {
    if output.style.json { return try await output.record { ServedRecord.begin(&$0, "advertising", EventLoop.shared.wallClock, address) } }
    if !output.style.quiet {
      output.message(output.displayText("Advertising \(title)\(address.map { " as \($0.address)" } ?? ""). \(advice)"))
    }
  }

  /// Stops advertising, disconnects the centrals, and closes a radio of its own. Idempotent. Works in a canceled task.
  func end() async {
    peripheral.onFailure = nil
    await device.end()
    await radio.close()
  }
}

extension ServedDevice: PairedDevice {}
