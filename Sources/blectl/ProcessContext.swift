import ArgumentParser
import Bluetooth
import EventLoop
import GAP
import GATT
import HCI
import LinuxIO
import Operations
import SystemPackage
import Terminal
import Text

/// What there is once in a process: the output, the user's files, the trace, and the session with the radio and its links.
@LoopActor
final class ProcessContext {
  let options: ProcessOptions
  let output: Output
  let configuration: Configuration
  private(set) lazy var session = Session { [unowned self] in try await openAdapter() }
  /// For completion.
  private(set) lazy var memory = AirMemory(configuration) { [unowned self] in try adapter() }
  /// Of a recording, the devices that can be asked for their services; nil: any.
  private(set) var discoverable: Set<PeerAddress>?
  private var trace: SnoopFile?
  /// Of `--record`.
  private(set) var recorder: ScriptRecorder?
  /// A trace may be asked for while the radio is in use: set it before that is opened.
  var tracesLater = false
  private let tap = TraceTap()
  /// The watch over signals while the command runs.
  weak var signals: SignalWatch?
  /// Sees every signal first: in a session Ctrl-C ends one command only. - Returns: whether it is dealt with.
  var onSignal: (@LoopActor (Int32) -> Bool)?

  init(_ options: ProcessOptions, _ output: Output, _ configuration: Configuration) {
    self.options = options
    self.output = output
    self.configuration = configuration
    session.onDisconnect = { [unowned self] in memory.keep($0) }
    session.onClient = { client in
      client.onNote = { output.note($0.text) }
      let (log, isShown) = (PacketLog.present, output.style.verbosity >= 2)
      guard log != nil || isShown else { return }
      client.onPDU = { [weak client] direction, pdu in
        if isShown { output.verbose(2, PDUText.line(direction, pdu)) }
        if let client { log?.add(direction, pdu, client) }
      }
    }
  }

  /// `--adapter`, else what the environment names.
  func adapter() throws -> AdapterSpec { try configuration.adapter() }

  private func openAdapter() async throws -> any Central {
    if let note = try configuration.adapterNote() { output.note(note) }
    let central = try await adapter().open(
      tap: try await openTrace(), note: { output.note($0) }, discovered: { discoverable = $0 })
    central.onNote = { [output] in output.note($0.text) }
    return central
  }

  /// The trace is the result; what the command says goes to standard error.
  nonisolated var tracesToOutput: Bool { options.trace == "-" }
  /// Ends the command, because nobody reads the trace any more.
  var endTraced: (@LoopActor () -> Void)?
  private(set) var isTraceUnread = false

  /// Opens the file of `--trace` at the first call. - Returns: nil when there will be no trace.
  func openTrace() async throws -> (any HCI.Tap)? {
    if let path = options.trace, trace == nil {
      trace = tracesToOutput ? try openOutput() : try await open(trace: path)
      tap.write(to: trace, keepsSecrets: options.traceSecrets)
    }
    return trace != nil || tracesLater ? tap : nil
  }

  private func openOutput() throws -> SnoopFile {
    if StandardInput.outputIsTerminal {
      throw Failure(.usage, "--trace - writes pcapng to standard output, which is a terminal: pipe it, as in `| wireshark -k -i -`")
    }
    let file = try SnoopFile.standardOutput()
    file.onFailure = { [weak self] error in
      guard let self else { return }
      isTraceUnread = true
      if case .trace(_, .brokenPipe) = error {} else { output.failure(Failure(error).message) }
      endTraced?()
    }
    return file
  }

  /// Runs the command of the command line. - Throws: FileError, of the file of `--record`; what the command throws.
  func run(_ command: any LoopCommand, in context: Context) async throws {
    try checkFiles(of: command)
    guard let path = options.record else { return try await command.run(in: context) }
    if command is Browse || command is Sim || command is Run || command is Gatttool {
      let name = type(of: command).configuration.commandName ?? ""
      throw Failure(.usage, "--record is for commands that a script can have, not for \(name)")
    }
    let recorder = try ScriptRecorder(path, output)
    self.recorder = recorder
    try await recorder.run(command, Array(CommandLine.arguments.dropFirst()), in: context)
  }

  /// Before anything is opened. - Throws: Failure(.usage), when one would be written in place of another.
  func checkFiles(of command: any LoopCommand) throws {
    var files = CommandFiles()
    command.name(&files)
    files.writes(tracesToOutput ? nil : options.trace, as: "--trace")
    files.writes(options.record, as: "--record")
    switch try? adapter() {
    case .simulation(let file): files.reads(file, as: "--adapter sim:FILE")
    case .replay(let file): files.reads(file, as: "--adapter replay:TRACE")
    case .kernel, .user, .stream, nil: break
    }
    try files.check()
  }

  /// The script of `--record`; what its file held stays when the command was refused before anything was done.
  /// - Throws: FileError; CancellationError.
  func writeRecord(of failure: (any Error)?) async throws {
    guard let recorder else { return }
    if let failure, Failure(failure).isRefusal, !recorder.hasDone { return }
    try await recorder.write()
  }

  /// The trace is a result too: a full disk must not pass unnoticed.
  func closeTrace() async throws {
    defer { trace = nil }
    try await trace?.close()
  }

  /// Records from now on, without secrets; nil ends that.
  /// - Throws: FileError, of the file that is begun or of the one that ends.
  func trace(to path: String?) async throws {
    tap.write(to: nil)
    try await closeTrace()
    guard let path else { return }
    if path == "-" { throw Failure(.usage, "the trace of a session goes to a file: standard output has the results of its commands") }
    let file = try await open(trace: path)
    trace = file
    tap.write(to: file)
  }

  private func open(trace path: String) async throws -> SnoopFile {
    try await SnoopFile.open(path) { output.note("nobody reads the pipe “\(DisplayText.escape(path))” yet; waiting for its reader") }
  }
}
