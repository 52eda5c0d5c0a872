import Bluetooth
import EventLoop
import GATT
import Operations
import Text

/// What `subscribe` has subscribed to: the values are shown as they come, whatever runs meanwhile.
@LoopActor
final class BackgroundValues {
  private let values: SubscribedValues
  private var formats: [UUID: ValueFormat] = [:]
  private var task: Task<Void, Never>?

  /// - Parameter show: may wait for whoever reads.
  init(
    _ connection: Connection, onDrop: @escaping @LoopActor (Int) -> Void,
    show: @escaping @LoopActor (ValueEvent, UUID, ValueFormat) async throws -> Void
  ) {
    values = SubscribedValues(lastingOn: connection, onDrop: onDrop)
    task = EventLoop.shared.spawn { [weak self, values] in
      // Why it ends is told by whoever watches the link.
      while let (event, uuid) = try? await values.next(until: nil) {
        let format = self?.formats[uuid] ?? .auto
        do { try await show(event, uuid, format) } catch { break }
      }
    }
  }

  func contains(_ characteristic: Characteristic) -> Bool {
    values.characteristics.contains { $0.valueHandle == characteristic.valueHandle }
  }

  /// - Throws: as `SubscribedValues.add`.
  func add(_ characteristic: Characteristic, _ format: ValueFormat) async throws {
    formats[characteristic.uuid] = format
    try await values.add(characteristic)
  }

  /// - Throws: as `Subscription.cancel`.
  func remove(_ characteristic: Characteristic) async throws {
    try await values.remove(characteristic)
  }

  /// - Throws: as `remove`.
  func removeEach() async throws {
    try await values.removeAll()
  }

  /// The end.
  func end() async {
    await values.end()
    task?.cancel()
  }
}
