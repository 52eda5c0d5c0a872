package import BluetoothLELinux
import BluetoothLESimulator
import SystemPackage
import Traces

/// The process-wide state: output, configuration, trace, and the session with the radio and its connections.
@LoopActor
package final class ProcessContext {
  package let options: ProcessOptions
  package let output: Output
  package let configuration: Configuration
  /// The commands that sessions and scripts may use.
  package let commands: SessionCommands
  package private(set) lazy var session = Session { [unowned self] in try await openAdapter() }
  package var bonds: BondStore { BondStore(folder: configuration.bondsPath) }
  package let questions = OpenQuestions()
  package private(set) lazy var memory = DeviceMemory(configuration) { [unowned self] in try adapter() }
  /// The devices whose services a recording contains. Nil if the adapter is not a recording.
  package private(set) var discoverable: Set<PeerAddress>?
  private var trace: TraceFile?
  /// The recorder that writes the script of `--record`. Nil without the option.
  package private(set) var recorder: (any CommandRecorder)?
  /// Whether a trace may start while the radio is in use. Set it before the session opens the radio.
  package var tracesLater: Bool {
    get { tap.startsLater }
    set { tap.startsLater = newValue }
  }
  private let tap = TraceTap()
  /// The air of the simulator that `--adapter` selects, which other radios of the process share. Nil without one.
  private var air: Air?
  /// The numbers of the open radios in addition to that of the session, from 1.
  fileprivate var extraRadios: Set<UInt64> = []
  /// The signal watch of the running command. Nil while no command runs.
  package weak var signals: SignalWatch?
  /// A function that receives each signal before the program reacts. Returns true to suppress the reaction. Nil outside interactive modes.
  package var onSignal: (@LoopActor (Int32) -> Bool)?

  init(_ options: ProcessOptions, _ output: Output, _ configuration: Configuration, _ commands: CommandSet) {
    (self.options, self.output, self.configuration) = (options, output, configuration)
    self.commands = SessionCommands(commands)
    session.onDisconnect = { [unowned self] in memory.keep($0) }
    session.onSecurity = { [unowned self] event, connection in
      let text = event.text("\(self.commands.program)pair \(connection.typedName)")
      if event.isProgress { output.status(text) } else { output.note(text) }
    }
    session.onClient = { client in
      client.onNote = { output.note($0.text) }
      if output.style.verbosity >= 2 { client.onPDU = { output.verbose(2, PDUText.line($0, $1)) } }
    }
  }

  /// Returns the adapter of `--adapter`, else of `$BLECTL_ADAPTER`, else the first kernel adapter that is up.
  package func adapter() throws -> AdapterSpec { try configuration.adapter() }

  private func openAdapter() async throws -> any Central {
    if let note = try configuration.adapterNote() { output.note(note) }
    // A recording contains whatever encryption there was.
    if case .replay = try adapter() { session.bonds = nil } else { session.bonds = bonds }
    air = if case .simulation(let file) = try adapter() { try await AdapterSpec.air(file) } else { nil }
    session.withholding = nil
    return prepare(
      try await adapter().open(
        tap: try await openTrace(), isStrict: options.strict, in: air, bonds: bonds, note: { [output] in output.note($0) },
        discovered: { discoverable = $0 }, connected: { session.withholding = withholding(from: $0) }))
  }

  private func prepare(_ central: any Central) -> any Central {
    central.onNote = { [output] in output.note($0.text) }
    if let kernel = central as? KernelCentral { kernel.instanceFile = configuration.instancesPath.map { "\($0)/\(kernel.name)" } }
    return central
  }

  /// Returns a radio that can advertise. Nil means the radio of the session, and so does the same adapter on this machine, which cannot
  /// be opened twice. A simulator, or an air behind `tcp:` or `unix:`, gives each radio a controller of its own.
  /// - Throws: `Failure(.usage)` for a recording; the errors of the adapter.
  package func servingRadio(_ named: AdapterSpec?) async throws -> ServingRadio {
    let (own, replacement) = (try adapter(), try named.flatMap { try configuration.replacement(of: $0) })
    if let replacement { output.note(replacement.note) }
    let spec = replacement?.spec ?? named
    if case .replay = spec ?? own { throw Failure(.usage, "A recording cannot advertise. Use a radio or the simulator.") }
    guard let spec, spec != own || spec.hasManyControllers else {
      return try ServingRadio(self, try await session.central(), number: nil, withholding: withholding)
    }
    // Opens the air.
    if spec == own { _ = try await session.central() }
    guard let number = (1..<UInt64(ControllerPool.limit)).first(where: { !extraRadios.contains($0) }) else {
      throw Failure(.adapter, "The process has too many open radios.")
    }
    extraRadios.insert(number)
    var reason: Failure?
    do {
      let central = try await spec.open(
        tap: nil, in: spec == own ? air : nil, number: number, bonds: bonds, note: { [output] in output.note($0) },
        connected: { reason = withholding(from: $0) })
      return try ServingRadio(self, prepare(central), number: number, withholding: reason)
    } catch {
      extraRadios.remove(number)
      throw error
    }
  }

  /// The reason why the adapter gets no keys. Nil if it may.
  package var withholding: Failure? { session.withholding as? Failure }
  /// The function that returns the owner of a UNIX socket. Tests replace it.
  var owner: @LoopActor (StreamTransport) -> UserNumber? = { $0.owner }

  /// Returns the reason to withhold keys from a controller behind another user's socket: the controller gets each key to encrypt with.
  private func withholding(from transport: StreamTransport) -> Failure? {
    guard let owner = owner(transport), !owner.isTrusted(sudo: configuration.variable("SUDO_UID")),
      configuration.variable("BLECTL_FOREIGN_SOCKETS") != "1"
    else { return nil }
    let (name, advice) = (DisplayText.escape(transport.name), "If you trust the owner: BLECTL_FOREIGN_SOCKETS=1")
    output.note("\(name) belongs to \(owner), who can read and change all data. blectl neither pairs nor uses bonds there. \(advice)")
    return Failure(
      .adapter, "Cannot pair or use a bond on \(name): it belongs to \(owner), who would get the keys. \(advice)")
  }

  /// Whether standard output carries the trace. Standard error then carries the command's output.
  nonisolated var tracesToOutput: Bool { options.trace == "-" }
  /// The function that ends the command when the reader closes the trace. Nil before the command starts.
  var endTraced: (@LoopActor () -> Void)?
  private(set) var isTraceUnread = false

  /// Opens the file of `--trace` at the first call. Returns nil if the process writes no trace, now or later.
  package func openTrace() async throws -> (any Tap)? {
    if let path = options.trace, trace == nil {
      trace = tracesToOutput ? try openOutput() : try await open(trace: path)
      tap.write(to: trace, isOutput: tracesToOutput, keepsSecrets: options.traceSecrets)
    }
    return trace != nil || tracesLater ? tap : nil
  }

  private func openOutput() throws -> TraceFile {
    if StandardInput.outputIsTerminal {
      throw Failure(.usage, "Cannot write the trace (pcapng) to a terminal. Pipe it: … --trace - | wireshark -k -i -")
    }
    let file = try TraceFile.standardOutput(header: Pcapng.header)
    file.onFailure = { [weak self] error in
      guard let self else { return }
      isTraceUnread = true
      if case .trace(_, .brokenPipe) = error {} else { output.failure(Failure(error).message) }
      endTraced?()
    }
    return file
  }

  /// Runs the command of the command line.
  /// - Throws: `FileError` of the file of `--record`; the errors of the command.
  func run(_ command: any LoopCommand, in context: Context) async throws {
    try checkFiles(of: command)
    noteUnused(by: command, output)
    guard let path = options.record else { return try await command.run(in: context) }
    guard command.traits.script.isRecordable else {
      throw Failure(.usage, "Cannot record \(command.commandName): a script cannot contain this command.")
    }
    let recorder = try commands.set.recorder(path, output, commands)
    self.recorder = recorder
    try await recorder.run(command, Array(CommandLine.arguments.dropFirst()), in: context)
  }

  /// Prints a note for each option that has no effect on the command.
  package func noteUnused(by command: any LoopCommand, _ output: Output) {
    let options = command.process
    let given = ["--adapter": options.adapter != nil, "--timeout": options.timeout != nil, "--record": options.record != nil]
    for option in type(of: command).unusedOptions where given[option] ?? false {
      var note = "\(option) has no effect on \(command.commandName)."
      if option == "--timeout", let timeout = options.timeout, CommandOptions(of: type(of: command)).takesValue("--duration") {
        note += " To limit its time: --duration \(timeout.plainText)"
      }
      output.note(note)
    }
  }

  /// Checks the files of a command before the command opens any.
  /// - Throws: `Failure(.usage)` if one file would overwrite another, or for options of records on a command without records.
  package func checkFiles(of command: any LoopCommand) throws {
    try command.checkRecordOptions()
    var files = CommandFiles()
    command.name(&files)
    files.writes(tracesToOutput ? nil : options.trace, as: "--trace")
    files.writes(options.record, as: "--record")
    files.writes(options.output == "-" ? nil : options.output, as: "--output")
    if options.strict {
      guard case .replay? = try? adapter() else { throw Failure(.usage, "--strict needs a recording: -i replay:TRACE.") }
    }
    switch try? adapter() {
    case .simulation(let file): files.reads(file, as: "--adapter sim:FILE")
    case .replay(let file): files.reads(file, as: "--adapter replay:TRACE")
    case .kernel, .user, .stream, nil: break
    }
    try files.check()
  }

  /// Writes the script of `--record`. Keeps the old file if blectl refused the command without running it.
  /// - Throws: `FileError`; `CancellationError`.
  func writeRecord(of failure: (any Error)?) async throws {
    guard let recorder else { return }
    if let failure, Failure(failure).isRefusal, !recorder.hasDone { return }
    try await recorder.write()
  }

  /// Closes the trace.
  /// - Throws: An error if the trace is incomplete, for example because the disk is full.
  func closeTrace() async throws {
    defer { trace = nil }
    try await trace?.close()
  }

  /// Starts a trace without secrets in a session. Ends the current trace if `path` is nil.
  /// - Throws: `FileError` for the new file or the previous one.
  package func trace(to path: String?) async throws {
    tap.write(to: nil)
    try await closeTrace()
    guard let path else { return }
    if path == "-" { throw Failure(.usage, "Cannot write the trace to standard output, which carries the session's results. Use a file.") }
    let file = try await open(trace: path)
    trace = file
    tap.write(to: file)
  }

  private func open(trace path: String) async throws -> TraceFile {
    try await TraceFile.open(path, header: Snoop.header, hasKeys: options.traceSecrets) {
      output.note("Waiting for a reader of the pipe \"\(DisplayText.escape(path))\"")
    }
  }
}

/// A radio for a served device.
@LoopActor
package struct ServingRadio {
  package let central: any Central
  /// The role of the radio that advertises and takes connections.
  package let peripheral: any PeripheralRole
  /// The reason why the controller gets no keys. Nil if it may.
  package let withholding: Failure?
  private let process: ProcessContext
  /// The number among the radios of the process. Nil for the radio of the session.
  private let number: UInt64?

  fileprivate init(_ process: ProcessContext, _ central: any Central, number: UInt64?, withholding: Failure?) throws(Failure) {
    guard let peripheral = central.peripheral else {
      throw Failure(.adapter, "This adapter cannot advertise. Use hci0, user:N, tcp:, unix: or serial:.")
    }
    (self.process, self.central, self.peripheral) = (process, central, peripheral)
    (self.number, self.withholding) = (number, withholding)
  }

  /// Closes the radio if it is only for the device. Works in a canceled task.
  package func close() async {
    guard let number else { return }
    await central.close()
    process.extraRadios.remove(number)
  }
}
