import ATT
package import Bluetooth
import DeviceFiles
package import EventLoop
package import Finding
package import GATT
package import Operations
import Presentation
package import Text

/// A device of a session, with its link, its background subscriptions and the commands that wait for it.
@LoopActor
package final class Lane {
  /// The selector that the user typed.
  package var selector: PeerSelector
  let queue = TurnQueue()
  package private(set) var connection: Connection?
  /// The reason why the device is not connected.
  package private(set) var problem: (any Error)?
  /// The values since the start of the last command. `wait` takes them.
  package private(set) var recent: [(event: ValueEvent, uuid: UUID?)] = []
  /// The number of values that `recent` dropped and that no command has reported yet.
  private var forgotten = 0
  /// The number of values per attribute that preceded the last command. `wait` ignores them and reports their number once.
  private var passed: [AttributeHandle: Int] = [:]
  /// The last command on the current link, except `wait`.
  private(set) var lastCommand: String?
  private var arrived: Wait<Void>?
  private(set) var background: BackgroundValues?
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?
  /// The task that restores a lost link.
  var restoration: Task<Void, Never>?
  /// The device of the current or the last link.
  package var lastPeer: PeerAddress?
  /// The device description, once `call` has loaded it.
  var device: DeviceDescription?
  /// The device that the running command connects to, or that it connected to without giving the link to the session.
  package var destination: (peer: PeerAddress, name: UntrustedText?)?
  /// The device that was current before this device started to connect.
  weak var before: Lane?
  /// Whether the connection failed, so that `before` is the current device again.
  var hasFailed = false
  /// The lane of the same device that this lane joined.
  private var successor: Lane?
  /// The other selectors of the same device, from the lanes that joined this lane.
  private var otherSelectors: [PeerSelector] = []

  /// The number of values that `recent` keeps.
  package var recentLimit = 1024
  /// The number of values that `recent` has dropped, because it keeps only the latest.
  private var removed = 0

  init(_ selector: PeerSelector) { self.selector = selector }

  /// The name of the device, or the typed selector, for people.
  var title: String { connection?.title ?? selector.description }

  var isConnected: Bool { connection?.isOpen ?? false }

  package func isMeant(by selector: PeerSelector) -> Bool {
    self.selector.isSame(as: selector) || otherSelectors.contains(selector) || connection?.isMeant(by: selector) ?? false
      || isDestination(selector)
  }

  private func isDestination(_ selector: PeerSelector) -> Bool { destination.map { selector.means($0.peer, named: $0.name) } ?? false }

  /// Returns whether this lane has or will have a link to the device, so that no search can find the device.
  func holds(_ selector: PeerSelector) -> Bool {
    if let connection, connection.isOpen || connection.isBeingRestored, connection.isMeant(by: selector) { return true }
    return isDestination(selector)
  }

  /// The address of the device, if known.
  var peer: PeerAddress? {
    if let peer = connection?.peer ?? destination?.peer ?? lastPeer { return peer }
    if case .address(let address, let type?) = selector { return PeerAddress(address, type) }
    return nil
  }

  func isOf(_ peer: PeerAddress) -> Bool { destination?.peer == peer || connection?.peer == peer }

  /// The last lane in the chain of joined lanes. This lane itself if it joined none.
  package var present: Lane { successor?.present ?? self }

  /// Joins another lane of the same device. Commands that wait for this lane then wait for the other.
  func join(_ other: Lane) {
    queue.join(other.queue)
    other.otherSelectors += otherSelectors + [selector]
    detach()
    successor = other
  }

  /// Takes over a connection and watches for its loss.
  /// - Parameter whenLost: Receives the reason when the link is lost, unless `detach` was called before.
  func attach(_ connection: Connection, whenLost: @escaping @LoopActor (any Error) -> Void) {
    if connection !== self.connection {
      detach()
      (passed, lastCommand) = ([:], nil)
    }
    observer?.cancel()
    loss?.cancel()
    self.connection = connection
    lastPeer = connection.peer
    problem = nil
    observer = connection.client.observeValues(onExhaustion: { [weak self] in self?.wake() }) { [weak self] event in self?.add(event) }
    loss = EventLoop.shared.spawn { [weak self] in
      guard let reason = try? await connection.client.untilClosed(), !Task.isCancelled else { return }
      self?.problem = reason
      whenLost(reason)
    }
  }

  func detach() {
    observer?.cancel()
    loss?.cancel()
    restoration?.cancel()
    (observer, loss, connection, background, restoration) = (nil, nil, nil, nil, nil)
  }

  /// Stops restoring a lost link.
  func giveUp() {
    restoration?.cancel()
    restoration = nil
  }

  /// Whether the link may return. True while the session restores the link or has not decided yet.
  var mayComeBack: Bool { problem == nil || restoration != nil }

  func fail(_ error: any Error) { problem = error }

  // MARK: Values

  func backgroundValues(_ make: () -> BackgroundValues) -> BackgroundValues {
    if let background { return background }
    let values = make()
    background = values
    return values
  }

  /// Forgets the earlier values when a command starts. They cannot be its answers.
  package func forget(for command: String? = nil) {
    lastCommand = command
    for value in recent { passed[value.event.handle, default: 0] += 1 }
    recent.removeAll(keepingCapacity: true)
    forgotten = 0
  }

  /// Returns the number of values of an attribute before the last command. Nil if there were none, or after the first call.
  func takePassed(_ handle: AttributeHandle) -> Int? { passed.removeValue(forKey: handle) }

  /// Returns the number of values that `recent` dropped since the last command. Nil if there were none, or after the first call.
  package func takeForgotten() -> Int? {
    defer { forgotten = 0 }
    return forgotten > 0 ? forgotten : nil
  }

  private func add(_ event: ValueEvent) {
    // Remove values in batches, because each removal moves all others.
    if recent.count >= recentLimit + 256 {
      recent.removeFirst(256)
      forgotten += 256
      removed += 256
    }
    recent.append((event, connection?.client.table?.attribute(at: event.handle).uuid))
    wake()
  }

  private func wake() {
    arrived?.resume(returning: ())
    arrived = nil
  }

  /// Removes and returns the first value since the last command that satisfies `fits`.
  /// - Parameter isNeeded: See `SubscribedValues.next`.
  /// - Returns: Nil at `deadline`.
  /// - Throws: The reason for a lost link; if the value is needed, the reason why none can arrive; CancellationError.
  package func value(until deadline: LoopClock.Instant, isNeeded: Bool, where fits: (ValueEvent) -> Bool) async throws -> (
    event: ValueEvent, uuid: UUID?
  )? {
    // Do not check values twice.
    var judged = removed
    while true {
      let first = max(0, judged - removed)
      if let index = recent[min(first, recent.count)...].firstIndex(where: { fits($0.event) }) { return recent.remove(at: index) }
      judged = removed + recent.count
      guard let connection else { throw CancellationError() }
      if let reason = connection.client.closed { throw reason }
      if isNeeded, let reason = connection.client.exhausted { throw reason }
      let wait = arrived ?? Wait<Void>()
      arrived = wait
      let isOver = try await race({ try await wait.value(until: deadline) == nil }, { throw try await connection.client.untilClosed() })
      if isOver { return nil }
    }
  }
}
