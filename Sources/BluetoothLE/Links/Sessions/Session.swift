// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// An adapter with its links, clients and subscriptions. A one-shot command uses a session for one step. An open session runs many
/// commands, also in parallel.
@LoopActor
package final class Session {
  /// The time limits and the number of retries of a connection.
  package struct Limits: Sendable, Equatable {
    package var connecting = Duration.seconds(20)
    /// The time limit of an ATT transaction.
    package var transaction = Bearer.transactionTimeout
    /// The number of retries after a failed connection attempt, or after the device closed the link without an answer.
    package var retries = 1
    /// The time limit for ending subscriptions.
    package static let unsubscribing = Duration.seconds(1)

    package init() {}
  }

  /// An observer of the clients of one connection. Each restored link has a new client.
  package struct ClientObserver: Sendable {
    // A separate type, so that no trailing closure binds to it.
    let onClient: @LoopActor (Client) -> Void

    package init(onClient: @escaping @LoopActor (Client) -> Void) { self.onClient = onClient }
  }

  /// The observer of every client. The session calls it before the client sends anything.
  package var onClient: (@LoopActor (Client) -> Void)?
  /// The observer of every advertising report of an open session.
  package var onReport: (@LoopActor (AdvertisingReport) -> Void)?
  /// The observer of disconnections. The session calls it before a connection ends.
  package var onDisconnect: (@LoopActor (Connection) -> Void)?
  /// The key store. Nil if the session uses no bonds.
  package var bonds: (any BondKeeper)?
  /// The reason why the adapter gets no keys. Nil if it may.
  package var withholding: (any Error)?
  /// The observer of security events.
  package var onSecurity: (@LoopActor (SecurityEvent, Connection) -> Void)?
  /// Whether the session stays open for more commands. If so, its clients enable Service Changed indications at the cost of one round trip.
  package var staysOpen = false
  /// The connections in the order of their creation, without those that the session closed.
  package private(set) var connections: [Connection] = []

  private let open: @LoopActor () async throws -> any Central
  private var opened: (any Central)?
  private var opening: Wait<any Central>?

  /// Creates a session. `open` prepares the adapter at first use.
  package init(open: @escaping @LoopActor () async throws -> any Central) { self.open = open }

  /// Returns the adapter. Opens the adapter at first use, and again after a failure.
  /// - Throws: The errors of `open`. The next call tries again.
  package func central() async throws -> any Central {
    if let opened, opened.failure == nil { return opened }
    while let opening {
      // If the opening task is canceled, another caller opens it.
      do { return try await opening.value() } catch is CancellationError { try Task.checkCancellation() }
    }
    if let opened, opened.failure == nil { return opened }
    let opening = Wait<any Central>()
    self.opening = opening
    defer { self.opening = nil }
    if let dead = opened {
      opened = nil
      await shielded { await dead.close() }
    }
    do {
      let made = try await open()
      if let bonds, let adapter = made.identity { made.useBonds { try bonds.bonds(of: adapter).map(\.bond) } }
      let central = staysOpen ? shared(made) : made
      opened = central
      opening.resume(returning: central)
      return central
    } catch {
      opening.resume(throwing: error)
      throw error
    }
  }

  private func shared(_ central: any Central) -> SharedCentral {
    let shared = SharedCentral(central)
    shared.onReport = { [weak self] in self?.onReport?($0) }
    return shared
  }

  /// Connects to a peer. Other links stay up.
  /// - Parameters:
  ///   - selector: The selector that found the peer.
  ///   - observer: Receives the client of this connection and of each restored link, before the client sends anything.
  ///   - asking: Sends the first requests. If the device closes the link before it answers, the session connects again.
  /// - Throws: The errors of `Central.connect`; the error that ended the link. No link stays open after an error.
  package func connect(
    _ peer: PeerAddress, name: UntrustedText? = nil, foundBy selector: PeerSelector? = nil, limits: Limits = Limits(),
    observer: ClientObserver? = nil, security demand: SecurityDemand = (nil, .unencrypted),
    asking: @escaping @LoopActor (Connection) async throws -> Void = { try await $0.client.exchangeMTU() }
  ) async throws -> Connection {
    try await central().connect(peer, timeout: limits.connecting, retries: limits.retries) { [self] link, retries in
      let client = client(on: link, limits, observer)
      let connection = Connection(link, client, name: name, selector: selector, limits: limits, retries: retries, clientObserver: observer)
      connections.append(connection)
      do {
        try await secure(connection, demand.wish)
        try await connection.secure(to: demand.level)
        try await asking(connection)
      } catch {
        let error = connection.withDemand(error)
        await disconnect(connection)
        throw error
      }
      return connection
    }
  }

  /// Returns the bonds of the adapter. Empty if the session uses no bonds.
  /// - Throws: The errors of the adapter and of the key store.
  func bondsOfAdapter() async throws -> [StoredBond] {
    // Opening the adapter may change `bonds`.
    guard let adapter = try await central().identity, let bonds else { return [] }
    return try bonds.bonds(of: adapter)
  }

  /// Returns the resolver of the devices that the adapter has bonds with. Nil without a bond that has an IRK.
  /// - Throws: The errors of the adapter and of the key store.
  package func resolver(adding keys: [(irk: UInt128, address: PeerAddress?)] = []) async throws -> IdentityResolver? {
    let keys = keys + (try await bondsOfAdapter().identityKeys)
    return keys.isEmpty ? nil : IdentityResolver(keys)
  }

  /// Encrypts a new link if there is a bond with its device. Does nothing if the host of the adapter does not pair.
  func secure(_ connection: Connection, _ wish: PairingWish?) async throws {
    guard let procedures = connection.link.security, let adapter = try await central().identity else { return }
    let security = ConnectionSecurity(
      procedures, connection.peer, name: connection.name?.raw, adapter: adapter, bonds, wish)
    security.withholding = withholding
    connection.security = security
    security.limit = connection.limits.transaction
    security.onEvent = { [weak self, weak connection] event in
      guard let self, let connection else { return }
      onSecurity?(event, connection)
    }
    connection.client.onSecurityNeeded = { [weak security] in try await security?.raise(for: $0) ?? false }
    try await security.begin()
  }

  func client(on link: any Link, _ limits: Limits, _ observer: ClientObserver?) -> Client {
    let client = Client(link.channel, timeout: limits.transaction)
    client.followsServiceChanges = staysOpen
    onClient?(client)
    observer?.onClient(client)
    // After a transaction timeout, only the bearer is closed (Vol 3 Part F §3.3.3). The device accepts connections again without the link.
    if staysOpen { EventLoop.shared.spawn { if (try? await client.untilClosed()) != nil { await link.disconnect() } } }
    return client
  }

  /// Unsubscribes within one second, then disconnects. Stops a running restoration. Also works in a canceled task.
  package func disconnect(_ connection: Connection) async {
    connections.removeAll { $0 === connection }
    onDisconnect?(connection)
    // A session stops at once: its user may have pressed Ctrl-C.
    await connection.security?.settle(within: staysOpen ? .zero : PairingFailure.longestSilence)
    await connection.end()
    await shielded {
      if connection.isOpen {
        let limit = EventLoop.shared.now.advanced(by: Limits.unsubscribing)
        _ = try? await withDeadline(limit) { try await connection.client.unsubscribeAll() }
      }
      await connection.takeDown()
    }
  }

  /// Disconnects, stops scanning and closes the adapter. Also works in a canceled task. The next command opens the adapter again.
  package func close() async {
    if let opening { await shielded { _ = try? await opening.value() } }
    let ending = connections.map { connection in EventLoop.shared.spawn { await self.disconnect(connection) } }
    for task in ending { await task.value }
    guard let central = opened else { return }
    opened = nil
    await shielded { await central.close() }
  }
}
