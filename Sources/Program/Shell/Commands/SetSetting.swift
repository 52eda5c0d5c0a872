import CommandLine

package struct SetSetting: SessionCommand {
  static let configuration = CommandConfiguration(
    named: "set", abstract: "Show or change the defaults of this session.",
    discussion: """
      `set format FORMAT` sets the default of --as. `set timeout SECONDS` sets the default of --timeout, and `set timeout default` resets it. `set level N` and `set level default` do the same for --level. After `set reconnect on`, blectl restores lost connections and their subscriptions. After `set pair on`, commands pair if the device demands it.
      """)
  static let examples = ["set", "set format hex", "set timeout 5s", "set reconnect on"]
  static let traits = CommandTraits(takesValue: true, completedWords: [.choice(ShellSettings.names), .setting], turn: .atOnce)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "format, timeout, reconnect, pair or level (default: show all)", completion: .list(ShellSettings.names)) var name: String?
  @Argument(help: "The new value (default: show the current one)") var value: String?

  func checkForScript() throws {
    guard let name, let value else { throw Failure(.usage, "`set` needs a name and a value.") }
    if name == "reconnect" {
      throw Failure(.usage, "Scripts have no `set reconnect`: a lost connection fails its test, and the next test reconnects. Remove this.")
    }
    var settings = ShellSettings()
    try settings.set(name, to: value)
  }

  func run(in context: Context, _ session: SessionLinks) async throws {
    let shell = session.shell
    if let name, let value {
      var settings = shell.settings
      try settings.set(name, to: value)
      return shell.change(settings)
    }
    if let name {
      var settings = shell.settings
      // Throws an error that lists the names.
      if !ShellSettings.names.contains(name) { try settings.set(name, to: "") }
    }
    for setting in shell.settings.values where name == nil || name == setting.name {
      try await context.output.show("\(setting.name) \(setting.value)") {
        $0.string("event", "setting")
        $0.string("name", setting.name)
        $0.string("value", setting.value)
      }
    }
  }
}
