import ArgumentParser
import EventLoop

struct Sleep: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep", _superCommandName: "blectl", abstract: "Do nothing for some seconds; what is subscribed to goes on.")
  static let turn = ShellTurn.ofDevice

  @OptionGroup var process: ProcessOptions

  @Argument(help: "Seconds, up to a year; or a time such as 500ms or 2m.", transform: TimeText.seconds)
  var seconds: Double

  var usesNames: Bool { false }

  func validate() throws {
    if !(seconds >= 0 && seconds <= 31_536_000) {
      throw ValidationError("sleep takes seconds from 0 to 31536000, not \(seconds.plainText)")
    }
  }

  func run(in context: Context) async throws { try await EventLoop.shared.sleep(for: .limited(seconds: seconds)) }
}
