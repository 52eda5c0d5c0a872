/// An observer of the commands of a session or of the command line, such as the recorder or the script runner.
@LoopActor
package protocol CommandObserver: AnyObject {
  /// Tells the observer that the command now has a connection to its device.
  func didConnect()
  /// Tells the observer the result of a read. `attribute` is the attribute as the user typed it.
  func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>)
  /// Tells the observer that the command is about to write `bytes`.
  func willWrite(_ bytes: [UInt8])
  /// Tells the observer that the command shows a notification or an indication. `uuid` is nil for an unknown attribute.
  func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client)
  /// Tells the observer the answer that `call` received from the device. `values` is a JSON object.
  func didAnswer(_ values: JSONTree)
  /// Tells the observer that the client sent or received an ATT PDU.
  func didExchange(_ direction: PDUDirection, _ pdu: [UInt8], _ client: Client)
  /// Tells the observer that the command ended. `error` is nil after a success.
  func didEnd(_ error: (any Error)?)
}

extension CommandObserver {
  package func didConnect() {}
  package func didRead(_ attribute: String, _ result: Result<[UInt8], Failure>) {}
  package func willWrite(_ bytes: [UInt8]) {}
  package func didReceive(_ event: ValueEvent, _ uuid: UUID?, _ client: Client) {}
  package func didAnswer(_ values: JSONTree) {}
  package func didExchange(_ direction: PDUDirection, _ pdu: [UInt8], _ client: Client) {}
  package func didEnd(_ error: (any Error)?) {}
}

/// An observer that receives the results and messages of all commands of a session. A session with this observer writes only JSON records.
@LoopActor
package protocol ResultObserver: CommandObserver {
  /// Whether the session also writes records to standard output.
  var showsRecords: Bool { get }
  /// The JSON members that the session adds to every record. Nil to add none.
  var members: RecordWriter.Members? { get }
  /// Tells the observer about a record. `isCommand` is false for a record without a command, such as the value of a subscription.
  func didRecord(_ record: JSONTree, isCommand: Bool)
  func didSay(_ text: String, isNote: Bool)
}
