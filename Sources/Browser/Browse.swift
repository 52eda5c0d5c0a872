import CommandLine

package struct Browse: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "browse", abstract: "Explore devices, services and live values on a full screen.",
    discussion: """
      Shows the devices in range. Enter connects and shows services, characteristics, descriptors and their values. Several devices may stay connected.

      r reads, w writes, s subscribes, a reads everything, / searches, d disconnects, q quits. ? shows all keys.
      """)
  static let examples = ["blectl -i sim browse", "blectl -i sim browse Band-7"]
  static let traits = CommandTraits(runsInSessions: false, isRecordable: false)

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions
  @Argument(help: "Connect to this device first") var peer: PeerArgument?
  @OptionGroup(title: HelpPage.connectionTitle) var choice: ChoiceOptions
  @OptionGroup(title: HelpPage.connectionTitle) var link: LinkOptions

  func validate() throws {
    if process.json { throw ValidationError("browse needs a screen. For JSON, use scan, services or notify.") }
  }

  func run(in context: Context) async throws {
    var context = context
    context.level = link.leastSecurity
    // Keep the session here, because its handlers only reference it weakly.
    let session = BrowserSession(context)
    try await session.run(peer.map { PeerOptions($0, choice, link) })
  }
}
