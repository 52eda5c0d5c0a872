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
      Lines of scans (--raw, --json) are advertising data too, and those of -vv ATT PDUs. No radio is used.

      trace is a whole file of btsnoop, pcap or pcapng: its packets, with the names of attributes as the trace tells them, and at the end who asked \
      what on each link, how long it took and what failed. --summary shows only that.

      Exits 5 when something does not follow its format; what could be read of it is shown.
      """)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions

  @Argument(help: "adv, att, hci, value or trace.")
  var what: What

  @Argument(
    help: ArgumentHelp("Octets in hex, a file, or - for standard input; of value the UUID before.", valueName: "input"),
    completion: .file())
  var input: [String] = []

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
    if process.trace != nil { throw ValidationError("--trace records what a radio does, and decode uses none.") }
  }

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
      throw Failure(.input, "\(shown) is no trace that can be read: \(error)")
    }
    do { try await listing.show(packets: !summary) } catch let error as MalformedPacket {
      throw Failure(.input, "\(shown) cannot be read to its end; what is before that is shown: \(error)")
    }
  }

  @LoopActor
  private func packets(_ context: Context, _ kind: String, layer: String, _ decode: ([UInt8]) -> DecodedPacket) async throws {
    var problems = Problems(kind)
    for item in try await DecodedInput.read(input, limit: Self.limit, context).items() {
      let packet = decode(item.octets)
      problems.add(packet.problem, item.line)
      if context.output.style.json {
        try await context.output.record { json in
          json.string("event", "packet")
          if let line = item.line { json.integer("line", line) }
          PacketRecord.write(&json, packet, item.octets, layer: layer)
        }
      } else {
        for line in PacketText.lines(packet) { try await context.output.line(line) }
      }
    }
    try problems.finish()
  }

  @LoopActor
  private func advertisements(_ context: Context) async throws {
    let input = try await DecodedInput.read(input, limit: Self.limit, context)
    var problems = Problems("advertisement")
    guard let lines = input.lines else {
      for item in try input.items() { try await show(item.octets, nil, line: nil, &problems, context) }
      return try problems.finish()
    }
    for (number, text) in lines {
      let item: (data: [UInt8], sender: PeerAddress?)?
      do throws(OfflineAdvertisementError) { item = try OfflineAdvertisement.parse(text.utf8, number: number) } catch {
        throw Failure(error, of: input.name)
      }
      guard let (data, sender) = item else { continue }
      try await show(data, sender, line: number, &problems, context)
    }
    try problems.finish()
  }

  @LoopActor
  private func show(_ data: [UInt8], _ sender: PeerAddress?, line: Int?, _ problems: inout Problems, _ context: Context) async throws {
    let advertisement = Advertisement(data)
    problems.add(advertisement.error, line)
    if context.output.style.json {
      try await context.output.record { json in
        json.string("event", "advertisement")
        if let line { json.integer("line", line) }
        AdvertisementRecord.write(&json, advertisement, data, sender, AdvertisingFormats())
      }
      return
    }
    if let sender { try await context.output.line("\(sender)") }
    for text in AdvertisingDetail.parts(data, of: sender, AdvertisingFormats()) {
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
    var problems = Problems("value")
    for item in try await DecodedInput.read(Array(input.dropFirst()), limit: Self.limit, context).items() {
      problems.add(DecodedText.problem(item.octets, of: uuid), item.line)
      if context.output.style.json {
        try await context.output.record { json in
          json.string("event", "value")
          if let line = item.line { json.integer("line", line) }
          json.string("uuid", uuid.description)
          json.string("name", AssignedNumbers.name(of: uuid))
          json.string("value", Hex.encode(item.octets))
          json.string("text", ValueText.text(item.octets))
          DecodedRecord.write(&json, item.octets, of: uuid)
        }
      } else {
        try await context.output.line(ValueText.forEyes(item.octets, of: uuid))
      }
    }
    try problems.finish()
  }

  /// What did not follow its format.
  private struct Problems {
    private let kind: String
    private var count = 0
    private var all = 0
    private var first: (problem: String, line: Int?)?

    init(_ kind: String) { self.kind = kind }

    mutating func add(_ problem: (some CustomStringConvertible)?, _ line: Int?) {
      all += 1
      guard let problem else { return }
      count += 1
      if first == nil { first = (problem.description, line) }
    }

    /// - Throws: Failure(.protocolViolation), when there was something.
    func finish() throws {
      guard let first else { return }
      let place = first.line.map { "line \($0): " } ?? ""
      let what = all == 1 ? "the \(kind) does not follow its format" : "\(count) of \(all) \(kind)s do not follow their format"
      throw Failure(.protocolViolation, "\(what): \(place)\(first.problem)")
    }
  }
}
