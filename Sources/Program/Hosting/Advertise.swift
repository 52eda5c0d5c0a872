import BluetoothLEDeviceFiles
import CommandLine

package struct Advertise: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "advertise", abstract: "Advertise a name, services, data or a beacon.",
    discussion: """
      Scanners hear the advertisement, but cannot connect, because a device without attributes has no use for a connection. To serve a device: blectl peripheral FILE.

      An advertisement holds 31 bytes, 3 of them for Flags. The scan response holds what does not fit. With --extended, the advertisement holds up to 1650 bytes, if the adapter can, and has no scan response unless that is all it has.

      Runs until Ctrl-C or --duration. Then it stops advertising.
      """)
  static let examples = [
    "blectl -i sim advertise --name Shop --manufacturer 0305:0102 -d 60",
    "blectl -i sim advertise --bthome temperature=21.5 door=open -d 60",
  ]
  static let traits = CommandTraits(
    printsRecords: true, unusedOptions: ["--timeout", "--record"], runsInSessions: false, isRecordable: false)

  @OptionGroup var process: ProcessOptions
  @Option("The complete local name", value: "name") var name: String?
  @Option("A service, UUID or name; repeatable", value: "uuid") var service: [ServiceArgument] = []
  @Option("A company and its data: 0305:0102; repeatable", value: "id[:hex]") var manufacturer: [ManufacturerArgument] = []

  @Option(
    help: ArgumentHelp(
      "An iBeacon", discussion: "POWER is the RSSI at 1 m in dBm (default: -59).", valueName: "uuid/major/minor[/power]"),
    transform: { try IBeacon(parsing: $0) })
  var ibeacon: IBeacon?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Measurements in BTHome: temperature=21.5 door=open", discussion: "Not encrypted.", valueName: "name=value"))
  var bthome: [String] = []

  @Option("The whole advertising data, in place of the above", value: "hex", transform: { try Hex.parse($0) }) var raw: [UInt8]?
  @Option("The whole scan response", value: "hex", transform: { try Hex.parse($0) }) var scanResponse: [UInt8]?

  @Option(
    "Stop after SECONDS; 0 runs until Ctrl-C", value: "seconds", name: .short("d"), parsing: .unconditional, transform: TimeText.seconds)
  var duration: Double?

  @Option("Advertising interval, 20 to 10240 ms (default: 100)", value: "ms", parsing: .unconditional, transform: TimeText.milliseconds)
  var interval: Double?

  @Flag(help: "Use extended advertising, which holds more data") var extended = false

  var runsUntilStopped: Bool { duration ?? 0 == 0 }
  var recordFields: RecordFields? { RecordFields(["time", "event", "address"], others: ["address_type"]) }

  func validate() throws {
    try limit("--duration", seconds: duration)
    try limit("--interval", interval, to: 20...10_240, "ms")
    if name == "" { throw ValidationError("The name is empty. Is a variable unset?") }
    if name == nil, service.isEmpty, manufacturer.isEmpty, ibeacon == nil, bthome.isEmpty, raw == nil, scanResponse == nil {
      throw ValidationError(
        "Nothing to advertise. Use --name, --service, --manufacturer, --ibeacon or --bthome, or --raw or --scan-response with the bytes.")
    }
  }

  static func hint(_ value: String, for place: String) -> String? {
    switch place.prefix(while: { $0 != " " }) {
    case "--service": return ServiceArgument.hint(value)
    case "--manufacturer": return ManufacturerArgument.hint(value)
    case "--raw", "--scan-response":
      do { _ = try Hex.parse(value) } catch { return "\(error)" }
      return nil
    default: return nil
    }
  }

  /// Returns the advertisement that the options describe.
  /// - Throws: `Failure(.usage)` for content that does not fit, `Failure(.ambiguous)` for a service.
  @LoopActor private func advertising(_ output: Output) throws -> Advertising {
    var content = AdvertisedContent()
    content.services = try service.map { try $0.uuid(output) }
    content.manufacturerData = manufacturer.map { .init(company: $0.manufacturer.company, data: $0.manufacturer.prefix) }
    (content.name, content.beacon, content.measurements) = (name, ibeacon, bthome)
    (content.raw, content.scanResponse, content.isConnectable, content.isExtended) = (raw, scanResponse, false, extended)
    do throws(AdvertisedContentError) {
      var advertising = try content.advertising()
      if let interval { advertising.interval = .limited(seconds: interval / 1000) }
      return advertising
    } catch { throw Failure(.usage, error.description.replacing("use extended advertising", with: "use --extended")) }
  }

  func run(in context: Context) async throws {
    let advertising = try advertising(context.output)
    let peripheral = try await context.process.servingRadio(nil).peripheral
    let failure = Wait<Void>()
    peripheral.onFailure = { failure.resume(throwing: $0) }
    do {
      try await peripheral.advertise(advertising)
      try await tell(advertising, peripheral.advertisedAddress, context.output)
      let end = duration.flatMap { $0 > 0 ? EventLoop.shared.now.advanced(by: .limited(seconds: $0)) : nil }
      _ = try await withDeadline(end) { try await failure.value() }
    } catch {
      await peripheral.end()
      throw error
    }
    await peripheral.end()
  }

  @LoopActor private func tell(_ advertising: Advertising, _ address: PeerAddress?, _ output: Output) async throws {
    if output.style.json {
      return try await output.record {
        $0.string("event", "advertising")
        $0.time("time", EventLoop.shared.wallClock)
        $0.peer("address", "address_type", address)
      }
    }
    guard !output.style.quiet else { return }
    let parts = [advertising.data, advertising.scanResponse].filter { !$0.isEmpty }
    let contents = parts.flatMap { ScanRecord.contents(Advertisement($0), AdvertisingFormats(), sender: address?.address) }
    let text = contents.isEmpty ? parts.map { Hex.encode($0) } : contents
    output.message(
      output.displayText(
        "Advertising \(text.joined(separator: " ")) as \(address?.description ?? "a private address"). Press Ctrl-C to stop."))
  }
}
