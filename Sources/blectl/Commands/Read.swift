import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import Operations
import Terminal
import Text

struct Read: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", _superCommandName: "blectl",
    abstract: "Read values; long ones whole.",
    discussion: """
      With one ATTR prints the value alone, with several one line each: ATTR, a tab, the value. What a value means follows it where that is \
      known, but for --as; octets that --as does not fit are an error.
      """)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "What to read: 0x0012, ffe1, ffe0/ffe1, ffe1[2], ffe1@2901, battery_level.")
  var attributes: [String]

  @Option(
    name: .customLong("as"), help: ArgumentHelp("How to show values, auto unless given: \(ValueFormat.choices).", valueName: "format"),
    completion: .list(ValueFormat.names))
  var chosenFormat: ValueFormat?

  /// A default value would cost a search of all that conforms to anything at each start.
  var format: ValueFormat { chosenFormat ?? .auto }

  @Flag(help: "Write the octets themselves.")
  var raw = false

  func validate() throws {
    if attributes.isEmpty { throw ValidationError("Name at least one attribute to read.") }
    if attributes.contains("as") { throw ValidationError("A format is given with --as; the word as belongs to let and expect.") }
    if raw, format != .auto { throw ValidationError("--raw and --as exclude each other.") }
    if raw, process.json { throw ValidationError("--raw and --json exclude each other.") }
  }

  func run(in context: Context) async throws {
    let selectors = try attributes.map { try Selector($0) }
    if raw, context.output.style.json { throw Failure(.usage, "--raw and --json exclude each other.") }
    let output = context.output
    try await context.withPeer(who.target, exchangingMTU: false) { connection in
      try await connection.client.read(selectors) { index, found in
        if !raw { try ValueText.check(found.value, format) }
        RecordedCommand.present?.read(attributes[index], found.value)
        if output.style.json {
          try await output.record {
            $0.string("event", "value")
            $0.uuid("uuid", found.uuid)
            $0.integer("handle", found.handle.number)
            $0.hex("value", found.value)
            $0.string("text", ValueText.text(found.value))
            ValueText.write(&$0, found.value, of: found.uuid, as: format)
            connection.identify(in: &$0)
          }
        } else if raw {
          try await output.write(found.value)
        } else {
          let text = output.forEyes(ValueText.result(found.value, of: found.uuid, as: format))
          try await output.line(selectors.count == 1 ? text : "\(attributes[index])\t\(text)")
        }
      }
    }
  }
}
