// SPDX-License-Identifier: Apache-2.0

/// A device during ``Adapter/withConnection(to:_:_:)``.
///
/// Several tasks may call its methods at once: requests wait for each other, as ATT demands (Vol 3 Part F §3.3.2). After the body
/// of that call, they throw ``BluetoothError/Reason/disconnected``.
public final class ConnectedDevice: Sendable {
  let adapter: Adapter
  let connection: Connection
  private let options: ConnectionOptions
  private let knownMTU: Guarded<Int>
  let lifeline = Lifeline()
  /// The ends of this device's sequences that are under way.
  let endings = Endings()

  /// The device.
  public let peripheral: Peripheral

  /// Connects, demands security and asks for parameters.
  @LoopActor init(_ peripheral: Peripheral, _ options: ConnectionOptions, _ adapter: Adapter) async throws {
    (self.peripheral, self.options, self.adapter) = (peripheral, options, adapter)
    let links = OneShotLinks(adapter.session, SilentReporter(name: peripheral.name), nil)
    connection = try await links.open(try options.request(for: peripheral))
    knownMTU = Guarded(connection.client.mtu)
    lifeline.keep(connection, adapter.session, options.reconnect.attempts == 0 ? nil : reconnection)
  }

  @LoopActor func close() async {
    await lifeline.end(connection)
    await adapter.links.release(connection)
  }

  /// The policy of the options, with all its numbers in their ranges.
  var reconnection: ReconnectPolicy {
    var policy = options.reconnect
    policy.attempts = policy.attempts.map { max(0, $0) }
    (policy.firstPause, policy.longestPause) = (max(.milliseconds(1), policy.firstPause), max(.milliseconds(1), policy.longestPause))
    return policy
  }

  /// Runs a call on the link, after a restoration that may be under way.
  func call<Value: Sendable>(_ body: @escaping @LoopActor @Sendable (Connection) async throws -> Value) async throws -> Value {
    try await adapter.call { [self] in
      try await endings.settle()
      return try await present(body)
    }
  }

  @LoopActor func present<Value>(_ body: @LoopActor (Connection) async throws -> Value) async throws -> Value {
    try await connection.untilRestored()
    if let error = lifeline.failure { throw error }
    defer { knownMTU.withLock { $0 = connection.client.mtu } }
    do { return try await body(connection) } catch { throw connection.withDemand(error) }
  }

  // MARK: Attributes

  /// Returns the services of the device (Vol 3 Part G §4.4). Discovers them at the first call.
  /// - Throws: ``BluetoothError``, CancellationError.
  public func services() async throws -> [RemoteService] {
    try await call { [self] in
      let table = try await $0.client.discover()
      return table.services.map { RemoteService($0, in: table, of: self) }
    }
  }

  /// Finds a characteristic or a descriptor. Discovers the services at the first call.
  /// - Parameter name: The name. If several attributes match, name the service or the position, too.
  /// - Throws: ``BluetoothError`` with the reasons ``BluetoothError/Reason/notFound``, ``BluetoothError/Reason/ambiguous`` or
  ///   ``BluetoothError/Reason/invalidArgument``, and those of a request; CancellationError.
  public func characteristic(_ name: AttributeName) async throws -> RemoteCharacteristic {
    try await call { [self] in
      let selector = try name.selector
      return RemoteCharacteristic(try await $0.client.attribute(selector, discovering: true), selector, of: self)
    }
  }

  // MARK: The link

  /// The ATT_MTU that the device granted, 23…517 bytes (Vol 3 Part F §3.2.8). One packet carries three bytes less of a value.
  public var mtu: Int { knownMTU.withLock { $0 } }

  /// Pairs with the device, and stores the bond in the adapter's ``KeyRing``. An existing bond of at least `level` suffices. A restored link
  /// must reach `level`, too.
  /// - Parameters:
  ///   - delegate: The answers to the questions. Its abilities decide about the method.
  ///   - level: The least level of the pairing. ``SecurityLevel/authenticated`` detects an attacker in the middle. It needs a passkey or a
  ///     comparison, so the device and the delegate must be able to show or to type.
  /// - Returns: The level of the link.
  /// - Throws: ``BluetoothError/Reason/pairing``, ``BluetoothError/Reason/security``, and the reasons of a lost link; CancellationError.
  @discardableResult
  public func pair(_ delegate: any PairingDelegate, level: SecurityLevel = .encrypted) async throws -> SecurityLevel {
    try await call { connection in
      guard let security = connection.security else {
        throw InsufficientSecurity(demanded: level, found: nil, isOfSystem: false)
      }
      let wish = PairingWish(delegate, with: connection.peer, level: level, isOfCommand: true)
      // Afterwards, the link pairs again when the device demands it, as its options say.
      let ofLink = security.wish
      security.take(wish)
      defer { security.take(ofLink) }
      var needed = wish.parameters
      needed.requestsMITM = level >= .authenticated
      let known = try await security.existingBond(for: needed)
      let result = if let known { known } else { try await security.pair(wish) }
      connection.leastSecurity = max(connection.leastSecurity, level)
      return result.security.level
    }
  }

  /// Waits until the link is lost and no attempt to restore it is left.
  /// - Returns: The reason.
  /// - Throws: CancellationError.
  public func untilDisconnected() async throws -> BluetoothError {
    try await adapter.call { [self] in BluetoothError(try await lifeline.over.value()) }
  }
}
