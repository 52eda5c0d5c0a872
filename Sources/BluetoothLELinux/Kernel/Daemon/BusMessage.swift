/// A value in a message of D-Bus.
enum BusValue: Equatable, Sendable {
  /// A text. In received messages also the path of an object.
  case text(String)
  /// The path of an object, in sent messages.
  case path(String)
  /// A number, or a truth value: 0 or 1.
  case number(UInt64)
  /// An array, a structure, or an entry of a dictionary: a key and a value.
  case list([BusValue])

  /// The text. Empty for another value.
  var text: String { if case .text(let text) = self { text } else { "" } }

  /// The entries of a dictionary. Empty for another value.
  var entries: [(key: String, value: BusValue)] {
    guard case .list(let entries) = self else { return [] }
    return entries.compactMap { if case .list(let pair) = $0, pair.count == 2 { (pair[0].text, pair[1]) } else { nil } }
  }

  subscript(key: String) -> BusValue? { entries.first { $0.key == key }?.value }
}

/// A method call that this process receives, or a signal.
struct BusMessage {
  let path: String
  /// The name of the method or signal.
  let member: String
  let values: [BusValue]
  /// The function that answers a call. Nil rejects the call.
  let answer: @LoopActor ([BusValue]?) -> Void
}

/// A connection to a message bus.
@LoopActor
protocol MessageBus: AnyObject {
  /// The unique name of the program that gets our calls, and whose messages we receive. Empty before it is known: then only the bus
  /// itself gets calls, and its answers arrive.
  var partner: String { get set }
  /// The handler of method calls and signals of the partner.
  var onMessage: (@LoopActor (BusMessage) -> Void)? { get set }
  /// Calls a method, which is named with its interface, and waits for the answer.
  /// - Throws: BluetoothDaemonProblem, CancellationError.
  func call(_ method: String, at path: String, _ arguments: [BusValue]) async throws -> [BusValue]
  func close()
}
