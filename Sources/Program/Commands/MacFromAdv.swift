import BluetoothLEDeviceFiles
import BluetoothLELinux
import CommandLine

package struct MacFromAdv: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "mac-from-adv", abstract: "Find the MAC address inside advertisements.",
    discussion: """
      Listens to PEER, or to all devices. If you give --hex, or lines on standard input, blectl decodes this data instead of listening. A line is hex, optionally after the sender's address, or a record of scan --json or --raw. Exits 2 if there is no MAC.

      --learn shows where the data has the sender's own address. --learn ADDRESS shows which devices have this MAC, such as the one on a label, in their data, completely or in part.

      --rule describes where the MAC is. mfg:0x0305@-6:le means the last six bytes of company 0x0305's data, little-endian. svc:fe95@5:le means the six bytes from offset 5 of service fe95's data. svc:*@5:le means the same for any service.
      """)
  static let examples = [
    "blectl -i sim mac-from-adv GateLock", "blectl -i sim mac-from-adv --learn A4:C1:38:00:11:22",
    "blectl -i sim scan --json -n 4 | blectl mac-from-adv",
  ]
  static let traits = CommandTraits(
    printsRecords: true, flagArguments: ["--learn": "[<address>]"], runsBesideOthers: true, recordsNamePeers: true)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "The device (default: all devices)") var peer: PeerArgument?
  @Option("Decode this advertising data (hex)", value: "ad") var hex: String?
  @Option("Where the MAC is; replaces the known layouts; repeatable", value: "rule") var rule: [String] = []
  @OptionGroup var file: DeviceOptions
  @Flag(help: "Show rules for the sender's own address, or for ADDRESS") var learn = false
  @Option("The sender's address, for --hex", value: "address") var sender: Address?

  @Option(
    help: ArgumentHelp(
      "low, medium or high (default: medium)",
      discussion: "low: bytes in the right place. medium: other data may look the same. high: a documented layout.", valueName: "level"))
  var minConfidence: FoundMAC.Confidence = .medium

  @Flag(help: "Connect and read the System ID (2a23) if no MAC is found") var connect = false

  @Option(
    name: .short("d"), parsing: .unconditional,
    help: ArgumentHelp("Time to listen; 0 listens until Ctrl-C (default: 11)", valueName: "seconds"),
    transform: TimeText.seconds)
  var duration: Double = 11

  @Flag(help: "Use the first match; without PEER, stop after one MAC") var first = false
  @OptionGroup var link: LinkOptions

  /// The MAC to learn a rule for, which follows `--learn`. Nil to learn the sender's own address.
  private var label: Address? { if learn, case .selector(.address(let address, _))? = peer { address } else { nil } }
  /// The device to listen to. Nil for all devices.
  private var device: PeerArgument? { label == nil ? peer : nil }

  var usesAdapter: Bool { hex == nil && (device != nil || !StandardInput.isFed) }

  func validate() throws {
    try limit("--duration", seconds: duration)
    if case .selector(.name(let text))? = device, hex == nil, let bytes = Hex.decode(text), bytes.count > 2,
      bytes.count > 6 || Advertisement(bytes).error == nil
    {
      throw ValidationError(
        "For advertising data, use: blectl mac-from-adv --hex \(DisplayText.clip(ShellWords.quoteForShell(text), to: 510))")
    }
    if device != nil, hex != nil { throw ValidationError("PEER and --hex exclude each other.") }
    if sender != nil, hex == nil { throw ValidationError("--sender needs --hex.") }
    if !connect, link.areOfConnection { throw ValidationError("--mtu, --phy, --interval, --retries and --level need --connect.") }
    if link.wait, device == nil { throw ValidationError("--wait needs a PEER.") }
    if connect, device == nil { throw ValidationError("--connect needs a PEER.") }
    if file.device != nil, learn || !rule.isEmpty {
      throw ValidationError("--device and \(learn ? "--learn" : "--rule") exclude each other: the file has a rule.")
    }
    if learn, !rule.isEmpty { throw ValidationError("--learn and --rule exclude each other.") }
    if learn, hex != nil, sender == nil, label == nil { throw ValidationError("--learn --hex needs --sender ADDRESS.") }
  }

  var hasTimeLimit: Bool { duration > 0 || hex != nil }
  var recordFields: RecordFields? {
    RecordFields(
      ["mac", "address", "source", "rule", "offset", "order", "matches_sender", "confidence"], others: ["rssi", "partial", "line", "peer"])
  }
  var failureAtInputEnd: Failure? { device == nil && !first ? nil : Failure(.notFound, "The input ended before a MAC arrived.") }

  func checkForScript() throws { if duration == 0 { throw Failure(.usage, "The command may never end. Add --duration.") } }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { file.device = file.device.map { path($0, .device) } }
  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file.device, as: "--device") }

  func run(in context: Context) async throws {
    let rules = try await (rule + described()).map { try MACRule($0) }
    let search = MACSearch(learn ? .learn(label) : .rules(rules.isEmpty ? MACRule.known : rules), leastConfidence: minConfidence)
    let found = Found(search, context.output)
    // In a session, standard input carries the commands.
    let isInputFree = !context.isInSession
    if hex != nil || device != nil, isInputFree, StandardInput.isPipe {
      context.output.note("blectl does not read standard input here. To decode its lines, leave out \(hex != nil ? "--hex" : "PEER").")
    }
    if let hex {
      try await offline(found, hex: hex)
    } else if device == nil, isInputFree, StandardInput.isFed {
      try await offline(found)
    } else {
      try await live(found, context)
    }
    if found.search.found == 0, connect, let device { try await systemID(device, found, context) }
    try found.search.finish()
  }

  /// Returns a list that contains only the MAC rule of the device file. Empty if the user named no device file.
  /// - Throws: `Failure(.usage)` for a device file without a rule; the errors of `DeviceOptions.load`.
  @LoopActor private func described() async throws -> [String] {
    guard let device = try await file.load() else { return [] }
    guard let rule = device.advertisement?.macRule else {
      throw Failure(
        .usage,
        "\(DisplayText.escape(device.file)) does not describe where the MAC is: advertisement.mac is missing. Use --rule instead.")
    }
    return [rule]
  }

  /// A search for MAC addresses, with the output that shows the found ones.
  @LoopActor private final class Found {
    var search: MACSearch
    let output: Output

    init(_ search: MACSearch, _ output: Output) { (self.search, self.output) = (search, output) }

    func add(_ data: [UInt8], sender: PeerAddress?, line: Int? = nil, rssi: Int? = nil) async throws {
      for mac in search.add(data, sender: sender, line: line) {
        try await MACRecord.show(mac, sender: sender, line: line, rssi: rssi, output)
      }
    }
  }

  @LoopActor private func offline(_ found: Found, hex: String) async throws {
    let data: [UInt8]
    do { data = try Hex.parse(hex) } catch {
      throw Failure(.usage, "--hex: \(error == .notHex ? "\(error) \(DisplayText.quote(hex))" : "\(error)")")
    }
    if data.isEmpty { throw Failure(.usage, "--hex is empty. Give it AD structures, as in --hex 020106") }
    try await found.add(data, sender: sender.map { PeerAddress($0, .public) })
    // Otherwise this error is the reason that no MAC was found.
    if case .malformed? = found.search.problem { return }
    if let error = Advertisement(data).errors.first { found.output.note("--hex is malformed: \(error). The rest was decoded.") }
  }

  @LoopActor private func offline(_ found: Found) async throws {
    // A note tells the user that the program waits.
    let text = try await InputFile.read("-", limit: 64 << 20) { [output = found.output] in
      output.note("Waiting for lines on standard input: AD structures in hex, ADDRESS HEX, or records of a scan. Press Ctrl-C to stop.")
    }
    var (number, unreadable) = (0, 0)
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      let heard: (data: [UInt8], sender: PeerAddress?)?
      do throws(OfflineAdvertisementError) { heard = try OfflineAdvertisement.parse(line, number: number) } catch {
        // An invalid line does not stop the decoding of later lines.
        unreadable += 1
        _ = Program.report(error, found.output)
        continue
      }
      guard let heard else { continue }
      try await found.add(heard.data, sender: heard.sender, line: number)
      if first, found.search.found > 0 { return }
    }
    if unreadable > 0 { throw Failure(.input, "Cannot read \(unreadable.counted("line")) of standard input.") }
  }

  /// The time limit for finding the device, which is the shorter of `--timeout` and `--duration`. One year if the user gave neither.
  private var searchLimit: Duration {
    let limits = [step.timeout, duration > 0 ? duration : nil].compactMap { $0.map { Duration.limited(seconds: $0) } }
    return limits.min() ?? .limited(seconds: 31_536_000)
  }

  @LoopActor private func live(_ found: Found, _ context: Context) async throws {
    let radio = try await context.radio()
    let limit: Duration? = duration > 0 ? .limited(seconds: duration) : nil
    guard let peer = device else {
      try await radio.listen(ScanParameters(), for: limit) { report, _ in
        guard let sender = report.peer else { return .goOn }
        context.process.memory.hear(report)
        let before = found.search.found
        try await found.add(report.data, sender: sender, rssi: label == nil ? nil : report.rssi.map { Int($0) })
        if first, found.search.found > 0 { return .end }
        // A repeater or a second device may have the address, too.
        return label != nil && before == 0 && found.search.found > 0 ? .endAfter(.seconds(3)) : .goOn
      } onDrop: {
        context.reportDropped($0)
      }
      return
    }
    var start = EventLoop.shared.now
    let selector = try await context.configuration.resolve(peer)
    let search = PeerSearch(selector, takesFirst: first, limit: link.wait ? step.waitLimit : searchLimit)
    let match = try await context.session.find(search, LinkText(context.process, context.output, limitOption: "-d"))
    // The wait does not count toward the duration.
    if link.wait { start = EventLoop.shared.now }
    // The advertisements heard during the search count.
    for data in match.payloads where found.search.found == 0 { try await found.add(data, sender: match.peer) }
    let rest = limit.map { $0 - start.duration(to: EventLoop.shared.now) }
    guard found.search.found == 0, rest.map({ $0 > .zero }) ?? true else { return }
    try await radio.listen(ScanParameters(), for: rest) { report, _ in
      guard report.peer == match.peer else { return .goOn }
      try await found.add(report.data, sender: match.peer)
      return found.search.found > 0 ? .end : .goOn
    } onDrop: {
      context.reportDropped($0)
    }
  }

  @LoopActor private func systemID(_ peer: PeerArgument, _ found: Found, _ context: Context) async throws {
    var choice = ChoiceOptions()
    (choice.first, choice.unique) = (first, false)
    try await context.withPeer(PeerOptions(peer, choice, link)) { connection in
      let table = try await connection.client.discover()
      let attribute = try table.resolve(try Selector("180a/2a23"))
      let value = try await connection.client.read(attribute.handle)
      let sender = connection.peer
      guard let mac = MACFinder.fromSystemID(value, sender: sender) else { throw MACSearchError.noneInSystemID(value, of: sender) }
      if found.search.take(mac, sender: sender) { try await MACRecord.show(mac, sender: sender, context.output) }
    }
  }
}

extension FoundMAC.Confidence: ExpressibleByArgument {
  public init?(argument: String) {
    guard let confidence = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = confidence
  }

  public var defaultValueDescription: String { name }
  public static var allValueStrings: [String] { allCases.map(\.name) }
}
