package import ATT
package import Bluetooth
package import EventLoop
package import GATT
package import Presentation
package import Text

/// Observes the commands of a session or of the command line. Implemented by the recorder and the script runner.
@LoopActor
package protocol CommandObserver: AnyObject {
  /// Called when the command has a connection to its device.
  func didConnect()
  /// Called after a read. `attribute` is the user's name for it.
  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>)
  /// Called before a write. `bytes` are the bytes of VALUE.
  func willWrite(_ bytes: [UInt8])
  /// Called when the command shows a notification or an indication.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client)
  /// Called after an answer to `call`. `values` is an object.
  func didAnswer(_ values: JSONTree)
  /// Called when an ATT PDU was sent or received.
  func didExchange(_ direction: ATT.Direction, _ pdu: [UInt8], _ client: Client)
  /// Called at the end of the command. `error` is nil if it succeeded.
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
  /// Whether records are also written to standard output.
  var showsRecords: Bool { get }
  /// The members to add to every record. Nil for none.
  var members: RecordWriter.Members? { get }
  /// Called for each record. `isCommand` is false for a record without a command, such as the value of a subscription.
  func didRecord(_ record: JSONTree, isCommand: Bool)
  func didSay(_ text: String, isNote: Bool)
}
