package import Bluetooth
package import EventLoop
package import Finding
package import GAP
package import GATT
package import Text

/// An adapter with the links, clients and subscriptions on it. A command of the shell is a session with one step; a session that stays open
/// runs many, one after the other or side by side.
@LoopActor
package final class Session {
  /// The time limits for the steps of a connection.
  package struct Limits: Sendable, Equatable {
    package var connecting = Duration.seconds(20)
    /// An ATT transaction, Vol 3 Part F §3.3.3.
    package var transaction = Duration.seconds(30)
    /// The number of retries if a connection fails, or the device closes it before it answers.
    package var retries = 1

    package init() {}
  }

  /// Sees the clients of one connection. A type of its own, so that a trailing closure cannot be taken for it.
  package struct ClientObserver: Sendable {
    let onClient: @LoopActor (Client) -> Void

    package init(onClient: @escaping @LoopActor (Client) -> Void) { self.onClient = onClient }
  }

  /// Sees every client before anything is sent: for its notes and PDUs.
  package var onClient: (@LoopActor (Client) -> Void)?
  /// Sees every advertising report of a session that stays open, whoever asked for it.
  package var onReport: (@LoopActor (AdvertisingReport) -> Void)?
  /// Called before a connection ends.
  package var onDisconnect: (@LoopActor (Connection) -> Void)?
  /// Its clients ask to be told when a peer's services change. (A single step is over before they do, and would pay a round trip.)
  package var staysOpen = false
  /// In the order in which they were made; without those that were closed here.
  package private(set) var connections: [Connection] = []

  private let open: @LoopActor () async throws -> any Central
  private var opened: (any Central)?
  private var opening: Wait<any Central>?

  /// - Parameter open: makes the adapter ready, at the first need.
  package init(open: @escaping @LoopActor () async throws -> any Central) { self.open = open }

  /// The adapter, opened once, whoever asks first; and anew when it has died.
  /// - Throws: what `open` throws; the next call tries again.
  package func central() async throws -> any Central {
    if let opened, opened.failure == nil { return opened }
    while let opening {
      // Whoever opens it may be cancelled; the others go on and open it themselves.
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
  ///   - selector: by which it was found.
  ///   - observer: sees the client of this connection, and of each restored link, before anything is sent.
  ///   - asking: what the device is asked first. It is connected when it has answered; a device that closes the link before is tried again.
  /// - Throws: as `Central.connect`, and why the link was lost meanwhile. Nothing is left behind.
  package func connect(
    _ peer: PeerAddress, name: UntrustedText? = nil, foundBy selector: PeerSelector? = nil, limits: Limits = Limits(),
    observer: ClientObserver? = nil,
    asking: @escaping @LoopActor (Connection) async throws -> Void = { try await $0.client.exchangeMTU() }
  ) async throws -> Connection {
    try await central().connect(peer, timeout: limits.connecting, retries: limits.retries) { [self] link, retries in
      let client = client(on: link, limits, observer)
      let connection = Connection(link, client, name: name, selector: selector, limits: limits, retries: retries, clientObserver: observer)
      connections.append(connection)
      do { try await asking(connection) } catch {
        await disconnect(connection)
        throw error
      }
      return connection
    }
  }

  func client(on link: any Link, _ limits: Limits, _ observer: ClientObserver?) -> Client {
    let client = Client(link.channel, timeout: limits.transaction)
    client.followsServiceChanges = staysOpen
    onClient?(client)
    observer?.onClient(client)
    return client
  }

  /// What was subscribed to is switched off again, then the link is taken down; also in a cancelled task. A peer that does not answer keeps nobody
  /// waiting. A restoration that is under way ends.
  package func disconnect(_ connection: Connection) async {
    connections.removeAll { $0 === connection }
    onDisconnect?(connection)
    await connection.end()
    await shielded {
      if connection.isOpen {
        let limit = EventLoop.shared.now.advanced(by: .seconds(1))
        _ = try? await withDeadline(limit) { try await connection.client.unsubscribeAll() }
      }
      await connection.takeDown()
    }
  }

  /// Links down, scan off, the adapter closed; also in a cancelled task. The next command opens it again.
  package func close() async {
    if let opening { await shielded { _ = try? await opening.value() } }
    let ending = connections.map { connection in EventLoop.shared.spawn { await self.disconnect(connection) } }
    for task in ending { await task.value }
    guard let central = opened else { return }
    opened = nil
    await shielded { await central.close() }
  }
}
