// SPDX-License-Identifier: Apache-2.0
/// A Bluetooth adapter: it scans and connects as a central, and serves a device as a peripheral.
///
/// All methods work from any actor and thread, and also from a callback of the library. What the adapter does runs on a thread of the
/// library, which starts with the first call. An adapter closes with ``close()``, or when the program drops it.
///
/// ```swift
/// let adapter = try await Adapter.open(.h4("tcp:127.0.0.1:9000"))
/// try await adapter.withConnection(to: try await adapter.find("Band-7")) { band in
///   print(try await band.characteristic(.batteryLevel).read().decoded ?? "unknown")
/// }
/// ```
public final class Adapter: Sendable {
  let session: Session
  package let links: OneShotLinks
  /// The adapter in messages, such as `tcp:127.0.0.1:9000`.
  public let name: String
  /// The keys of bonded devices.
  public let keys: KeyRing
  let bonds: KeyRingBonds
  /// Whether ``serve(_:_:)`` runs.
  @LoopActor var isServing = false
  /// The memory of the served devices about their bonded centrals.
  @LoopActor var centrals: [BondedCentral] = []

  @LoopActor private init(_ source: AdapterSource, _ keys: KeyRing) {
    let bonds = KeyRingBonds(keys)
    (name, self.keys, self.bonds) = (source.description, keys, bonds)
    session = Session { try await source.open(bonds) }
    session.bonds = bonds
    session.staysOpen = true
    links = OneShotLinks(session, SilentReporter(), nil)
  }

  deinit {
    let session = session
    EventLoop.shared.spawn { await session.close() }
  }

  /// Opens an adapter. The first call chooses the clock of the process, virtual or real, even if it throws: see <doc:VirtualTime>.
  /// - Parameters:
  ///   - source: The adapter, such as `.default` of `BluetoothLELinux`, `.h4("tcp:127.0.0.1:9000")`, or that of a `Simulator`.
  ///   - keys: The keys of bonded devices. An empty key ring keeps new bonds as long as the adapter exists.
  /// - Throws: ``BluetoothError`` with the reasons ``BluetoothError/Reason/adapter``, ``BluetoothError/Reason/timeout``,
  ///   ``BluetoothError/Reason/clock``, or ``BluetoothError/Reason/invalidArgument`` for a wrong address; CancellationError.
  public static func open(_ source: AdapterSource, keys: KeyRing = KeyRing()) async throws -> Adapter {
    do { try EventLoop.shared.chooseClock(virtual: source.isVirtual) } catch { throw BluetoothError(error) }
    let adapter = try await EventLoop.shared.call { Adapter(source, keys) }
    try await adapter.call { _ = try await adapter.session.central() }
    return adapter
  }

  /// Returns the advertisements that the adapter hears from the beginning of an iteration on.
  /// - Parameters:
  ///   - mode: Whether to ask for scan responses, which may contain the name.
  ///   - phys: The PHYs to scan on, 1M, coded or both. 2M carries no primary advertisements (Vol 6 Part B §2.3.4.1),
  ///     so an iteration with 2M alone throws ``BluetoothError/Reason/invalidArgument``.
  public func advertisements(_ mode: Advertisements.Mode = .active, on phys: Set<PHY> = [.le1M]) -> Advertisements {
    var parameters = ScanParameters()
    (parameters.isActive, parameters.phys) = (mode == .active, phys)
    return Advertisements(adapter: self, parameters: parameters)
  }

  /// Finds a device that accepts connections, the strongest of several. It waits 1.3 s for a stronger one.
  /// - Parameters:
  ///   - device: A name with or without wildcards (`Band-7`, `Band-*`), in any case; an address (`D1:00:00:00:00:10`); `mac:` and the MAC
  ///     in its advertisement; or `service:` and a UUID. The plain name of a bonded device means that device only. A name that looks like
  ///     one of the others takes `name:` before it.
  ///   - limit: The limit of the search.
  /// - Throws: ``BluetoothError/Reason/notFound`` at the limit, ``BluetoothError/Reason/unsupported`` if the device accepts no connections,
  ///   ``BluetoothError/Reason/invalidArgument`` for a text that is none of these, other reasons of ``BluetoothError``; CancellationError.
  public func find(_ device: String, within limit: Duration = TimeLimits.search) async throws -> Peripheral {
    guard let selector = PeerSelector(device) ?? Self.name(device) else {
      let advice = "Use a name, an address, mac:MAC or service:UUID."
      throw BluetoothError(.invalidArgument, "\"\(device)\" means no device. \(advice)", nil)
    }
    return try await call { [links] in
      let found = try await links.session.find(PeerSearch(selector, limit: limit), links.reporter)
      return Peripheral(found.peer, name: found.name)
    }
  }

  /// Connects to a device, runs `body`, and disconnects on every path. Links to several devices may be open at the same time.
  ///
  /// A pairing that is under way at the end of `body` is canceled.
  ///
  /// In virtual time, the clock stands still while `body` does something else than waiting for the library: see <doc:VirtualTime>.
  /// - Parameters:
  ///   - peripheral: The device.
  ///   - options: What the connection demands and asks for.
  ///   - body: The work with the device. It runs on the actor of the caller.
  /// - Returns: The result of `body`.
  /// - Throws: ``BluetoothError/Reason/timeout`` if the device does not accept the connection, ``BluetoothError/Reason/security`` if the
  ///   link is not as secure as demanded, other reasons of ``BluetoothError``; CancellationError; the error of `body`.
  public func withConnection<Value>(
    to peripheral: Peripheral, _ options: ConnectionOptions = ConnectionOptions(), _ body: (ConnectedDevice) async throws -> Value
  ) async throws -> Value {
    try await EventLoop.shared.call(
      for: self, opening: { try await BluetoothError.wrapping { try await ConnectedDevice(peripheral, options, self) } },
      closing: { await $0.close() }, body: body)
  }

  /// Ends all scans and connections, and closes the adapter. The next operation opens it again. Calls on open links throw
  /// ``BluetoothError/Reason/disconnected``.
  public func close() async { _ = try? await call { [session] in await shielded { await session.close() } } }

  /// Returns nil for an empty text, and for a wrong `mac:`, `service:` or `name:`, which would match nothing.
  private static func name(_ text: String) -> PeerSelector? {
    text.isEmpty || ["mac:", "service:", "name:"].contains { text.hasPrefix($0) } ? nil : .name(text)
  }

  /// Runs a call of the library on the loop.
  /// - Throws: BluetoothError, CancellationError.
  func call<Value: Sendable>(_ body: @escaping @LoopActor @Sendable () async throws -> Value) async throws -> Value {
    try await BluetoothError.wrapping {
      try await EventLoop.shared.call(for: self, body)
    }
  }
}
