import BluetoothLEDeviceFiles
import BluetoothLEFirmware
import CommandLine
import Traces

package struct Decode: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "decode", abstract: "Decode advertising data, packets, traces or firmware files.",
    discussion: """
      WHAT is adv (AD structures), att (a PDU), hci (an H4 packet), value UUID (a value of that type), trace or firmware. Traces are btsnoop, pcap, pcapng and pklg files and Android bug reports, also in gzip and ZIP. Without WHAT, blectl detects the kind of the input.

      Lines of a FILE or of standard input are hex. Lines of scan --raw or --json, of -vv and of hcidump --raw work, too. So do bytes after a label with a colon: "ACL Data RX: 02 0b 20". Quote such a line on the command line. blectl decodes input that is not text as bytes.

      trace prints the packets with the names of attributes, then a summary of each connection: requests, timing, errors.

      firmware prints what an MCUboot image (.bin, .hex) or a package for Nordic Secure DFU (.zip) contains.

      Exits 5 if something is malformed, but shows what it could read. Exits 66 if a line is not hex or a file is unreadable.
      """)
  static let examples = [
    "blectl decode adv 0201060302f0ff", "blectl decode value battery_level 3c", "blectl decode att 0a1100",
    "blectl decode trace capture.btsnoop --summary",
  ]
  static let traits = CommandTraits(
    unusedOptions: ["--adapter", "--timeout", "--trace", "--trace-secrets", "--record", "--strict"])

  @OptionGroup var process: ProcessOptions

  @Argument(
    help: ArgumentHelp("adv, att, hci, value, trace or firmware (default: detected)", valueName: "what"),
    completion: .list(What.allCases.map(\.rawValue)))
  var first: String?

  @Argument(help: ArgumentHelp("Hex, a file, or - for stdin (for value: a UUID, then hex)", valueName: "input"), completion: .file())
  var others: [String] = []

  /// The kind of input that the user named. Nil if the first word is not a kind, so that `decode` must detect the kind.
  private var what: What? { first.flatMap { What(rawValue: $0.lowercased()) } }
  private var input: [String] { what == nil ? (first.map { [$0] } ?? []) + others : others }

  @Option(help: KeyArgument.help) var key: [KeyArgument] = []
  @Flag(help: "Print only the summary of a trace") var summary = false

  enum What: String, CaseIterable {
    case adv, att, hci, value, trace, firmware
  }

  /// The maximum number of input bytes, except for traces (`TraceReader.largestFile`).
  static let limit = 64 << 20

  func validate() throws {
    if let what { try check(what) }
    if process.trace != nil { throw ValidationError("decode uses no radio, so there is nothing for --trace to record.") }
  }

  private func check(_ kind: What) throws {
    if summary, kind != .trace { throw ValidationError("--summary is an option of decode trace.") }
    if !key.isEmpty, kind != .adv { throw ValidationError("--key is an option of decode adv.") }
  }

  var usesAdapter: Bool { false }

  @LoopActor func name(_ files: inout CommandFiles) {
    let words = what == .value ? input.dropFirst() : input[...]
    if words.count == 1 { files.readsValue(words[words.startIndex], as: "the input") }
  }

  func run(in context: Context) async throws {
    let (kind, read) = if let what { (what, nil as [UInt8]?) } else { try await DecodeDetection.kind(of: input, context) }
    do { try check(kind) } catch let error as ValidationError { throw Failure(.usage, error.message) }
    switch kind {
    case .adv: try await advertisements(read, context)
    case .att:
      try await packets(read, context, "ATT PDU", layer: "att") { DecodedPacket(att: $0) }
    case .hci:
      try await packets(read, context, "HCI packet", layer: "hci") { DecodedPacket(hci: $0) }
    case .value: try await values(context)
    case .trace: try await trace(read, context)
    case .firmware: try await firmware(read, context)
    }
  }

  @LoopActor private func firmware(_ read: [UInt8]?, _ context: Context) async throws {
    guard let name = input.first ?? (context.isInputFed ? "-" : nil), input.count < 2 else {
      throw Failure(.usage, "decode firmware takes one file, or - for standard input.")
    }
    let contents = if let read { read } else { try await DecodedInput.file(name, FirmwareFile.fileLimit, isTrace: true, context) }
    let file = try FirmwareFile(reading: contents)
    if context.output.style.json {
      try await context.output.record { FirmwareRecord.write(&$0, file) }
    } else {
      let width = context.output.outIsTerminal ? context.output.width : nil
      for line in FirmwareText.lines(file, width: width) { try await context.output.line(line) }
    }
    do throws(FirmwareFileError) { try file.validate() } catch { throw Failure(.protocolViolation, error.failure.message) }
  }

  @LoopActor private func trace(_ read: [UInt8]?, _ context: Context) async throws {
    guard let name = input.first ?? (context.isInputFed ? "-" : nil), input.count < 2 else {
      throw Failure(.usage, "decode trace takes one file, or - for standard input.")
    }
    let shown = name == "-" ? "standard input" : DisplayText.quote(name)
    let file = if let read { read } else { try await DecodedInput.file(name, TraceReader.largestFile, isTrace: true, context) }
    var listing: TraceListing
    do { listing = try await TraceListing(file, context.output) } catch let error as MalformedPacket {
      if DecodedBytes.isLog(file) {
        context.output.note("\(shown) is a log of -vv, not a trace. Decoding its lines as att.")
        return try await packets(file, context, "ATT PDU", layer: "att") { DecodedPacket(att: $0) }
      }
      throw Failure(.input, "\(shown) cannot be read as a trace: \(ForeignFile.explain(file, named: name) ?? "\(error)")")
    }
    let malformed: Int
    do { malformed = try await listing.show(packets: !summary) } catch let error as MalformedPacket {
      throw Failure(.input, "\(shown) cannot be read to its end: \(error)")
    }
    if malformed > 0 { throw Failure(.protocolViolation, "\(shown) has \(malformed.counted("malformed packet")).") }
  }

  @LoopActor
  private func packets(
    _ read: [UInt8]?, _ context: Context, _ kind: String, layer: String, _ decode: ([UInt8]) -> DecodedPacket
  ) async throws {
    let input = try await DecodedInput(input, limit: Self.limit, read: read, context)
    // L2CAP carries 65,535 bytes. HCI adds 5.
    var problems = DecodeProblems(kind, limit: layer == "hci" ? 65_540 : 65_535, of: input, context.output)
    var lines = DecodedBytes(input, isHCI: layer == "hci")
    while let (bytes, line) = try await lines.next(&problems) {
      let packet = decode(bytes)
      let advertisingError = packet.anyProblem == nil ? packet.advertisingError : nil
      problems.add(packet.anyProblem ?? advertisingError, line)
      if context.output.style.json {
        try await context.output.record { json in
          json.string("event", "packet")
          if let line { json.integer("line", line) }
          PacketRecord.write(&json, packet, bytes, layer: layer)
          if let advertisingError { json.string("error", "\(advertisingError)") }
        }
      } else {
        for line in PacketText.lines(packet) { try await context.output.line(line) }
      }
    }
    try problems.finish()
  }

  @LoopActor private func advertisements(_ read: [UInt8]?, _ context: Context) async throws {
    var input = try await DecodedInput(input, limit: Self.limit, read: read, context)
    var problems = DecodeProblems("advertisement", limit: Advertisement.maximumLength, of: input, context.output)
    var isSenderNeeded = key.contains { $0.address == nil }
    func show(_ data: [UInt8], _ sender: PeerAddress?, line: Int?) async throws {
      if sender == nil, isSenderNeeded {
        isSenderNeeded = false
        context.output.note("Cannot decrypt some advertisements: they have no sender. Give the key its address: --key ADDRESS=HEX")
      }
      try await self.show(data, sender, line: line, &problems, context)
    }
    while let item = try await input.next() {
      guard case .line(let number, let text) = item else {
        if let bytes = problems.bytes(item) { try await show(bytes, nil, line: nil) }
        continue
      }
      let heard: (data: [UInt8], sender: PeerAddress?)?
      do throws(OfflineAdvertisementError) { heard = try OfflineAdvertisement.parse(text.utf8, number: number) } catch {
        problems.refuse(Failure(error, of: input.name).message)
        continue
      }
      if let heard { try await show(heard.data, heard.sender, line: number) } else { problems.pass(text.trimmed) }
    }
    try problems.finish()
  }

  @LoopActor
  private func show(_ data: [UInt8], _ sender: PeerAddress?, line: Int?, _ problems: inout DecodeProblems, _ context: Context) async throws
  {
    let advertisement = Advertisement(data)
    let formats = AdvertisingFormats(keys: key.keys)
    problems.add(advertisement.error, line)
    if context.output.style.json {
      try await context.output.record { json in
        json.string("event", "advertisement")
        if let line { json.integer("line", line) }
        AdvertisementRecord.write(&json, advertisement, data, sender, formats)
      }
      return
    }
    if let sender { try await context.output.line("\(sender)") }
    for text in AdvertisingDetail.parts(data, of: sender, formats, remarks: context.output.style.verbosity > 0) {
      try await context.output.line((sender == nil ? "" : "  ") + text)
    }
  }

  /// Returns the UUID with a name. The name of a service means its only characteristic or its measurement, such as `heart_rate`.
  /// - Throws: `Failure(.usage)` for another service.
  @LoopActor private static func characteristic(named name: String, _ output: Output) throws -> UUID? {
    let (uuid, service) = (AssignedNumbers.uuid(named: name), AssignedNumbers.snake(name))
    guard (0x1800..<0x1900).contains(uuid?.short ?? 0) else { return uuid }
    let all = AssignedNumbers.snakeNames.filter { $0.name.hasPrefix("\(service)_") && (0x2A00..<0x2C00).contains($0.uuid.short ?? 0) }
    guard let meant = all.count == 1 ? all[0] : all.first(where: { $0.name == "\(service)_measurement" }) else {
      let names = all.isEmpty ? "" : " Use one of: \(all.prefix(8).map(\.name).alternatives)"
      throw Failure(.usage, "\(DisplayText.quote(name)) is a service, which has no value.\(names)")
    }
    output.note("\(service) means \(meant.name) (\(meant.uuid)).")
    return meant.uuid
  }

  @LoopActor private func values(_ context: Context) async throws {
    guard let name = input.first else {
      throw Failure(.usage, "decode value needs a UUID or a name before the bytes: blectl decode value 2a37 0648")
    }
    guard let uuid = try UUID(name) ?? Self.characteristic(named: name, context.output) else {
      let meant = SpellingSuggestion.nearest(to: name.lowercased(), among: AssignedNumbers.snakeNames.map(\.name))
      if let (_, command) = DecodeDetection.value(input) {
        throw Failure(.usage, "\(DisplayText.quote(name)) is no UUID. The UUID comes before the value: \(command)")
      }
      throw Failure(
        .usage,
        "\(DisplayText.quote(name)) is neither a UUID nor a name such as \(meant ?? "heart_rate_measurement"). The UUID comes before the value: "
          + "blectl decode value UUID \(DisplayText.escape(input.last ?? ""))")
    }
    let input = try await DecodedInput(Array(input.dropFirst()), limit: Self.limit, context)
    var problems = DecodeProblems("value", limit: WriteProcedure.largestValue, of: input, context.output)
    var lines = DecodedBytes(input)
    while let (bytes, line) = try await lines.next(&problems) {
      problems.add(DecodedText.problem(bytes, of: uuid), line)
      try await context.output.show(ValueText.displayText(bytes, of: uuid)) { json in
        json.string("event", "value")
        if let line { json.integer("line", line) }
        json.uuid("uuid", uuid)
        json.string("name", AssignedNumbers.name(of: uuid))
        json.hex("value", bytes)
        DecodedRecord.writeWithText(&json, bytes, of: uuid)
      }
    }
    try problems.finish()
  }
}
