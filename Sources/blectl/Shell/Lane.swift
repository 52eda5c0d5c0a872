import Bluetooth
import EventLoop
import GATT
import Operations
import Text

/// One device of a session: its link, what is subscribed to in the background, and the commands that wait for it.
@LoopActor
final class Lane {
  /// How the user named it.
  let selector: PeerSelector
  let queue = TurnQueue()
  private(set) var connection: Connection?
  /// Why it is not connected.
  private(set) var problem: (any Error)?
  /// Values that came since the last command began; `wait` takes them.
  private(set) var recent: [(event: ValueEvent, uuid: UUID?)] = []
  private var arrived: Wait<Void>?
  private(set) var background: BackgroundValues?
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?
  /// Makes a lost link again.
  var restoration: Task<Void, Never>?
  /// Of the present link or the one before.
  var lastPeer: PeerAddress?

  /// More than anybody looks back at.
  static let recentLimit = 1024

  init(_ selector: PeerSelector) { self.selector = selector }

  /// For people: the device's name, or how it was named.
  var title: String { connection?.title ?? selector.description }

  var isConnected: Bool { connection?.isOpen ?? false }

  func isMeant(by selector: PeerSelector) -> Bool { self.selector == selector || connection?.isMeant(by: selector) ?? false }

  /// - Parameter whenLost: told why the link was lost, unless `detach` came before.
  func attach(_ connection: Connection, whenLost: @escaping @LoopActor (any Error) -> Void) {
    if connection !== self.connection { detach() }
    observer?.cancel()
    loss?.cancel()
    self.connection = connection
    lastPeer = connection.peer
    problem = nil
    observer = connection.client.observeValues { [weak self] event in self?.add(event) }
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
  func forget() { recent.removeAll(keepingCapacity: true) }

  private func add(_ event: ValueEvent) {
    if recent.count >= Self.recentLimit { recent.removeFirst(Self.recentLimit / 4) }
    recent.append((event, connection?.client.table?.attribute(at: event.handle).uuid))
    arrived?.resume(returning: ())
    arrived = nil
  }

  /// The first value since the last command that fits; it is taken away.
  /// - Returns: nil at `deadline`.
  /// - Throws: why the link was lost; CancellationError.
  func value(until deadline: LoopClock.Instant, where fits: (ValueEvent) -> Bool) async throws -> (event: ValueEvent, uuid: UUID?)? {
    while true {
      if let index = recent.firstIndex(where: { fits($0.event) }) { return recent.remove(at: index) }
      guard let connection else { throw CancellationError() }
      if let reason = connection.client.closed { throw reason }
      let wait = arrived ?? Wait<Void>()
      arrived = wait
      let isOver = try await race({ try await wait.value(until: deadline) == nil }, { throw try await connection.client.untilClosed() })
      if isOver { return nil }
    }
  }
}
