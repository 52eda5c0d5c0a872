import BluetoothLELinux
import CommandLine

package struct SendFile: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "send-file", abstract: "Send a file to a characteristic without losing a packet.",
    discussion: """
      blectl picks the segment size that fills the link and sends as fast as the controller accepts. A request at the end confirms that the device received everything.

      --verify also checks what the device's application received. read-back reads and compares the value. notify:ATTR waits for a notification with the number of bytes and their CRC-32 (both u32le).
      """)
  static let examples = [
    "seq 2000 | blectl -i sim send-file Panel fff6 -", "seq 2000 | blectl -i sim send-file Panel fff6 - --verify notify:fff7",
  ]
  static let traits = CommandTraits(attributeUse: .sending)

  /// The maximum size of a file in bytes (64 GiB).
  static let limit = 64 << 30

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "The characteristic to write to") var attribute: String
  @Argument(help: "The file, or - for standard input", completion: .file()) var file: String
  @Option("command or request (default: command if possible)", value: "mode") var mode: TransferOptions.Mode?
  @Option("Bytes per segment, 1-512 (default: auto)", value: "n") var chunk: ChunkArgument = .auto
  @Option("Segments in flight, 1-10000 (default: auto)", value: "n") var window: WindowArgument = .auto

  @Option("Pause between segments, 0-60000 (default: auto)", value: "ms", parsing: .unconditional, transform: TimeText.milliseconds)
  var gap: Double = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Confirm delivery every N segments (default: auto)", discussion: "auto means every 24 KiB, or every 0.4 s on a fast link.",
      valueName: "n"))
  var ackEvery: Int?

  @Option("Start at byte N of the file (default: 0)", value: "n", parsing: .unconditional) var offset = 0
  @Flag(help: "Continue the last transfer of this file") var resume = false
  @Option("Reconnect up to N times and continue, 0-1000 (default: 0)", value: "n", parsing: .unconditional) var reconnect = 0
  @Option("read-back or notify:ATTR", value: "how", completion: .list(["read-back", "notify:"])) var verify: VerifyArgument?
  @Option("Request this Link Layer data length, 27-251", value: "n", parsing: .unconditional) var dataLength: Int?

  func validate() throws {
    try limit("--gap", gap, to: 0...60_000, "milliseconds", unitFirst: true)
    try limit("--ack-every", ackEvery, to: 1...)
    try limit("--offset", offset, to: 0...)
    try limit("--reconnect", reconnect, to: 0...1000)
    if resume, offset > 0 { throw ValidationError("--resume and --offset exclude each other.") }
    try limit("--data-length", dataLength, to: 27...251, "bytes")
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    guard mistake == .missingArgument(place: "<file>"), let file = words.last, InputFile.exists(file) else { return nil }
    return "\(DisplayText.quote(file)) is a file. The attribute comes before it: send-file PEER ATTR \(DisplayText.escape(file))"
  }

  var attributesInScript: [String] { [attribute] }

  func run(in context: Context) async throws {
    if (try? Selector(attribute)) == nil, InputFile.exists(attribute) {
      let words = ["send-file", who.peer.typed, file, attribute].map { ShellWords.quoteForShell($0) }.joined(separator: " ")
      throw Failure(.usage, "\(DisplayText.quote(attribute)) is a file. Put the attribute first: blectl \(words)")
    }
    let selector = try Selector(typed: attribute)
    let report = try verify?.notifying.map { try Selector(typed: $0) }
    if file == "-" { try context.refuseInput() }
    let output = context.output
    let source =
      if file == "-" {
        try await output.readingInput { try await ByteFile.open(file, limit: Self.limit, whenIdle: $0) }
      } else {
        try await output.reading(file) { try await ByteFile.open(file, limit: Self.limit, whenIdle: $0) }
      }
    var request = try await context.request(who)
    request.parameters.dataLength = dataLength
    let isSimulated = context.configuration.kindOfAir == "sim" && !context.isInSession
    let text = TransferText(output, file: file, reporter: verify?.notifying)
    let delivery = FileDelivery(plan(selector, report, context), source, context.configuration, text)
    do {
      let verdict = try await delivery.run(context.links, request)
      if case .failed(let failure) = verdict { throw Failure(failure, reporter: verify?.notifying, isSimulated: isSimulated) }
    } catch TransferError.nothingToSend(let offset, let total) {
      let name = DisplayText.escape(file)
      guard let total, total > 0 else { throw Failure(.input, "Nothing to send: \(name) is empty.") }
      throw Failure(.input, "--offset \(offset) is past the end of \(name), which has \(total) bytes.")
    } catch let error as NothingLeft {
      throw Failure(
        .input,
        "Nothing left to send: all \(error.bytes) bytes of \(DisplayText.escape(file)) arrived earlier. To send them again, omit --resume.")
    } catch let error as InterruptedTransfer where (error.write.cause as? OutputFailure)?.isClosedPipe ?? false {
      throw error.write.cause
    } catch let error as InterruptedTransfer where isSimulated && !error.isResumedHere {
      throw Failure(transfer: error.write, isSimulated: true)
    }
  }

  /// Returns the delivery plan that the user's options describe.
  @LoopActor private func plan(_ selector: Selector, _ report: Selector?, _ context: Context) -> FileDelivery.Plan {
    var plan = FileDelivery.Plan(selector)
    plan.transfer.mode = mode
    plan.transfer.chunk = chunk.number
    plan.transfer.pacing.gap = .limited(seconds: gap / 1000)
    plan.transfer.pacing.window = window.number
    plan.transfer.pacing.provesEvery = ackEvery
    plan.offset = offset
    plan.resumes = resume
    plan.reconnection = ReconnectPolicy(attempts: reconnect, longestPause: .milliseconds(500))
    plan.verification = report.map { .notification($0) } ?? verify.map { _ in .readBack }
    plan.patience = step.limits.transaction
    plan.air = context.configuration.kindOfAir
    return plan
  }
}

extension TransferOptions.Mode: ExpressibleByArgument {}

enum VerifyArgument: ExpressibleByArgument, Sendable {
  case readBack
  case notify(String)

  init?(argument: String) {
    if argument == "read-back" {
      self = .readBack
    } else {
      guard let attribute = argument.after("notify:"), !attribute.isEmpty else { return nil }
      self = .notify(attribute)
    }
  }

  var notifying: String? { if case .notify(let attribute) = self { attribute } else { nil } }
}
