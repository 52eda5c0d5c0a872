import BluetoothLESimulator
import CommandLine

package struct Sim: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "sim", abstract: "Run a simulator that several programs share.",
    discussion: """
      Each program that connects gets a Bluetooth controller (H4). All see the same devices, which keep their state:
        blectl sim --listen unix:$XDG_RUNTIME_DIR/air &
        BLECTL_ADAPTER=unix:$XDG_RUNTIME_DIR/air blectl scan

      sim runs in real time and ignores BLECTL_CLOCK.
      """)
  static let examples = ["blectl sim --listen unix:$XDG_RUNTIME_DIR/air", "blectl sim --listen tcp:localhost:0 --once devices.json"]
  static let traits = CommandTraits(
    unusedOptions: ["--adapter", "--timeout", "--record", "--strict"], usesNames: false, isTimeReal: true, runsInSessions: false,
    isRecordable: false)

  @Option(help: ArgumentHelp("unix:PATH or tcp:HOST:PORT (0: any free port); repeatable", valueName: "address")) var listen: [String]
  @Flag(help: "Stop when the last program disconnects") var once = false

  /// Whether the user gave `--stay`, which has no effect because the simulator runs until Ctrl-C by default.
  @Flag(help: ArgumentHelp("Run until Ctrl-C", visibility: .hidden)) var stay = false

  @Argument(help: "Devices, see blectl-peripheral(5) (default: as with -i sim)", completion: .file(extensions: ["json", "jsonc"]))
  var file: String?

  @OptionGroup var process: ProcessOptions

  var usesAdapter: Bool { false }

  func validate() throws {
    if process.adapter != nil { throw ValidationError("sim takes no --adapter. Its devices are in FILE.") }
    if once, stay { throw ValidationError("--once and --stay exclude each other.") }
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    let addresses = try listen.map { try TransportAddress(listening: $0) }
    let air = try await AdapterSpec.air(file)
    let host = AirHost(ControllerPool(air: air, tap: try await context.process.openTrace()), context.output, stays: !once)
    defer { host.close() }
    // Open all sockets before announcing any.
    for address in addresses { host.listeners.append(try await Listener.open(address)) }
    try await host.run()
  }
}
