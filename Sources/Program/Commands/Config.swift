import CommandLine

package struct Config: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "config", abstract: "Show each option's default and where it comes from.",
    discussion: "With PEER, includes the defaults for this device. The file is config.json, see FILES in blectl(1).")
  static let examples = ["blectl config", "blectl -i sim config Band-7 --json"]
  static let traits = CommandTraits(
    printsRecords: true, unusedOptions: ["--record", "--trace", "--trace-secrets"], usesNames: false, runsInSessions: false)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "The device (default: all devices)") var peer: PeerArgument?

  var recordFields: RecordFields? { RecordFields(["name", "value", "source", "place"]) }
  var usesAdapter: Bool { false }

  /// The values that blectl uses if neither the command line nor the file gives one. Options that are not here have no such value.
  private static let builtIn = [
    "adapter": "the first hciN that is up", "color": "auto", "timeout": "11 s to find, 20 s to connect, 30 s to answer", "mtu": "517",
    "retries": "1", "mode": "auto", "as": "auto", "pair": "false",
  ]

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    if case .selector(.name(let word))? = peer, let advice = Self.advice([word]) { throw ValidationError(advice) }
  }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    guard case .unexpectedArguments = mistake else { return nil }
    return advice(words.dropFirst().filter { !["set", "get"].contains($0) })
  }

  /// Returns advice on words that are a setting and perhaps its new value. Nil for other words.
  private static func advice(_ words: [String]) -> String? {
    let words = words.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    guard let name = words.first, OptionDefaults.names.contains(name) else { return nil }
    let json = words.count < 2 ? "VALUE" : Double(words[1]) == nil ? "\"\(words[1])\"" : words[1]
    let entry = DisplayText.clip(#"{"defaults": {"\#(name)": \#(json)}}"#, to: 60)
    return "config shows all settings with their file: blectl config. To set this one, write \(entry) into the file."
  }

  func run(in context: Context) async throws {
    let (configuration, output) = (context.configuration, context.output)
    var (selector, address): (PeerSelector?, PeerAddress?)
    if let peer { selector = try await configuration.resolve(peer) }
    if case .address(let found, let type)? = selector { address = PeerAddress(found, type ?? .public) }
    var name = address.flatMap { configuration.name(of: $0) }
    if case .name(let text)? = selector { name = UntrustedText(text) }
    let options = configuration.options(for: address ?? PeerAddress(Address(rawValue: 0), .public), named: name, selector)
    if let path = configuration.configPath { output.status("Configuration file: \(DisplayText.escape(path))") }
    if configuration.defaults.ignored > 0 {
      output.note("CI=true: ignored \(configuration.defaults.ignored.counted("default")) of mode, as and pair.")
    }
    let general = configuration.defaults.general
    var table = Table(["OPTION", "VALUE", "FROM"])
    for option in OptionDefaults.names + (peer == nil ? [] : ["device"]) {
      var found = (value: Self.builtIn[option] ?? "-", source: "built_in", place: nil as String?)
      if let value = options.values[option] { found = (value.text, "config", value.place) }
      if option == "color", let value = configuration.variable("NO_COLOR"), !value.isEmpty { found = ("never", "environment", "NO_COLOR") }
      if option == "adapter", let value = configuration.variable("BLECTL_ADAPTER"), !value.isEmpty {
        found = (value, "environment", "BLECTL_ADAPTER")
      }
      let given =
        switch option {
        case "adapter": process.adapter
        // The options have the values of the file if the user omits them.
        case "color": process.color?.rawValue == general.values[option]?.text ? nil : process.color?.rawValue
        case "timeout": step.timeout == general.timeout ? nil : step.timeout.map { "\(Duration.limited(seconds: $0).secondsText) s" }
        default: nil as String?
        }
      if let given { found = (given, "command_line", "--\(option)") }
      if output.style.json {
        try await output.record {
          $0.string("event", "setting")
          $0.string("name", option)
          $0.string("value", found.source == "built_in" && found.value == "-" ? nil : found.value)
          $0.string("source", found.source)
          $0.string("place", found.place)
        }
      }
      table.add([option, DisplayText.escape(found.value), found.place.map { DisplayText.escape($0) } ?? "built in"])
    }
    if !output.style.json { try await output.show(table) }
  }
}
