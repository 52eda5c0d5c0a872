/// The help of gatttool, exactly as gatttool prints it.
enum GatttoolHelp {
  private static let usage = "Usage:\n  gatttool [OPTION?]\n"

  /// The help for `-h`.
  static var text: String { page([help, application]) }

  /// Returns the help for an option without its hyphens. Nil if the option does not ask for help.
  static func text(askedBy word: String) -> String? {
    switch word {
    case "help": text
    case "help-all": page([help, section(.gatt), section(.params), section(.charReadWrite), application])
    case "help-gatt": page([section(.gatt, with: "interactive")])
    case "help-params": page([section(.params)])
    case "help-char-read-write": page([section(.charReadWrite)])
    default: nil
    }
  }

  private static func page(_ sections: [String]) -> String { ([usage] + sections).map { $0 + "\n" }.joined() }

  private static func title(_ group: GatttoolOptions.Group) -> String {
    switch group {
    case .main: "Application Options:"
    case .gatt: "GATT commands"
    case .params: "Primary Services/Characteristics arguments"
    case .charReadWrite: "Characteristics Value/Descriptor Read/Write arguments"
    }
  }

  private static var help: String {
    var lines = ["Help Options:", line("-h, --help", "Show help options"), line("--help-all", "Show all help options")]
    for group in GatttoolOptions.Group.allCases where group != .main {
      lines.append(line("--help-\(group.rawValue)", "Show all \(title(group))"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static var application: String {
    section(.main) + GatttoolOptions.Entry.all.filter { $0.name == .interactive }.map(line).joined()
  }

  /// Returns the help for a group of options, with its title.
  /// - Parameter extra: An option to add, which the help otherwise lists among the application options.
  private static func section(_ group: GatttoolOptions.Group, with extra: String? = nil) -> String {
    let entries = GatttoolOptions.Entry.all.filter { $0.group == group && ($0.name != .interactive || extra == $0.name.rawValue) }
    return title(group) + "\n" + entries.map(line).joined()
  }

  private static func line(_ entry: GatttoolOptions.Entry) -> String {
    let letter = entry.letter.map { "-\($0), " } ?? ""
    return line("\(letter)--\(entry.name.rawValue)" + (entry.placeholder.isEmpty ? "" : "=\(entry.placeholder)"), entry.help) + "\n"
  }

  private static func line(_ option: String, _ text: String) -> String {
    "  " + option + String(repeating: " ", count: max(1, 42 - option.count)) + text
  }
}
