package import ATT
package import Bluetooth
package import EventLoop
package import GATT
package import Presentation
package import Text

/// Follows the commands of a session or of the command line: the recorder, or the script runner.
@LoopActor
package protocol CommandObserver: AnyObject {
  /// The command has a connection to its device.
  func didConnect()
  /// - Parameter attribute: as the user named it.
  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>)
  /// - Parameter bytes: the bytes of VALUE.
  func willWrite(_ bytes: [UInt8])
  /// The command shows a notification or an indication.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client)
  /// - Parameter values: the answer to `call`, an object.
  func didAnswer(_ values: JSONTree)
  /// An ATT PDU was sent or received.
  func didExchange(_ direction: ATT.Direction, _ pdu: [UInt8], _ client: Client)
  /// The command ended. - Parameter error: nil if it succeeded.
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

/// Takes the results and messages of all commands of a session. The session then writes JSON records only.
@LoopActor
package protocol ResultObserver: CommandObserver {
  /// Whether records are also written to standard output.
  var showsRecords: Bool { get }
  /// Members to add to every record. Nil: none.
  var members: RecordWriter.Members? { get }
  /// - Parameter isCommand: false for a record without a command, such as the value of a subscription.
  func didRecord(_ record: JSONTree, isCommand: Bool)
  func didSay(_ text: String, isNote: Bool)
}
