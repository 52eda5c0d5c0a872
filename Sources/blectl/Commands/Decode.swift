import ArgumentParser
import Bluetooth
import Decoding
import EventLoop
import GAP
import LinuxIO
import Operations
import Terminal
import Text

struct Decode: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode", _superCommandName: "blectl",
    abstract: "Say what octets mean: advertising data, ATT PDUs, HCI packets, values, traces.",
    discussion: """
      WHAT is adv (AD structures), att (one PDU), hci (one packet, with the indicator of H4 before it), value UUID (the value of an \
      attribute of that type) or trace. Octets are given in hex; a FILE, or standard input (-), has them in lines, and what is no text is taken as it is. \
      Lines of scans (--raw, --json) are advertising data too, and those of -vv ATT PDUs; those of hcidump --raw are HCI packets. \
      Those of standard input are shown as they come. No radio is \
      used: -i and -t have no effect.

      trace is a whole file of btsnoop, pcap or pcapng, of a host or of a sniffer: its packets, with the names of attributes as the trace tells \
      them, and at the end who asked what on each link, how long it took and what failed. --summary shows only that.

      Exits 5 when something does not follow its format; what could be read of it is shown. A line that is no octets is said on standard error, and \
      makes it 66.
      """)

  @OptionGroup var process: ProcessOptions

  @Argument(help: "adv, att, hci, value or trace.")
  var what: What

  @Argument(
    help: ArgumentHelp("Octets in hex, a file, or - for standard input; of value the UUID before.", valueName: "input"),
    completion: .file())
  var input: [String] = []

  @Option(
    help: ArgumentHelp(
      "Decrypts BTHome in advertising data: 32 hex digits, for this address or for every sender; repeatable.", valueName: "[address=]hex"))
  var key: [KeyArgument] = []

  @Flag(help: "Of a trace what it comes to, without the packets.")
  var summary = false

  enum What: String, CaseIterable, ExpressibleByArgument {
    case adv, att, hci, value, trace
  }

  /// Octets that are read at most.
  static let limit = 64 << 20
  static let traceLimit = 256 << 20

  func validate() throws {
    if summary, what != .trace { throw ValidationError("--summary belongs to decode trace.") }
    if !key.isEmpty, what != .adv { throw ValidationError("--key belongs to decode adv.") }
    if process.trace != nil { throw ValidationError("--trace records what a radio does, and decode uses none.") }
  }

  var usesAdapter: Bool { false }

  @LoopActor func name(_ files: inout CommandFiles) {
    let words = what == .value ? input.dropFirst() : input[...]
    if words.count == 1 { files.readsValue(words[words.startIndex], as: "the input") }
  }

  func run(in context: Context) async throws {
    switch what {
    case .adv: try await advertisements(context)
    case .att:
      try await packets(context, "ATT PDU", layer: "att") { DecodedPacket(att: $0) }
    case .hci:
      try await packets(context, "HCI packet", layer: "hci") { DecodedPacket(hci: $0) }
    case .value: try await values(context)
    case .trace: try await trace(context)
    }
  }

  @LoopActor
  private func trace(_ context: Context) async throws {
    guard let name = input.first ?? (context.shell == nil && StandardInput.isFed ? "-" : nil), input.count < 2 else {
      throw Failure(.usage, "decode trace takes one file, or - for standard input")
    }
    let shown = name == "-" ? "standard input" : DisplayText.quote(name)
    let file = try await DecodedInput.file(name, Self.traceLimit, isTrace: true, context)
    var listing: TraceListing
    do { listing = try await TraceListing(file, context.output) } catch let error as MalformedPacket {
      throw Failure(.input, "\(shown) is no trace that can be read: \(ForeignFile.explain(file) ?? "\(error)")")
    }
    let malformed: Int
    do { malformed = try await listing.show(packets: !summary) } catch let error as MalformedPacket {
      throw Failure(.input, "\(shown) cannot be read to its end; what is before that is shown: \(error)")
    }
    if malformed > 0 { throw Failure(.protocolViolation, "\(malformed) packet(s) of \(shown) do not follow their format") }
  }

  @LoopActor
  private func packets(_ context: Context, _ kind: String, layer: String, _ decode: ([UInt8]) -> DecodedPacket) async throws {
    let input = try await DecodedInput(input, limit: Self.limit, context)
    var problems = DecodeProblems(kind, of: input, context.output)
    var lines = DecodedOctets(input, isHCI: what == .hci)
    while let (octets, line) = try await lines.next(&problems) {
      let packet = decode(octets)
      let advertisingError = packet.anyProblem == nil ? packet.advertisingError : nil
      problems.add(packet.anyProblem ?? advertisingError, line)
      if context.output.style.json {
        try await context.output.record { json in
          json.string("event", "packet")
          if let line { json.integer("line", line) }
          PacketRecord.write(&json, packet, octets, layer: layer)
          if let advertisingError { json.string("error", "\(advertisingError)") }
        }
      } else {
        for line in PacketText.lines(packet) { try await context.output.line(line) }
      }
    }
    try problems.finish()
  }

  @LoopActor
  private func advertisements(_ context: Context) async throws {
    var input = try await DecodedInput(input, limit: Self.limit, context)
    var problems = DecodeProblems("advertisement", of: input, context.output)
    var isSenderNeeded = key.contains { $0.address == nil }
    func show(_ data: [UInt8], _ sender: PeerAddress?, line: Int?) async throws {
      if sender == nil, isSenderNeeded {
        isSenderNeeded = false
        context.output.note("a --key without an address needs a sender, which not every advertisement here has: give it as ADDRESS=HEX")
      }
      try await self.show(data, sender, line: line, &problems, context)
    }
    while let item = try await input.next() {
      guard case .line(let number, let text) = item else {
        if let octets = problems.octets(item) { try await show(octets, nil, line: nil) }
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
    for text in AdvertisingDetail.parts(data, of: sender, formats) {
      try await context.output.line((sender == nil ? "" : "  ") + text)
    }
  }

  @LoopActor
  private func values(_ context: Context) async throws {
    guard let name = input.first else {
      throw Failure(.usage, "decode value needs a UUID, or its name, before the octets: decode value 2a37 0648")
    }
    guard let uuid = UUID(name) ?? AssignedNumbers.uuid(named: name) else {
      throw Failure(
        .usage, "\(DisplayText.quote(name)) is neither a UUID nor the name of one; names are written like heart_rate_measurement")
    }
    let input = try await DecodedInput(Array(input.dropFirst()), limit: Self.limit, context)
    var problems = DecodeProblems("value", of: input, context.output)
    var lines = DecodedOctets(input)
    while let (octets, line) = try await lines.next(&problems) {
      problems.add(DecodedText.problem(octets, of: uuid), line)
      if context.output.style.json {
        try await context.output.record { json in
          json.string("event", "value")
          if let line { json.integer("line", line) }
          json.uuid("uuid", uuid)
          json.string("name", AssignedNumbers.name(of: uuid))
          json.hex("value", octets)
          json.string("text", ValueText.text(octets))
          DecodedRecord.write(&json, octets, of: uuid)
        }
      } else {
        try await context.output.line(ValueText.forEyes(octets, of: uuid))
      }
    }
    try problems.finish()
  }
}
