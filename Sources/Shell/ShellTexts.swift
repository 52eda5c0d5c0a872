import Bluetooth
package import EventLoop
package import Presentation
import Terminal
import Text

extension Failure {
  /// A command without a PEER, and the device that it would be about has no link.
  @LoopActor
  package static func notConnected(_ lane: Lane?) -> Failure {
    guard let lane, let problem = lane.problem else {
      return Failure(.notFound, "No device is connected. Connect one: `connect PEER`")
    }
    var failure = Failure(problem)
    if failure.message.hasPrefix("Not connected: ") { return failure }
    // One that never was is not the current device.
    let again = lane.lastPeer == nil ? "connect \(ShellWords.quote("\(lane.selector)"))" : "connect"
    failure.message = "Not connected: \(failure.message.asSentence) To try again: `\(DisplayText.escape(again))`"
    return failure
  }

  /// `connect` alone, and there is nothing to connect again.
  static var nothingToConnect: Failure {
    Failure(
      .notFound,
      "There is no current device. Name one, as in `connect Band-7` or `connect @last`. List devices: `scan`, `peers`")
  }
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
