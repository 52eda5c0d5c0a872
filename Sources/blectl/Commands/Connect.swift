import ArgumentParser
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

struct Connect: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", _superCommandName: "blectl",
    abstract: "Connect and report the link.",
    discussion: "The link is taken down at once; with - it is kept until standard input ends.")

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "- keeps the link until standard input ends.")
  var input: InputArgument?

  enum InputArgument: String, ExpressibleByArgument, Sendable {
    case standard = "-"
    static var allValueStrings: [String] { ["-"] }
  }

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    let output = context.output
    try await context.withPeer(who.target) { connection in
      let link = try await connection.link.parameters()
      if output.style.json {
        try await output.record {
          $0.string("event", "connected")
          connection.identify(in: &$0)
          $0.integer("mtu", connection.client.mtu)
          $0.number("interval_ms", link.interval?.inMilliseconds)
          $0.integer("latency", link.latency)
          $0.number("supervision_timeout_ms", link.supervisionTimeout?.inMilliseconds)
          $0.string("phy", link.phy?.name)
          $0.integer("data_length", link.maxTxOctets)
          $0.integer("rssi", link.rssi)
        }
      } else {
        try await output.line("connected to \(connection.peer)" + (connection.name.map { " (\(DisplayText.escape($0)))" } ?? ""))
        let facts: [(String, String?)] = [
          ("MTU", "\(connection.client.mtu) octets"), ("interval", link.interval.map { "\($0.inMilliseconds) ms" }),
          ("latency", link.latency.map { "\($0) events" }),
          ("supervision timeout", link.supervisionTimeout.map { "\($0.inMilliseconds) ms" }),
          ("PHY", link.phy?.name), ("data length", link.maxTxOctets.map { "\($0) octets" }), ("RSSI", link.rssi.map { "\($0) dBm" }),
        ]
        for case (let name, let value?) in facts { try await output.line("  \(name): \(value)") }
      }
      try await untilInputEnds(connection, output)
    }
  }

  /// Standard input keeps the link up until it ends, but only when that is asked for: it may be that of the loop of a shell. (Commands on it
  /// come with scripts.)
  @LoopActor
  private func untilInputEnds(_ connection: Connection, _ output: Output) async throws {
    guard input != nil else { return }
    var hasTold = false
    try await race(
      {
        try await StandardInput.untilEnd { chunk in
          if !hasTold, chunk.contains(where: { !" \t\r\n".utf8.contains($0) }) {
            hasTold = true
            output.note("commands on standard input are not understood yet; they are ignored until it ends")
          }
        }
      }, { throw try await connection.client.untilClosed() })
  }
}
