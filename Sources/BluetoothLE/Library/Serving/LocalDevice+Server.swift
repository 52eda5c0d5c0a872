// SPDX-License-Identifier: Apache-2.0
extension LocalDevice {
  /// A device during ``Adapter/serve(_:_:)``.
  ///
  /// All methods work from any actor and thread, and also from ``Characteristic/onRead`` and ``Characteristic/onWrite``. After the body of
  /// that call, they throw ``BluetoothError/Reason/disconnected``.
  public final class Server: Sendable {
    /// The actions of centrals.
    public let events: Events
    /// The address that centrals see. Nil if the device does not advertise yet.
    public var peripheral: Peripheral? {
      get async { await EventLoop.shared.spawn { [self] in role.advertisedAddress.map { Peripheral($0) } }.value }
    }

    let store: AttributeStore
    let memory: CentralMemory
    private let adapter: Adapter
    @LoopActor private let central: any Central
    @LoopActor private let role: any PeripheralRole
    private let queue: BoundedQueue<Event>
    @LoopActor private(set) var pairing: (any PairingDelegate)?
    @LoopActor private var database: LocalDatabase
    @LoopActor private var centrals: [ServedCentral] = []
    @LoopActor private var isOver = false

    /// Advertises, and takes connections.
    @LoopActor init(_ device: LocalDevice, on adapter: Adapter) async throws {
      let central = try await adapter.session.central()
      guard let role = central.peripheral else { throw BluetoothError(.unsupported, "\(adapter.name) cannot serve a device.", nil) }
      let (database, advertising) = (try LocalDatabase(device), try device.advertisement?.advertising)
      store = AttributeStore(database.attributes)
      memory = CentralMemory(adapter.bondedCentrals(of: central.identity), of: store)
      queue = BoundedQueue(capacity: 16_384)
      events = Events(queue, of: central, adapter)
      (self.adapter, self.central, self.role, self.database, pairing) = (adapter, central, role, database, device.pairing)
      guard !adapter.isServing else { throw BluetoothError(.adapter, "\(adapter.name) already serves a device.", nil) }
      adapter.isServing = true
      memory.onChange = { [weak self] in if let self { adapter.keep(memory.centrals, of: central.identity) } }
      memory.onSystemPairing = { [weak self] peer in
        if let self, let one = centrals.first(where: { $0.link.peer == peer }) { paired(one.peripheral, one.link.securityLevel) }
      }
      memory.onRestored = { [weak self] in self?.subscribed($0, $1, Peripheral($2)) }
      role.onCentral = { [weak self] in self?.connected($0) }
      do { try await role.advertise(advertising) } catch {
        await end()
        throw error
      }
    }

    /// Stops advertising, and disconnects the centrals, in a few seconds at most.
    @LoopActor func end() async {
      isOver = true
      await role.end()
      role.onCentral = nil
      queue.close()
      adapter.isServing = false
    }

    private func call<Value: Sendable>(_ body: @escaping @LoopActor @Sendable () async throws -> Value) async throws -> Value {
      try await adapter.call { [self] in
        if let failure = central.failure { throw failure }
        if isOver { throw BluetoothError(.disconnected, "The device is no longer served.", nil) }
        return try await body()
      }
    }

    // MARK: Values

    /// Returns the present value of a characteristic.
    /// - Throws: ``BluetoothError/Reason/notFound`` for a characteristic that the device does not have, and other reasons of
    ///   ``BluetoothError``; CancellationError.
    public func value(of item: Characteristic) async throws -> [UInt8] {
      try await call { [self] in store.database[try database.handle(of: item)]?.value ?? [] }
    }

    /// Sets the value of a characteristic, which later reads get. Sends nothing.
    /// - Throws: ``BluetoothError/Reason/invalidArgument`` for a value that is too long, and the reasons of ``value(of:)``;
    ///   CancellationError.
    public func set(_ item: Characteristic, _ value: [UInt8]) async throws {
      try await call { [self] in store.database.setValue(value, of: try handle(of: item, for: value)) }
    }

    /// Sends a value to the centrals that have subscribed to it: as a notification, or as an indication to those that want only these.
    ///
    /// The call returns when each link has room for the next value, and each indication is confirmed. So a loop of calls is as fast as the slowest
    /// link. A central is left out if its link ends first.
    /// - Parameters:
    ///   - item: The characteristic, which has the property notify or indicate.
    ///   - value: The value, at most ``ConnectedDevice/mtu`` − 3 bytes of each link. The characteristic has it from now on, unless there are
    ///     `receivers`.
    ///   - receivers: The only centrals that get the value if they have subscribed, such as the one that asked for it. Nil means all.
    /// - Returns: The centrals that got the value. Empty if no central has subscribed.
    /// - Throws: ``BluetoothError/Reason/invalidArgument`` for a value that does not fit, before anything is sent;
    ///   ``BluetoothError/Reason/timeout`` if nothing gets through to a central for 30 s, and the reasons of ``value(of:)``; CancellationError.
    @discardableResult
    public func notify(_ item: Characteristic, _ value: [UInt8], to receivers: [Peripheral]? = nil) async throws -> [Peripheral] {
      try await call { [self] in
        let handle = try handle(of: item, for: value)
        let targets = subscribers(handle).filter { receivers?.contains($0.peripheral) ?? true }
        if let least = targets.map({ $0.server.bearer.mtu - 3 }).min(), value.count > least {
          throw BluetoothError(
            .invalidArgument, "\(value.count) bytes of \(item) do not fit one packet of a central: the limit is \(least).", nil)
        }
        if receivers == nil { store.database.setValue(value, of: handle) }
        // At once: a slow link must not delay the others.
        let sendings = targets.map { target in EventLoop.shared.spawn { await Result { try await target.send(value, handle) } } }
        defer { for sending in sendings { sending.cancel() } }
        return try await withTaskCancellationHandler {
          var reached: [Peripheral] = []
          for (target, sending) in zip(targets, sendings) { if try await sending.value.get() { reached.append(target.peripheral) } }
          return reached
        } onCancel: {
          for sending in sendings { sending.cancel() }
        }
      }
    }

    /// Returns the centrals that are connected, in the order of their connections.
    /// - Throws: ``BluetoothError``, CancellationError.
    public func connectedCentrals() async throws -> [Peripheral] { try await call { [self] in centrals.map(\.peripheral) } }

    /// Returns the connected centrals that have subscribed to a characteristic.
    /// - Throws: The reasons of ``value(of:)``; CancellationError.
    public func subscribers(of item: Characteristic) async throws -> [Peripheral] {
      try await call { [self] in subscribers(try database.handle(of: item)).map(\.peripheral) }
    }

    /// Disconnects a central. Does nothing if it is not connected.
    /// - Throws: ``BluetoothError``, CancellationError.
    public func disconnect(_ central: Peripheral) async throws {
      try await call { [self] in
        for one in centrals where one.peripheral == central { await one.link.disconnect(reason: .remoteUserTerminated) }
      }
    }

    /// Changes the device: what it advertises, its services, and the code of its characteristics.
    ///
    /// Characteristics that stay keep their present values and their subscribers. Connected centrals learn of other attributes by an
    /// indication of Service Changed, if they have subscribed to it, and bonded ones on their next link (Vol 3 Part G §7.1). Such a central
    /// may miss values until it has found the characteristic again: ``Event/subscribed(_:_:)`` tells.
    /// - Throws: ``BluetoothError/Reason/invalidArgument``, ``BluetoothError/Reason/unsupported`` and other reasons, as
    ///   ``Adapter/serve(_:_:)``; CancellationError. The services are unchanged after an error, and the device may not advertise.
    public func update(_ device: LocalDevice) async throws {
      try await call { [self] in
        var next = try LocalDatabase(device)
        try await role.advertise(try device.advertisement?.advertising)
        let isChanged = next.attributes.databaseHash != store.database.databaseHash
        let moved = next.take(store.database, of: database)
        (database, store.database, pairing) = (next, next.attributes, device.pairing)
        for central in centrals {
          central.server.databaseChanged(
            central.server.configurations.reduce(into: [:]) { bits, old in if let handle = moved[old.key] { bits[handle] = old.value } })
          memory.remember(central.link.peer)
          if isChanged { memory.indicateChange(to: central.server, central.link.peer) }
        }
      }
    }

    // MARK: Centrals

    @LoopActor private func handle(of item: Characteristic, for value: [UInt8]) throws -> AttributeHandle {
      let handle = try database.handle(of: item)
      guard value.count <= store.database[handle]?.maximumLength ?? 0 else {
        throw BluetoothError(.invalidArgument, "\(value.count) bytes are too long for \(item).", nil)
      }
      return handle
    }

    @LoopActor private func subscribers(_ handle: AttributeHandle) -> [ServedCentral] {
      // A bond may restore a subscription to what demands more now.
      let least = database.characteristics[handle]?.security ?? .unencrypted
      return centrals.filter { $0.server.configuration(ofValue: handle) != 0 && $0.link.securityLevel >= least }
    }

    @LoopActor func characteristic(_ handle: AttributeHandle) -> Characteristic? { database.characteristics[handle] }

    @LoopActor private func connected(_ link: any CentralLink) {
      let served = ServedCentral(link, self)
      centrals.append(served)
      queue.add(.connected(served.peripheral))
      served.start()
    }

    @LoopActor func disconnected(_ served: ServedCentral, _ error: any Error) {
      centrals.removeAll { $0 === served }
      memory.disconnected(served.link.peer)
      queue.add(.disconnected(served.peripheral, BluetoothError(error)))
      // After the limit of a transaction, only the bearer is closed (Vol 3 Part F §3.3.3).
      EventLoop.shared.spawn { await served.link.disconnect(reason: .remoteUserTerminated) }
    }

    @LoopActor func report(
      _ handle: AttributeHandle, _ value: [UInt8], _ central: Peripheral, _ event: (Characteristic, [UInt8], Peripheral) -> Event
    ) { if let item = database.characteristics[handle] { queue.add(event(item, value, central)) } }

    @LoopActor func subscribed(_ handle: AttributeHandle, _ bits: UInt16, _ central: Peripheral) {
      memory.remember(central.peer)
      guard let item = database.characteristics[handle] else { return }
      queue.add(bits == 0 ? .unsubscribed(item, central) : .subscribed(item, central))
    }

    @LoopActor func paired(_ central: Peripheral, _ level: SecurityLevel) { queue.add(.paired(central, level)) }

    /// Counts a Write Command that the device had no time for, as a lost event.
    @LoopActor func lost() { queue.close(throwing: Overrun(count: 1)) }
  }
}
