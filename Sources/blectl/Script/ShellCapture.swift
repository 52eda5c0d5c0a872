import EventLoop
import Terminal

/// Takes what the commands of a session bring, in place of standard output and of whoever reads stderr.
@LoopActor
final class ShellCapture {
  /// Records are shown besides.
  let showsRecords: Bool
  /// Members that every record has besides its own, each with a comma before it.
  var members: [UInt8] = []
  /// A record of the command that runs, or what came without one.
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
