import ArgumentParser

struct Browse: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", _superCommandName: "blectl",
    abstract: "Look around, full screen: devices, their services, live values.",
    discussion: """
      Shows the devices in range with their signal and what they advertise. Enter connects one and shows its services, characteristics and \
      descriptors with their values, which it reads once; several may stay connected. Keys: r reads, w writes, s subscribes, a reads everything, \
      / finds or filters, y copies the shell command, l shows every PDU, p plots, T records a trace, d disconnects, ? tells them all, q ends. \
      Needs a terminal.
      """)

  @OptionGroup var process: ProcessOptions

  @Argument(help: "Connect this one at once: an address, name:GLOB, mac:MAC, service:UUID, @last or @ALIAS.")
  var peer: PeerArgument?

  @OptionGroup var choice: ChoiceOptions

  @OptionGroup var link: LinkOptions

  func validate() throws {
    if process.json { throw ValidationError("--json: browse is for eyes; scan, services and notify give records.") }
  }

  func run(in context: Context) async throws {
    // Held here: its handlers only know it weakly.
    let session = BrowserSession(context)
    try await session.run(peer.map { Target(peer: $0, takesFirst: choice.first, demandsOne: choice.unique, link: link) })
  }
}
