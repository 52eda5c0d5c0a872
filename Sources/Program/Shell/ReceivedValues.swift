package import BluetoothLE

/// The values that a device sent since the start of the last command. Commands such as `wait` remove the values that they accept.
@LoopActor
package final class ReceivedValues: RecentEvents<(event: ValueEvent, uuid: UUID?)> {
  package typealias Value = (event: ValueEvent, uuid: UUID?)

  /// The name of the last command on the current connection, except `wait`. Nil before the first command.
  private(set) var lastCommand: String?
  /// The number of values per attribute that arrived before the last command. `wait` ignores these values and reports their number once.
  private var earlier: [AttributeHandle: Int] = [:]

  /// Forgets the last command of the previous connection, and the values that it received earlier.
  func startLink() { (earlier, lastCommand) = ([:], nil) }

  /// Discards the values that arrived before a command, because they cannot answer the command. `command` is nil for `connect`.
  package func forget(for command: String? = nil) {
    lastCommand = command
    for value in recent { earlier[value.event.handle, default: 0] += 1 }
    removeAll()
  }

  /// Returns the number of values of an attribute that arrived before the last command. Nil if there were none, or in a second call.
  func takeEarlier(_ handle: AttributeHandle) -> Int? { earlier.removeValue(forKey: handle) }
}
