// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A device of an update that is reached over the links of a command, of a session or of the library.
@LoopActor
package final class LinkedUpdateDevice: UpdateDevice {
  /// The open or lost connection to the device. Nil before the first one, and while the device restarts.
  package private(set) var connection: Connection?
  private let links: any DeviceLinks
  private let forget: @LoopActor (Connection) async -> Void
  private let original: LinkRequest
  /// The request that finds the device as it is now: the application or its bootloader.
  private var request: LinkRequest
  /// The addresses of the first and of the last connection.
  private var firstPeer, lastPeer: PeerAddress?
  private var policy = ReconnectPolicy.forever
  /// The largest number of bytes of the current upload that the device has confirmed.
  private var furthest = 0

  /// The attempts to connect again after the device has last made progress.
  private static let attempts = 8
  /// The time in which a device ends the link after a command that restarts it.
  private static let restartLimit = Duration.seconds(5)

  /// - Parameter forget: Takes down a connection whose device restarts. The links use none of its handles again.
  package init(_ links: any DeviceLinks, _ request: LinkRequest, forget: @escaping @LoopActor (Connection) async -> Void) {
    (self.links, self.request, original, self.forget) = (links, request, request, forget)
    allowAttempts()
  }

  /// Allows all attempts to reconnect again after progress: the device has confirmed more bytes of the upload than ever before. A device
  /// that fails at the same byte each time makes none. The owner of the update passes all events.
  package func follow(_ event: UpdateEvent) {
    switch event {
    case .began(.upload): furthest = 0
    case .progress(_, let confirmed, _) where confirmed > furthest:
      furthest = confirmed
      allowAttempts()
    default: break
    }
  }

  private func allowAttempts() {
    policy = ReconnectPolicy(attempts: Self.attempts, longestPause: .seconds(8))
  }

  /// The address of the device, if it is another one than at the beginning.
  package var newPeer: PeerAddress? { lastPeer == firstPeer ? nil : lastPeer }

  package func client() async throws -> Client {
    if let connection, connection.isOpen { return connection.client }
    return try await connect()
  }

  package func reconnect(after error: any Error) async throws -> Client {
    var (cause, policy) = (error, policy)
    while true {
      defer { self.policy = policy }
      do { try await links.pause(after: cause, &policy) } catch let last {
        // The loss of the link says more than the last attempt.
        throw ReconnectPolicy.mayPass(last) ? error : last
      }
      do { return try await connect() } catch { cause = error }
    }
  }

  /// Runs `body`, and again on a new link after each lost one.
  /// - Throws: The errors of `body`, of `client` and of `reconnect`.
  package func resuming<T: Sendable>(_ body: @LoopActor (Client) async throws -> T) async throws -> T {
    var client = try await client()
    while true {
      do { return try await body(client) } catch  where client.isLost(by: error) { client = try await reconnect(after: error) }
    }
  }

  private func connect() async throws -> Client {
    if let lost = connection, !links.keeps(lost) {
      connection = nil
      await links.session.disconnect(lost)
    }
    request.restores = connection != nil
    let opened = try await links.connection(for: request)
    (connection, lastPeer) = (opened, opened.identityAddress)
    firstPeer = firstPeer ?? lastPeer
    return opened.client
  }

  package func restarted(as identity: RestartedIdentity, within patience: Duration) async throws -> Client? {
    if let old = connection {
      let limit = EventLoop.shared.now.advanced(by: Self.restartLimit)
      _ = try await withDeadline(limit) { try await old.client.untilClosed() }
      connection = nil
      await forget(old)
    }
    request = original
    if let selector = selector(for: identity) { request.selector = selector }
    // Another device of this name would get the firmware.
    if case .named = identity { request.demandsOne = true }
    // The address alone has no name.
    (request.connects, request.waits, request.patience, request.looksUpName) = (true, true, patience, true)
    defer { (request.waits, request.patience) = (original.waits, original.patience) }
    do { return try await connect() } catch  where ReconnectPolicy.mayPass(error) { return nil }
  }

  /// Returns the selector of the device after a restart. Nil for that of the user, if the device changes its address.
  private func selector(for identity: RestartedIdentity) -> PeerSelector? {
    func address(adding step: UInt64) -> PeerSelector? { (lastPeer?.adding(step)).map { .address($0.address, $0.type) } }
    func same(_ peer: PeerAddress?) -> PeerSelector? { peer.flatMap { $0.isIdentity ? .address($0.address, $0.type) : nil } }
    return switch identity {
    case .same: same(lastPeer)
    case .original: same(firstPeer)
    case .nextAddress: address(adding: 1)
    case .previousAddress: address(adding: 0xFF)
    case .named(let name): .name(Glob.literal(name))
    }
  }
}

extension PeerAddress {
  /// Returns the address whose last byte is greater by a number, modulo 256.
  package func adding(_ step: UInt64) -> Self {
    Self(Address(rawValue: address.rawValue & ~0xFF | (address.rawValue &+ step) & 0xFF), type)
  }
}
