import BluetoothLE

/// The background subscriptions on one connection. Shows each value that arrives while other commands run.
@LoopActor
final class BackgroundValues {
  let values: SubscribedValues
  private let showing: Task<Void, Never>

  /// Creates an empty list of subscriptions and starts the task that shows their values.
  /// - Parameters:
  ///   - onDrop: A function that receives the number of values that the output did not show.
  ///   - onMissing: A function that receives the subscriptions that ended because the peer's services changed.
  ///   - show: A function that shows a value. May wait for the reader of the output.
  init(
    _ connection: Connection, onDrop: @escaping @LoopActor (Int) -> Void,
    onMissing: @escaping @LoopActor ([Restoration.Missing]) -> Void,
    show: @escaping @LoopActor (Connection, ValueEvent, UUID, ValueFormat) async throws -> Void
  ) {
    let values = SubscribedValues(lastingOn: connection, onDrop: onDrop)
    values.onRenewed = onMissing
    self.values = values
    showing = EventLoop.shared.spawn {
      // The task that watches the link reports why it ended.
      while let (event, uuid, format) = try? await values.nextToShow(until: nil) {
        do { try await show(values.connection ?? connection, event, uuid, format) } catch { values.abandon(taken: 1) }
      }
      if Task.isCancelled { values.abandon(taken: 0) }
    }
  }

  /// Returns whether the list contains the subscription to a characteristic.
  /// - Parameter handle: The handle of the characteristic's value.
  func contains(_ handle: AttributeHandle) -> Bool { values.characteristics.contains { $0.valueHandle == handle } }

  /// Waits until the output has all received values. Call this after `values.end()`. A canceled call reports how many values are lost.
  func untilShown() async { await withTaskCancellationHandler(operation: { await showing.value }, onCancel: { showing.cancel() }) }
}
