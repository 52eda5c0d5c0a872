import ATT
package import Bluetooth
import DeviceFiles
package import EventLoop
package import Finding
package import GATT
package import Operations
import Presentation
package import Text

/// One device of a session: its link, what is subscribed to in the background, and the commands that wait for it.
@LoopActor
package final class Lane {
  /// How the user named it.
  package var selector: PeerSelector
  let queue = TurnQueue()
  package private(set) var connection: Connection?
  /// Why it is not connected.
  package private(set) var problem: (any Error)?
  /// Values that came since the last command began; `wait` takes them.
  package private(set) var recent: [(event: ValueEvent, uuid: UUID?)] = []
  /// How many came before those, untold.
  private var forgotten = 0
  /// How many values `wait` does not look at, because a command began since they came; untold, by their attribute.
  private var passed: [AttributeHandle: Int] = [:]
  /// The last command on the present link that was no `wait`.
  private(set) var lastCommand: String?
  private var arrived: Wait<Void>?
  private(set) var background: BackgroundValues?
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?
  /// Makes a lost link again.
  var restoration: Task<Void, Never>?
  /// The device of the present link, or of the last one.
  package var lastPeer: PeerAddress?
  /// What its device file says, once `call` has asked.
  var device: DeviceDescription?
  /// What the command that runs connects, or has connected for itself.
  package var destination: (peer: PeerAddress, name: UntrustedText?)?
  /// The current device before this one was to be connected.
  weak var before: Lane?
  /// That one is the current device again.
  var hasFailed = false
  /// What this has turned out to be.
  private var successor: Lane?
  /// How it was named besides, before anybody knew that it is the same.
  private var otherSelectors: [PeerSelector] = []

  /// How many values are looked back at.
  package var recentLimit = 1024
  /// The number of values that arrived before those in `recent`.
  private var removed = 0

  init(_ selector: PeerSelector) { self.selector = selector }

  /// For people: the device's name, or how it was named.
  var title: String { connection?.title ?? selector.description }

  var isConnected: Bool { connection?.isOpen ?? false }

  package func isMeant(by selector: PeerSelector) -> Bool {
    self.selector.isSame(as: selector) || otherSelectors.contains(selector) || connection?.isMeant(by: selector) ?? false
      || isDestination(selector)
  }

  private func isDestination(_ selector: PeerSelector) -> Bool { destination.map { selector.means($0.peer, named: $0.name) } ?? false }

  /// Whether it has a link to the device or will have one, so that no search can find it.
  func holds(_ selector: PeerSelector) -> Bool {
    if let connection, connection.isOpen || connection.isBeingRestored, connection.isMeant(by: selector) { return true }
    return isDestination(selector)
  }

  /// The device, where it is known.
  var peer: PeerAddress? {
    if let peer = connection?.peer ?? destination?.peer ?? lastPeer { return peer }
    if case .address(let address, let type?) = selector { return PeerAddress(address, type) }
    return nil
  }

  func isOf(_ peer: PeerAddress) -> Bool { destination?.peer == peer || connection?.peer == peer }

  /// The one that stands for it.
  package var present: Lane { successor?.present ?? self }

  /// Joins another lane of the same device. Commands that wait here then wait there.
  func join(_ other: Lane) {
    queue.join(other.queue)
    other.otherSelectors += otherSelectors + [selector]
    detach()
    successor = other
  }

  /// - Parameter whenLost: told why the link was lost, unless `detach` came before.
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

  /// A lost link is not made again.
  func giveUp() {
    restoration?.cancel()
    restoration = nil
  }

  /// A link that is lost is made again, or that has yet to be decided.
  var mayComeBack: Bool { problem == nil || restoration != nil }

  func fail(_ error: any Error) { problem = error }

  // MARK: Values

  func backgroundValues(_ make: () -> BackgroundValues) -> BackgroundValues {
    if let background { return background }
    let values = make()
    background = values
    return values
  }

  /// A command begins: what came before is nobody's answer any more.
  package func forget(for command: String? = nil) {
    lastCommand = command
    for value in recent { passed[value.event.handle, default: 0] += 1 }
    recent.removeAll(keepingCapacity: true)
    forgotten = 0
  }

  /// How many values of an attribute came before the last command began; once, and nil when none did.
  func takePassed(_ handle: AttributeHandle) -> Int? { passed.removeValue(forKey: handle) }

  /// How many values came before the recent ones; once, and nil when none did.
  package func takeForgotten() -> Int? {
    defer { forgotten = 0 }
    return forgotten > 0 ? forgotten : nil
  }

  private func add(_ event: ValueEvent) {
    // In batches: to take the first away moves all.
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

  /// The first value since the last command that fits; it is taken away.
  /// - Parameter isNeeded: see `SubscribedValues.next`.
  /// - Returns: nil at `deadline`.
  /// - Throws: why the link was lost; of one that is needed, why none comes; CancellationError.
  package func value(until deadline: LoopClock.Instant, isNeeded: Bool, where fits: (ValueEvent) -> Bool) async throws -> (
    event: ValueEvent, uuid: UUID?
  )? {
    // Those that do not fit are not asked about again.
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
