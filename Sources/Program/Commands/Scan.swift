import BluetoothLEDeviceFiles
import CommandLine

package struct Scan: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "scan", abstract: "Show advertisements.",
    discussion: """
      On a terminal, a table shows one line per device, strongest first: p public, r random, ~ changing address; c connectable.

      In a pipe, each new combination of address, PDU type and payload is a record. Advertisements and scan responses stay separate. With --devices or --sort, blectl merges all packets of a device and prints one line or record per device at the end.

      Repeat a filter to match any of its values. Different filters must all match. They apply to everything heard from a device.

      -v adds one line per AD structure. blectl decodes iBeacon, AltBeacon, Eddystone, BTHome, and Apple's and Microsoft's messages.
      """)
  static let examples = ["blectl -i sim scan band -d 3", "blectl -i sim scan --devices --sort rssi | head -n 10"]
  static let traits = CommandTraits(
    printsRecords: true, unusedOptions: ["--timeout"], rareOptions: ["--key", "--irk", "--device", "--phy"], runsBesideOthers: true,
    recordsNamePeers: true)

  @OptionGroup var process: ProcessOptions

  @Argument(help: ArgumentHelp("Names as for --name, addresses, or mac:MAC (default: all devices)", valueName: "name"))
  var names: [String] = []

  @Option(
    name: .short("d"), parsing: .unconditional,
    help: ArgumentHelp("Scan time; 0 scans until Ctrl-C (default: 10)", valueName: "seconds"), transform: TimeText.seconds)
  var duration: Double = 10

  @Flag(help: "Send no scan requests, so get no scan responses") var passive = false
  @Option("Part of the name, or a glob for the whole name", value: "word|glob") var name: [String] = []
  @Option("An advertised service: UUID or name", value: "uuid") var service: [ServiceArgument] = []
  @Option("An address, @last or @ALIAS", value: "address") var address: [ScannedPeerArgument] = []
  @Option("A company, and first bytes of its data: 0305:01", value: "id[:hex]") var manufacturer: [ManufacturerArgument] = []
  @Option("The weakest signal, -127 to 20 dBm", value: "n", parsing: .unconditional) var minRssi: Int?
  @Flag(help: "Print every report, not only new ones") var duplicates = false
  @Flag(help: "Print one line or record per device, at the end") var devices = false
  @Option("With --devices, print all devices every S seconds", value: "s", transform: TimeText.seconds) var every: Double?
  @Option("1m, coded or 1m,coded (default: 1m)", value: "phys") var phy: ScanPHYs = .le1M
  @Option("Stop after N records; with --sort, print the first N", value: "n", name: .short("n"), parsing: .unconditional) var count: Int?
  @Option("rssi, name, last or first (default: rssi)", value: "key") var sort: DeviceOrder.Key?
  @Option("Append packets as JSON; with --devices, all of them", value: "file", completion: .file()) var log: String?
  @Option(help: KeyArgument.help) var key: [KeyArgument] = []
  @Option(help: IdentityKeyArgument.help) var irk: [IdentityKeyArgument] = []
  @OptionGroup var file: DeviceOptions
  @Flag(help: "Print records as hex instead of a table") var raw = false

  func validate() throws {
    try limit("--duration", seconds: duration)
    if let minRssi, !(-127...20).contains(minRssi) {
      throw ValidationError("--min-rssi takes -127 to 20 dBm, not \(minRssi)." + (minRssi > 0 ? " Did you mean -\(minRssi)?" : ""))
    }
    if (name + names).contains("") { throw ValidationError("The name is empty. Is a variable unset? To show all devices, leave it out.") }
    if let word = names.first(where: { $0.contains(":") && PeerArgument(form: $0) == nil }) {
      if AdapterSpec.isPlain(word) { throw ValidationError("An adapter needs -i: blectl scan -i \(ShellWords.quoteForShell(word))") }
      throw ValidationError("Invalid address \(DisplayText.quote(word)). Use AA:BB:CC:DD:EE:FF, or name:GLOB.")
    }
    if Set(names.filter { !$0.hasPrefix("mac:") }.map { ScannedPeerArgument(argument: $0) == nil }).count > 1 {
      throw ValidationError("Give names or addresses, not both.")
    }
    if let service = names.lazy.compactMap({ $0.after("service:") }).first {
      throw ValidationError("scan takes a service as an option. Use: blectl scan --service \(ShellWords.quoteForShell(service))")
    }
    if devices, raw || duplicates { throw ValidationError("--devices and --\(raw ? "raw" : "duplicates") exclude each other.") }
    if every != nil, !showsDevices { throw ValidationError("--every needs --devices.") }
    if let every, every < 0.1 || every > 86_400 { throw ValidationError("--every takes 0.1 to 86400 seconds.") }
    if log == "-" { throw ValidationError("--log takes the name of a file. For records on standard output, use --json.") }
    try limit("--count", count, to: 1...)
  }

  var runsUntilStopped: Bool { duration == 0 && (count == nil || listensToEnd) }
  /// Whether the user asked for devices instead of packets. `--sort` has no meaning for packets.
  private var showsDevices: Bool { devices || sort != nil && !raw && !duplicates }
  /// Whether the scan takes its whole time even if `--count` devices were heard: the first ones in an order are known only then.
  private var listensToEnd: Bool { showsDevices && (sort != nil || every != nil) }

  var recordFields: RecordFields? {
    let data = ["services", "manufacturer_data", "service_data", "tx_power"]
    return showsDevices
      ? RecordFields(
        (every == nil ? [] : ["time"]) + ["address", "address_type", "name", "rssi.last", "rssi.mean", "interval_ms", "connectable"] + data
          + ["mac", "packets"] + (asksForTimes ? ["first_seen", "last_seen"] : []) + ["decoded"],
        others: ["rssi", "identity", "identity_type", "first_seen", "last_seen", "decoded_error", "peer"])
      : RecordFields(
        ["time", "address", "address_type", "name", "rssi", "pdu", "connectable"] + data + ["raw", "decoded"],
        others: ["identity", "identity_type", "phy", "secondary_phy", "sid", "truncated", "error", "decoded_error", "structures", "peer"])
  }
  var hasTimeLimit: Bool { duration > 0 }
  var failureAtInputEnd: Failure? { count.map { Failure(.notFound, "The input ended before \($0.counted("record")) arrived.") } }

  static func hint(_ value: String, for place: String) -> String? {
    place.hasPrefix("--service ")
      ? ServiceArgument.hint(value) : place.hasPrefix("--manufacturer ") ? ManufacturerArgument.hint(value) : nil
  }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    guard case .missingValue = mistake, let index = words.firstIndex(of: "--sort"), index + 1 < words.count,
      let key = DeviceOrder.Key(rawValue: String(words[index + 1].drop { $0 == "-" }))
    else { return nil }
    return "Write the key of --sort without a hyphen: --sort \(key.rawValue)"
  }

  func checkForScript() throws { if duration == 0 { throw Failure(.usage, "The command may never end. Add --duration.") } }

  /// Returns the filter that the user's options describe.
  @LoopActor private func watch(_ configuration: Configuration, _ output: Output) async throws -> DeviceWatch.Options {
    var options = DeviceWatch.Options()
    // Beside devices, the log is the only place for packets.
    options.keepsDuplicates = duplicates || showsDevices && log != nil
    let addresses = names.compactMap { ScannedPeerArgument(argument: $0) }
    options.filter.macs = names.compactMap { $0.after("mac:").flatMap { Address($0) } }
    options.filter.names = (name + names.filter { ScannedPeerArgument(argument: $0) == nil && !$0.hasPrefix("mac:") }).map {
      ScanFilter.NamePattern($0.after("name:") ?? $0)
    }
    options.filter.services = try service.map { try $0.uuid(output) }
    for argument in address + addresses { options.filter.devices.append(try await configuration.resolve(argument.peer)) }
    options.filter.manufacturers = manufacturer.map(\.manufacturer)
    options.filter.minimumRSSI = minRssi
    return options
  }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { file.device = file.device.map { path($0, .device) } }
  @LoopActor func name(_ files: inout CommandFiles) {
    files.reads(file.device, as: "--device")
    files.writes(log, as: "--log")
  }

  func run(in context: Context) async throws {
    let options = try await watch(context.configuration, context.output)
    let device = try await file.load()
    if let device, device.advertisement?.manufacturerData.isEmpty ?? true {
      context.output.note("\(DisplayText.escape(device.file)) describes no manufacturer data: advertisement.manufacturer_data is missing")
    }
    let log = try log.map { try ScanLog($0) }
    let view = ScanView(
      options, sort: sort ?? .rssi, showsBytes: raw, showsDevices: showsDevices, repeats: every != nil, limit: listensToEnd ? count : nil,
      formats: AdvertisingFormats(keys: key.keys, device: device), context.output, log)
    if sort != nil, !showsDevices, !view.isLive {
      throw Failure(.usage, "--sort orders devices, but --\(raw ? "raw" : "duplicates") prints packets as they arrive. Omit one of them.")
    }
    if process.json, !showsDevices, context.output.errIsTerminal, context.configuration.isNew(hint: "scan --devices") {
      context.output.note("Each record is a packet. For one record per device, use --devices.")
    }
    defer { context.process.memory.hear(view.heard) }
    do { try await listen(view, in: context) } catch {
      // Show the final table. A scan that never started has none.
      try await view.finish(after: error)
      throw error
    }
    try await view.finish()
    if let count, results(view) < count {
      let wanted = showsDevices ? count.counted("device") : "\(count.counted("record")) from \(view.deviceCount.counted("device"))"
      throw Failure(
        .notFound,
        "Received \(results(view)) of \(wanted) in \(Duration.limited(seconds: duration).secondsText) s. To scan longer, use --duration.")
    }
    if view.records == 0, !options.filter.isEmpty {
      context.output.note(
        "No device matches the filters. Heard \(view.deviceCount.counted("device"))." + (meant(context.configuration) ?? ""))
    } else if view.deviceCount == 0, case .replay(let file)? = try? context.process.adapter() {
      context.output.note(
        "The recording has no advertisement and no connection, so it shows no device. To see what it has: blectl decode trace "
          + ShellWords.quoteForShell(file))
    } else if view.deviceCount == 0, !phy.phys.contains(.le1M) {
      context.output.note("No device heard. Most devices, also in the simulator, advertise on 1m only. Use --phy 1m,coded.")
    }
  }

  /// Advice on a name that matched no device but looks like another argument. Nil without a guess.
  @LoopActor private func meant(_ configuration: Configuration) -> String? {
    let arguments = address + names.compactMap { ScannedPeerArgument(argument: $0) }
    if arguments.count == 1, case .selector(.address(let mac, _)) = arguments[0].peer {
      return " If the address is inside advertisements: blectl scan mac:\(mac)"
    }
    guard names.count == 1, let word = names.first else {
      return names.isEmpty || names.contains { $0.hasPrefix("mac:") || PeerArgument(form: $0) != nil }
        ? nil : " Put a name with spaces in quotes: blectl scan \(ShellWords.quoteForShell(names.joined(separator: " ")))"
    }
    if word == "on" { return " scan starts automatically. Leave out \"on\": blectl scan" }
    if word == "help" { return " For the help: blectl scan --help" }
    let shown = DisplayText.clip(ShellWords.quoteForShell(word), to: 60)
    if let adapter = AdapterSpec.isPlain(word) ? word : AdapterSpec.named(in: word) {
      return " An adapter needs -i: blectl scan -i \(ShellWords.quoteForShell(adapter))"
    }
    if configuration.isAlias(word) { return " For the alias of this name: blectl scan @\(shown)" }
    if ServiceArgument(argument: word) != nil { return " For devices with a service: --service \(shown)" }
    return (try? TimeText.seconds(word)).map { _ in " For the scan time: --duration \(shown)" }
  }

  /// Returns the number of results that `--count` limits: devices or records.
  @LoopActor private func results(_ view: ScanView) -> Int { showsDevices ? view.shownDevices : view.records }

  @LoopActor private func listen(_ view: ScanView, in context: Context) async throws {
    let radio = try await context.radio()
    var parameters = ScanParameters()
    parameters.isActive = !passive
    parameters.phys = phy.phys
    let resolver = try await context.session.resolver(adding: irk.map { ($0.key, $0.address) })
    try view.start()
    // Local copies, because each access to an argument is a lookup.
    let (count, showsDevices) = (listensToEnd ? nil : count, showsDevices)
    @LoopActor func listen() async throws {
      try await radio.listen(parameters, for: duration > 0 ? .limited(seconds: duration) : nil, resolving: resolver) { report, time in
        try await view.add(report, at: time)
        return count.map { (showsDevices ? view.shownDevices : view.records) >= $0 } ?? false ? .end : .goOn
      } onDrop: {
        context.reportDropped($0)
      }
    }
    guard let every else { return try await listen() }
    try await race({ try await listen() }) {
      var next = EventLoop.shared.now
      while true {
        next = next.advanced(by: .limited(seconds: every))
        try await EventLoop.shared.sleep(until: next)
        try await view.writeDevices()
      }
    }
  }
}

/// A service that the user named by UUID, by name, or by a prefix of its name.
struct ServiceArgument: ExpressibleByArgument, Sendable {
  private let text: String
  /// The matching services. Contains several if more than one name starts with the typed text.
  private let services: [(name: String, uuid: UUID)]

  init?(argument: String) {
    text = argument
    if let uuid = AssignedNumbers.uuid(named: argument) ?? UUID(argument) {
      services = [(argument, uuid)]
    } else {
      var seen: Set<UUID> = []
      services = Self.all.filter { argument.utf8.count >= 3 && $0.name.hasPrefix(argument.lowercased()) && seen.insert($0.uuid).inserted }
      if services.isEmpty { return nil }
    }
  }

  private static var all: [(name: String, uuid: UUID)] {
    AssignedNumbers.snakeNames.filter { (0x1800...0x18FF).contains($0.uuid.short ?? 0) }
  }

  /// Returns the UUID of the matching service.
  /// - Throws: `Failure(.ambiguous)` if several services match.
  @LoopActor func uuid(_ output: Output) throws -> UUID {
    guard services.count == 1, let service = services.first else {
      throw Failure(
        .ambiguous,
        "\(DisplayText.quote(text)) matches \(services.count) services: \(services.map(\.name).joined(separator: ", ")). "
          + "Type more of the name.")
    }
    if service.name != text { output.note("\(DisplayText.escape(text)) means \(service.name) (\(service.uuid))") }
    return service.uuid
  }

  static func hint(_ text: String) -> String? {
    SpellingSuggestion.nearest(to: text.lowercased(), among: all.map(\.name)).map { "Did you mean \($0)?" }
  }
}

/// An address with or without its type, `@last` or `@ALIAS`. It selects a device regardless of its advertisements.
struct ScannedPeerArgument: ExpressibleByArgument, Sendable {
  let peer: PeerArgument

  init?(argument: String) {
    guard let peer = PeerArgument(form: argument) else { return nil }
    if case .selector(let selector) = peer { guard case .address = selector else { return nil } }
    self.peer = peer
  }
}

extension Address: ExpressibleByArgument { public init?(argument: String) { self.init(argument) } }

/// A company and the first bytes of its data, such as `0x0305`, `0305:1240` or `apple`. The company is an identifier of four hex digits or
/// a prefix of a name.
struct ManufacturerArgument: ExpressibleByArgument, Sendable {
  let manufacturer: ScanFilter.Manufacturer

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let id = parts.first, let company = Self.company(String(id)), let prefix = parts.count == 2 ? Hex.decode(String(parts[1])) : []
    else { return nil }
    manufacturer = ScanFilter.Manufacturer(company: company, prefix: prefix)
  }

  private static func company(_ text: String) -> UInt16? {
    // Without 0x, fewer digits may be a name: ace, abb.
    let digits = text.after("0x") ?? (text.utf8.count == 4 ? text : "")
    if let number = Hex.number(digits) { return UInt16(exactly: number) }
    let named = AssignedNumbers.companies(named: text)
    return named.count == 1 ? named.first : nil
  }

  static func hint(_ text: String) -> String? {
    if let data = text.firstIndex(of: ":").map({ text[text.index(after: $0)...] }) {
      do { _ = try Hex.parse(String(data)) } catch {
        return error == .notHex ? "\(error) \(DisplayText.quote(String(data)))" : "\(error)"
      }
    }
    let companies = AssignedNumbers.companies(named: String(text.prefix { $0 != ":" }))
    if companies.isEmpty {
      let meant = AssignedNumbers.companyNamed(like: String(text.prefix { $0 != ":" })).map { "Did you mean \($0)?" }
      return meant ?? "the Bluetooth SIG knows no company with this name. Use an identifier (004c, 0x004c) or a name (apple)"
    }
    guard companies.count > 1 else { return nil }
    let list = companies.prefix(8).map {
      "\(Hex.encode($0)) \(AssignedNumbers.company($0) ?? "")"
    }
    return "\(companies.count) companies match: \(list.joined(separator: ", "))\(companies.count > 8 ? ", …" : "")"
  }
}

/// A key for encrypted sensor data, such as `231d39…b932`. `54:48:E6:8F:80:A5=231d39…b932` is the key of a single device.
struct KeyArgument: ExpressibleByArgument, Sendable {
  static let help = ArgumentHelp(
    "Decrypt BTHome with this 16-byte key; repeatable", discussion: "With an address, decrypt only data from this device.",
    valueName: "[address=]hex")

  let address: Address?
  let key: AES128

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count <= 2, let digits = parts.last, let bytes = Hex.decode(String(digits)), let key = AES128(key: bytes) else {
      return nil
    }
    self.key = key
    address = parts.count == 2 ? Address(parts[0]) : nil
    if parts.count == 2, address == nil { return nil }
  }
}

/// A value of `--irk`.
struct IdentityKeyArgument: ExpressibleByArgument, Sendable {
  static let help = ArgumentHelp(
    "Resolve private addresses with this identity resolving key", discussion: "An address before the key is the identity.",
    valueName: "[address=]hex")

  let address: PeerAddress?
  let key: UInt128

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count <= 2, let digits = parts.last, let key = StoredBond.number(String(digits)) else { return nil }
    self.key = key
    guard parts.count == 2 else {
      address = nil
      return
    }
    guard case .address(let identity, let type)? = PeerSelector(String(parts[0])) else { return nil }
    address = PeerAddress(identity, type ?? .public)
  }
}

extension [KeyArgument] {
  var keys: BTHomeKeys {
    var keys = BTHomeKeys()
    for argument in self { keys.add(argument.key, of: argument.address) }
    return keys
  }
}

struct ScanPHYs: ExpressibleByArgument, Sendable {
  let phys: Set<PHY>

  static let le1M = Self(phys: [.le1M])

  private init(phys: Set<PHY>) { self.phys = phys }

  init?(argument: String) {
    var phys: Set<PHY> = []
    for word in argument.split(separator: ",") {
      guard let phy = PHY(name: word), phy != .le2M else { return nil }
      phys.insert(phy)
    }
    guard !phys.isEmpty else { return nil }
    self.phys = phys
  }

  var defaultValueDescription: String { phys.map(\.name).sorted().joined(separator: ",") }
}

extension DeviceOrder.Key: ExpressibleByArgument {}
