import ATT
import Bluetooth
import EventLoop
import GATT
import Operations
import Text

/// What `subscribe` has subscribed to: the values are shown as they come, whatever runs meanwhile.
@LoopActor
final class BackgroundValues {
  private let values: SubscribedValues
  private let showing: Task<Void, Never>

  /// - Parameters:
  ///   - onDrop: told how many values were not shown so far.
  ///   - onMissing: told what is not subscribed to any more since the peer's services have changed.
  ///   - show: may wait for whoever reads.
  init(
    _ connection: Connection, onDrop: @escaping @LoopActor (Int) -> Void,
    onMissing: @escaping @LoopActor ([Restoration.Missing]) -> Void,
    show: @escaping @LoopActor (ValueEvent, UUID, ValueFormat) async throws -> Void
  ) {
    let values = SubscribedValues(lastingOn: connection, onDrop: onDrop)
    values.onRenewed = onMissing
    self.values = values
    showing = EventLoop.shared.spawn {
      // Why it ends is told by whoever watches the link.
      while let (event, uuid, format) = try? await values.nextToShow(until: nil) {
        do { try await show(event, uuid, format) } catch { values.abandon(taken: 1) }
      }
      if Task.isCancelled { values.abandon(taken: 0) }
    }
  }

  func contains(_ characteristic: Characteristic) -> Bool { contains(characteristic.valueHandle) }

  /// - Parameter handle: of the characteristic's value.
  func contains(_ handle: AttributeHandle) -> Bool { values.characteristics.contains { $0.valueHandle == handle } }

  /// - Throws: as `SubscribedValues.add`.
  func add(_ characteristic: Characteristic, _ format: ValueFormat) async throws { try await values.add(characteristic, as: format) }

  /// - Throws: as `Subscription.cancel`.
  func remove(_ characteristic: Characteristic) async throws { try await values.remove(characteristic) }

  /// - Throws: as `remove`.
  func removeEach() async throws { try await values.removeAll() }

  /// Nothing more comes.
  func end() async { await values.end() }

  /// After the end: returns when all that came was shown. A cancelled task does not wait; what was not shown is told.
  func untilShown() async {
    await withTaskCancellationHandler(operation: { await showing.value }, onCancel: { showing.cancel() })
  }
}
