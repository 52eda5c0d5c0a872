import BluetoothLELinux
import BluetoothLESimulator
import CommandLine

package struct Peripheral: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "peripheral", abstract: "Serve the device of a file to centrals, such as phones.",
    discussion: """
      FILE is a peripheral file, see blectl-peripheral(5). blectl advertises as it says, and answers each central that connects.

      Standard input may carry lines that control the device, before and after a central connects:
        set ATTR VALUE, notify ATTR VALUE, indicate ATTR VALUE,
        disconnect [REASON], advertise on|off, fault …

      Runs until Ctrl-C, --duration or --once. Then it stops advertising and disconnects the centrals.
      """)
  static let examples = [
    "blectl -i sim peripheral sensor.json -d 60",
    "echo advertise off | blectl -i sim peripheral sensor.json -d 60",
  ]
  static let traits = CommandTraits(
    printsRecords: true, unusedOptions: ["--timeout", "--record"], runsInSessions: false, isRecordable: false)

  @OptionGroup var process: ProcessOptions

  @Argument(help: ArgumentHelp("A peripheral file with one device", valueName: "file"), completion: .file(extensions: ["json", "jsonc"]))
  var file: String

  @Option(
    "Stop after SECONDS; 0 runs until Ctrl-C", value: "seconds", name: .short("d"), parsing: .unconditional, transform: TimeText.seconds)
  var duration: Double?

  @Flag(help: "Stop when the last central has disconnected") var once = false
  @OptionGroup var advertising: AdvertisingOptions

  var runsUntilStopped: Bool { duration ?? 0 == 0 && !once }
  var recordFields: RecordFields? {
    RecordFields(["time", "event", "address", "uuid", "handle", "value"], others: ["address_type", "mode", "reason", "fault", "level"])
  }

  func validate() throws {
    try limit("--duration", seconds: duration)
    if once, advertising.advertiseOnly { throw ValidationError("--once waits for a central, and --advertise-only takes none.") }
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    let description = try RunningPeripheral.only(try await AdapterSpec.peripherals(in: file), in: file)
    let server = PeripheralServer(description, advertising.chosen, endsWithCentral: once, context)
    let limit = duration.flatMap { $0 > 0 ? Duration.limited(seconds: $0) : nil }
    try await server.run(for: limit)
  }
}

/// The options of `peripheral` that change the advertisements.
struct AdvertisingOptions: ParsableArguments {
  @Flag(help: "Advertise only: no central can connect") var advertiseOnly = false
  @Option("Advertising interval, 20 to 10240 ms (default: as in FILE)", value: "ms") var interval: Double?
  @Flag(help: "Use extended advertising, which holds more data") var extended = false

  func validate() throws {
    if let interval, !(20...10_240).contains(interval) { throw ValidationError("--interval takes 20 to 10240 ms.") }
  }

  var areGiven: Bool { advertiseOnly || interval != nil || extended }

  var chosen: ServingOptions {
    var options = ServingOptions()
    options.interval = interval.map { .limited(seconds: $0 / 1000) }
    (options.isExtended, options.onlyAdvertises) = (extended, advertiseOnly)
    return options
  }
}
