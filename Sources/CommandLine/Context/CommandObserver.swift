package import ATT
package import Bluetooth
package import EventLoop
package import GATT
package import Presentation
package import Text

/// Observes the commands of a session or of the command line. The recorder and the script runner implement it.
@LoopActor
package protocol CommandObserver: AnyObject {
  /// Tells the observer that the command has a connection to its device.
  func didConnect()
  /// Tells the observer the result of a read. `attribute` is the user's name for the attribute.
  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>)
  /// Tells the observer that a write follows. `bytes` are the bytes of VALUE.
  func willWrite(_ bytes: [UInt8])
  /// Tells the observer that the command shows a notification or an indication.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client)
  /// Tells the observer the answer to `call`. `values` is a JSON object.
  func didAnswer(_ values: JSONTree)
  /// Tells the observer that the client sent or received an ATT PDU.
  func didExchange(_ direction: ATT.Direction, _ pdu: [UInt8], _ client: Client)
  /// Tells the observer that the command ended. `error` is nil after a success.
  func didEnd(_ error: (any Error)?)
}

extension CommandObserver {
  package func didConnect() {}
  package func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>) {}
  package func willWrite(_ bytes: [UInt8]) {}
  package func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {}
  package func didAnswer(_ values: JSONTree) {}
  package func didExchange(_ direction: ATT.Direction, _ pdu: [UInt8], _ client: Client) {}
  package func didEnd(_ error: (any Error)?) {}
}

/// Receives the results and messages of all commands of a session. The session then writes JSON records only.
@LoopActor
package protocol ResultObserver: CommandObserver {
  /// Whether the session also writes records to standard output.
  var showsRecords: Bool { get }
  /// The members to add to every record. Nil for none.
  var members: RecordWriter.Members? { get }
  /// Tells the observer about a record. `isCommand` is false for a record without a command, such as the value of a subscription.
  func didRecord(_ record: JSONTree, isCommand: Bool)
  func didSay(_ text: String, isNote: Bool)
}
