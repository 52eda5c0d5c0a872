import ArgumentParser
import EventLoop
import LinuxIO
import Simulation

struct Sim: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "sim", _superCommandName: "blectl",
    abstract: "Run a simulated air that many commands share.",
    discussion: """
      Every program that connects gets a Bluetooth controller (H4) in the one air, whose devices keep their state:
        blectl sim --listen unix:/tmp/air --stay &
        BLECTL_ADAPTER=unix:/tmp/air blectl scan

      It ends when the last of them has gone, with --stay at Ctrl-C. Time is real, whatever BLECTL_CLOCK says.
      """)

  @Option(
    help: ArgumentHelp(
      "Where to wait for programs: unix:PATH or tcp:HOST:PORT (port 0: any). Repeatable.", valueName: "address"))
  var listen: [String]

  @Flag(help: "Go on when the last program has gone, until Ctrl-C.")
  var stay = false

  @Argument(help: "The peripherals in the air, see blectl-peripheral(5). Default: those of -i sim.", completion: .file())
  var file: String?

  @OptionGroup var process: ProcessOptions

  var usesNames: Bool { false }
  var isTimeReal: Bool { true }
  var usesAdapter: Bool { false }

  func validate() throws {
    if process.adapter != nil { throw ValidationError("sim makes an air by itself, and takes no --adapter; FILE says what is in it.") }
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    let addresses = try listen.map { try TransportAddress(listening: $0) }
    let air = try await AdapterSpec.air(file)
    let host = AirHost(ControllerPool(air: air, tap: try await context.process.openTrace()), context.output, stays: stay)
    defer { host.close() }
    // All of them before anybody is told of one.
    for address in addresses { host.listeners.append(try await Listener.open(address)) }
    try await host.run()
  }
}
