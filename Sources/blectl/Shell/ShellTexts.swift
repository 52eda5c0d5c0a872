import Bluetooth
import EventLoop
import Operations
import Terminal
import Text

extension Failure {
  /// A command without a PEER, and the device that it would be about has no link.
  @LoopActor
  static func notConnected(_ lane: Lane?) -> Failure {
    guard let lane, let problem = lane.problem else {
      return Failure(.notFound, "no device is connected; `connect PEER` first, or name the PEER")
    }
    var failure = Failure(problem)
    if failure.message.hasPrefix("not connected: ") { return failure }
    // One that never was is not the current device.
    let again = lane.lastPeer == nil ? "connect \(ShellWords.quote("\(lane.selector)"))" : "connect"
    failure.message = "not connected: \(failure.message); `\(DisplayText.escape(again))` tries again"
    return failure
  }

  /// `connect` alone, and there is nothing to connect again.
  static var nothingToConnect: Failure {
    Failure(
      .notFound,
      "there is no current device to connect again: name one, as in `connect name:GLOB`, `connect @last`; `scan` and `peers` list some")
  }

  init(_ error: ShellWordsError) {
    switch error {
    case .unterminated(let mark): self.init(.usage, "a \(mark) is not closed: it begins text that goes on to the next \(mark)")
    case .endsInBackslash: self.init(.usage, "it ends in a \\, and nothing follows that it could stand before")
    case .notAVariable(let name): self.init(.usage, "${\(DisplayText.escape(name))} is no variable")
    case .severalCommands: self.init(.usage, "one command a line: put the one behind the ; on a line of its own, or the ; in quotes")
    }
  }
}

extension Connection {
  /// For people: the name, or the address.
  @LoopActor
  var title: String { name.map { $0.isEmpty ? peer.description : DisplayText.escape($0) } ?? peer.description }
}

extension HelpText {
  @LoopActor
  func show(_ output: Output) async throws {
    guard output.style.json else { return try await output.line(text) }
    try await output.record {
      $0.string("event", "help")
      $0.string("text", text)
    }
  }
}
