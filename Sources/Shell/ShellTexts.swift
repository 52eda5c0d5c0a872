import Bluetooth
package import EventLoop
package import Presentation
import Terminal
import Text

extension Failure {
  /// Returns the failure of a command without a PEER if the current device has no link.
  @LoopActor
  package static func notConnected(_ device: SessionDevice?) -> Failure {
    guard let device, let problem = device.problem else {
      return Failure(.notFound, "No device is connected. Connect one: `connect PEER`")
    }
    var failure = Failure(problem)
    if failure.message.hasPrefix("Not connected: ") { return failure }
    // A device that never connected is not the current one, so name it.
    let again = device.lastPeer == nil ? "connect \(ShellWords.quote("\(device.selector)"))" : "connect"
    failure.message = "Not connected: \(failure.message.asSentence) To try again: `\(DisplayText.escape(again))`"
    return failure
  }

  /// The failure of `connect` without a PEER if there is no device to reconnect.
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
