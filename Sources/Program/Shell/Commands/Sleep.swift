import CommandLine

package struct Sleep: SessionCommand {
  static let configuration = CommandConfiguration(named: "sleep", abstract: "Wait. Subscriptions keep running.")
  static let examples = ["sleep 2", "sleep 500ms"]
  static let traits = CommandTraits(takesValue: true, turn: .ofCurrentDevice)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "Seconds, or a time with its unit: 500ms, 2m", transform: TimeText.seconds) var seconds: Double

  var recordedForm: RecordedForm { RecordedForm(words: [commandName, "\(seconds.plainText)s"]) }

  func validate() throws { try limit("sleep", seconds: seconds) }

  func run(in context: Context, _ session: SessionLinks) async throws {
    let end = EventLoop.shared.now.advanced(by: .limited(seconds: seconds))
    try await context.output.showingWait("Sleeping", until: end) { try await EventLoop.shared.sleep(until: end) }
  }
}
