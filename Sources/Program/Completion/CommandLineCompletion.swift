import BluetoothLEDeviceFiles
import BluetoothLELinux
import CommandLine

/// The completion of a shell's command line with commands, options, known devices and their attributes.
@LoopActor
struct CommandLineCompletion {
  private let environment: [String: String]
  /// The current time in seconds since 1970-01-01T00:00:00Z.
  private let now: Int64
  private let commands: CommandSet

  init(_ commands: CommandSet, _ environment: [String: String], now: Int64) {
    (self.commands, self.environment, self.now) = (commands, environment, now)
  }

  /// Returns the candidates for the word at the cursor, whose typed start is `last`. Nil for an unknown command.
  /// - Parameter words: The complete words after the program's name.
  func answer(_ words: [String], _ last: String) -> Completer.Answer? {
    let (leading, rest) = Arguments.leading(words, commands)
    guard let shape = shape(after: rest.first) else { return nil }
    let given = Completer.Given(leading + rest.dropFirst(), to: shape)
    var completer = Completer(model: CompletionModel(), shape: { _ in nil })
    if shape.words.contains(.command) { completer.model.commands = commands.commandLine.map { $0.completion } }
    // Read files only if the candidates need them.
    if given.pending?.value == .adapter || last.hasPrefix("--adapter=") { completer.model.adapters = adapters() }
    let isName = !given.onlyWords && given.pending == nil && last.hasPrefix("-") && !last.contains("=")
    let configuration = Configuration(environment: environment, adapter: given.value(of: "-i", "--adapter"))
    let namesDevices = shape.words.contains(.peer) || shape.options.contains { $0.value == .peer || $0.value == .address }
    guard !isName, namesDevices, let spec = try? configuration.adapter() else { return completer.answer(shape, given, last) }
    let air = CompletionDevices(spec, configuration, now: now)
    let (latest, aliases) = configuration.lastDevice()
    completer.model.devices = air.devices
    completer.model.knowsLast = latest != nil
    completer.model.aliases = Array(aliases.keys)
    func facts(_ peer: String) -> CompletionDevices.Facts? {
      switch PeerArgument(argument: peer) {
      case .selector(let selector)?: air.facts(of: selector)
      case .alias(let name)?: aliases[name].flatMap { air.facts(of: $0) }
      case .last?: latest.flatMap { air.facts(of: .address($0.address, $0.type)) }
      case .current?, nil: nil
      }
    }
    completer.attributesOf = { facts($0)?.attributes }
    if shape.words.contains(.deviceCommand) {
      let file = given.value(of: "--device")
      let named = file.flatMap { try? DeviceLibrary.loadAtOnce($0) }
      let device = file != nil ? named : given.words.first.flatMap(facts).flatMap { fitting($0, configuration, spec) }
      completer.model.deviceCommands = device?.commands.map(CompletionModel.DeviceCommand.init) ?? []
    }
    if shape.takesPlainAddresses { completer.model.keepPlainAddresses() }
    return completer.answer(shape, given, last)
  }

  /// Returns the words that may follow a command's name. Nil for an unknown command. `name` is nil if the user typed no command.
  private func shape(after name: String?) -> CommandShape? {
    switch name {
    case nil:
      CommandShape(options: CommandShape.options(CommandDescription(of: CompletedCommandLine.self)), words: [.command])
    case "help": CommandShape(words: [.command])
    case let name?: commands.type(named: name).map { CommandShape(of: $0) }
    }
  }

  /// Returns the device file that matches `facts`, from the first group of `DeviceLibrary.known` with only one match. Nil if there is none.
  private func fitting(_ facts: CompletionDevices.Facts, _ configuration: Configuration, _ spec: AdapterSpec) -> DeviceDescription? {
    DeviceLibrary.known(configuration, spec).lazy.compactMap { devices -> DeviceDescription? in
      let fitting = devices.filter { facts.fits($0.match) }
      return fitting.count == 1 ? fitting.first : nil
    }.first
  }

  /// Returns the candidates for `--adapter`, which are local adapters, serial ports and prefixes such as `tcp:`.
  private func adapters() -> [CompletionModel.Entry] {
    func entry(_ text: String, _ hint: String) -> CompletionModel.Entry { .init(text, hint: hint, goesOn: text.hasSuffix(":")) }
    let numbers = FolderNames.list("/sys/class/bluetooth/", home: nil).compactMap { name in
      name.after("hci").flatMap { Int($0.prefix { $0 != "/" }) }
    }.sorted()
    let ports = FolderNames.list("/dev/", home: nil).filter { $0.hasPrefix("ttyACM") || $0.hasPrefix("ttyUSB") }.sorted()
    return numbers.map { entry("hci\($0)", "kernel adapter") } + numbers.map { entry("user:\($0)", "exclusive access") }
      + [entry("sim", "simulator"), entry("sim:", "simulator from a file"), entry("replay:", "recorded trace")]
      + ports.map { entry("serial:/dev/\($0)", "H4 controller") }
      + [entry("tcp:", "HOST:PORT"), entry("unix:", "PATH"), entry("serial:", "DEV[@BAUD]")]
  }
}

extension Completer.Given {
  /// Returns the value of the last option that has one of the names. Nil if the user gave no such option.
  fileprivate func value(of names: String...) -> String? { options.last { names.contains($0.name) }?.value }
}

/// The command that declares the global options for completion. The root command declares none, to start faster.
private struct CompletedCommandLine: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "blectl", version: "-")

  @OptionGroup var process: ProcessOptions
}
