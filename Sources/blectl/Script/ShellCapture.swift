import EventLoop
import Terminal

/// Captures records and messages of the commands of a session.
@LoopActor
final class ShellCapture {
  /// Whether records are also shown.
  let showsRecords: Bool
  /// Members to add to every record, each with a leading comma.
  var members: [UInt8] = []
  /// Called for each record, of the current command or unsolicited.
  var onRecord: (@LoopActor (_ bytes: [UInt8], _ isCommand: Bool) -> Void)?
  var onMessage: (@LoopActor (_ text: String, _ isNote: Bool) -> Void)?

  init(showsRecords: Bool) { self.showsRecords = showsRecords }

  func attach(to output: Output, isCommand: Bool) {
    let members = output.members
    output.members = { [weak self] in (members?() ?? []) + (self?.members ?? []) }
    output.hidesResults = !showsRecords
    output.onResult = { [weak self] in self?.onRecord?($0, isCommand) }
    output.onMessage = { [weak self] in self?.onMessage?($0, $1) }
  }
}
