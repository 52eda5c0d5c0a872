import ArgumentParser
import Terminal
import Text

struct SetSetting: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", _superCommandName: "blectl",
    abstract: "Show or change what commands do where their own options do not say.",
    discussion: """
      set format FORMAT: how values are shown, as --as. set timeout SECONDS|default: as --timeout. set reconnect on|off: whether a link that \
      is lost is made again, with what was subscribed to.
      """)
  static let turn = ShellTurn.atOnce

  @OptionGroup var process: ProcessOptions

  @Argument(help: "format, timeout or reconnect; without it all are shown.", completion: .list(ShellSettings.names))
  var name: String?

  @Argument(help: "The new value; without it the present one is shown.")
  var value: String?

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    guard let shell = context.shell else { return }
    if let name, let value {
      var settings = shell.settings
      try settings.set(name, to: value)
      return shell.change(settings)
    }
    if let name {
      var settings = shell.settings
      // Says which there are.
      if !ShellSettings.names.contains(name) { try settings.set(name, to: "") }
    }
    for setting in shell.settings.values where name == nil || name == setting.name {
      if context.output.style.json {
        try await context.output.record {
          $0.string("event", "setting")
          $0.string("name", setting.name)
          $0.string("value", setting.value)
        }
      } else {
        try await context.output.line("\(setting.name) \(setting.value)")
      }
    }
  }
}
