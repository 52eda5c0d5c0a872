import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

struct SendFile: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "send-file", _superCommandName: "blectl",
    abstract: "Push a file to a characteristic without losing a packet.",
    discussion: """
      Segments are cut to what fills the link best, the link's own flow control paces them, and a request at the end proves that the peer's \
      ATT layer has taken them all. --verify also asks the application: read-back compares the value, notify:ATTR waits for a notification \
      of the number of octets and their CRC-32 (both u32le).
      """)

  /// Of a file that is sent from memory: larger than any image for such a device, small enough to hold.
  static let limit = 64 << 20

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "The characteristic to write to.")
  var attribute: String

  @Argument(help: "The file; - is standard input.", completion: .file())
  var file: String

  @Option(help: ArgumentHelp("command (default where the characteristic has it) or request.", valueName: "mode"))
  var mode: TransferOptions.Mode?

  @Option(help: ArgumentHelp("Octets per segment, 1 to 512; auto is what fills the link best.", valueName: "n"))
  var chunk: ChunkArgument = .auto

  @Option(help: ArgumentHelp("Segments in flight, 1 to 10000; auto lets the controller's buffers decide.", valueName: "n"))
  var window: WindowArgument = .auto

  @Option(parsing: .unconditional, help: ArgumentHelp("Pause between segments, in milliseconds.", valueName: "ms"))
  var gap: Double = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Ask for proof of arrival after every N segments, while others are sent; default: 16384 octets.", valueName: "n"))
  var ackEvery: Int?

  @Option(parsing: .unconditional, help: ArgumentHelp("Start at this octet of the file.", valueName: "n"))
  var offset = 0

  @Option(help: ArgumentHelp("read-back, or notify:ATTR.", valueName: "how"), completion: .list(["read-back", "notify:"]))
  var verify: VerifyArgument?

  @Option(parsing: .unconditional, help: ArgumentHelp("Ask for this link-layer data length first, 27 to 251 octets.", valueName: "n"))
  var dataLength: Int?

  func validate() throws {
    if !(gap >= 0 && gap <= 60_000) { throw ValidationError("--gap takes milliseconds from 0 to 60000, not \(gap)") }
    if let ackEvery, ackEvery < 1 { throw ValidationError("--ack-every takes 1 or more, not \(ackEvery)") }
    if offset < 0 { throw ValidationError("--offset takes 0 or more, not \(offset)") }
    if let dataLength, !(27...251).contains(dataLength) { throw ValidationError("--data-length takes 27 to 251 octets, not \(dataLength)") }
  }

  /// How it goes, as the options say.
  private var transfer: TransferOptions {
    var options = TransferOptions()
    options.mode = mode
    options.chunk = chunk.octets
    options.pacing.gap = .limited(seconds: gap / 1000)
    options.pacing.window = window.count
    options.pacing.provesEvery = ackEvery
    return options
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    let selector = try Selector(attribute)
    let proof = try verify?.notifying.map { try Selector($0) }
    if file == "-" { try context.refuseInput() }
    let whole = try await payload(context.output)
    let data = offset > 0 ? Array(whole[offset...]) : whole
    let output = context.output
    var target = who.target
    target.requested.dataLength = dataLength
    try await context.withPeer(target) { connection in
      let client = connection.client
      let target = try await client.attribute(selector, discovering: true)
      if case .readBack? = verify { try refuseUnreadable(target, data.count) }
      let subscription: Subscription? = if let proof { try await client.subscribe(to: proof) } else { nil }
      let link = try await connection.link.parameters()
      let options = transfer
      let (plan, chunk) = try options.plan(for: data.count, to: target, mtu: client.mtu, link: Self.capacity(link))
      if window.count != nil, plan.mode != .command {
        output.note("--window has no effect here: one request is in flight at a time")
      } else if window.count != nil, client.bearer.unacknowledged == nil {
        output.note("--window has no effect here: this adapter does not tell what the peer has acknowledged; its own buffers set the pace")
      }
      if plan.mode == .command { try await CommandCheck.check(target, client, isForced: mode == .command, output) }
      let start = EventLoop.shared.now
      let progress = Progress(data.count, offset, connection, output)
      do {
        defer { progress.end() }
        try await client.send(data, to: target.handle, plan: plan, pacing: options.pacing(chunk: chunk)) { try progress.update($0.sent) }
      } catch let error as IncompleteWrite { throw Failure(error, offset: offset) }
      let seconds = start.duration(to: EventLoop.shared.now).inSeconds
      let mismatch = try await mismatch(whole, target, client, subscription, context)
      // As it is now: the peer may have asked for something else meanwhile.
      let latest = (try? await connection.link.parameters()) ?? link
      let result = Result(
        octets: data.count, seconds: seconds, verified: verify.map { _ in mismatch == nil }, plan: plan, chunk: chunk, mtu: client.mtu,
        link: latest)
      try await report(result, connection, output)
      if let mismatch { throw Failure(.expectation, mismatch) }
    }
  }

  /// Better before the transfer than after it.
  private func refuseUnreadable(_ target: Attribute, _ count: Int) throws {
    if let characteristic = target.characteristic, !characteristic.properties.contains(.read) {
      throw Failure(.usage, "--verify read-back: \(characteristic.uuid) cannot be read; --verify notify:ATTR asks another characteristic")
    }
    guard count <= WritePlan.largestValue else {
      throw Failure(
        .usage, "--verify read-back compares one value of at most \(WritePlan.largestValue) octets, not \(count); use --verify notify:ATTR")
    }
  }

  /// The whole file.
  @LoopActor
  private func payload(_ output: Output) async throws -> [UInt8] {
    let all =
      file == "-" ? try await ValueArgument.standardInput(Self.limit, output) : try await InputFile.read(file, limit: Self.limit)
    if all.isEmpty { throw Failure(.input, "\(DisplayText.escape(file)) is empty: there is nothing to send") }
    guard offset < all.count else {
      throw Failure(.input, "--offset \(offset) is not inside \(DisplayText.escape(file)), which has \(all.count) octets")
    }
    return all
  }

  /// - Returns: what is wrong with what arrived; nil when nothing is, or no verification was asked for.
  @LoopActor
  private func mismatch(_ whole: [UInt8], _ target: Attribute, _ client: Client, _ subscription: Subscription?, _ context: Context)
    async throws -> String?
  {
    guard let verify else { return nil }
    guard let subscription else {
      let value = try await client.read(target.handle)
      if value == whole || value[...] == whole[offset...] { return nil }
      return
        "--verify read-back: \(target.uuid?.description ?? "the value") reads \(value.count) octets that are not the file's \(whole.count - offset)"
    }
    let proof = ArrivalProof(whole, from: offset)
    let outcome = try await subscription.arrival(of: proof, until: EventLoop.shared.now.advanced(by: step.limits.transaction)) {
      context.output.note("not a report of count and CRC-32: \(ValueText.forEyes($0.value))")
    }
    guard case .contradicted(let report) = outcome else { return nil }
    return
      "--verify notify:\(verify.notifying ?? ""): sent \(proof.part)\(offset > 0 ? " of a file of \(proof.whole)" : ""); the peer reports "
      + (report.map { "\($0)" } ?? "nothing")
  }

  private struct Result {
    let octets: Int
    let seconds: Double
    let verified: Bool?
    let plan: WritePlan
    let chunk: Int
    let mtu: Int
    let link: LinkParameters
  }

  private static func capacity(_ link: LinkParameters) -> LinkCapacity {
    LinkCapacity(dataLength: link.maxTxOctets, phy: link.phy, interval: link.interval)
  }

  @LoopActor
  private func report(_ result: Result, _ connection: Connection, _ output: Output) async throws {
    let seconds = (result.seconds * 1000).rounded() / 1000
    let rate = result.seconds > 0 ? Double(result.octets) / result.seconds : 0
    let limit = Self.capacity(result.link).limit(mtu: result.mtu)
    if output.style.json {
      try await output.record {
        $0.string("event", "sent")
        $0.integer("bytes", result.octets)
        $0.integer("segments", result.plan.segments.count)
        $0.integer("chunk", result.chunk)
        $0.integer("mtu", result.mtu)
        $0.number("seconds", seconds)
        $0.number("bytes_per_second", rate.rounded())
        $0.string("mode", result.plan.mode.rawValue)
        $0.bool("verified", result.verified)
        $0.integer("offset", offset)
        $0.integer("acknowledged", offset + result.octets)
        connection.identify(in: &$0)
        $0.number("interval_ms", result.link.interval?.inMilliseconds)
        $0.string("phy", result.link.phy?.name)
        $0.integer("data_length", result.link.maxTxOctets)
        $0.number("limit_bytes_per_second", limit?.rounded())
      }
    } else {
      output.clearTransient()
      let share = limit.map { ", \(Int((100 * rate / $0).rounded())) % of what this link carries" } ?? ""
      let proof = result.verified.map { $0 ? ", verified" : ", NOT verified" } ?? ", not verified"
      try await output.line(
        "sent \(Quantity.octets(result.octets)) in \(Quantity.segments(result.plan.segments.count)) of \(result.chunk) by "
          + "\(result.plan.mode.rawValue) (MTU \(result.mtu)): \(seconds) s, \(Quantity.rate(result.octets, in: result.seconds))\(share)\(proof)"
      )
    }
  }
}

extension TransferOptions.Mode: ExpressibleByArgument {}

enum WindowArgument: ExpressibleByArgument, Sendable {
  case auto
  case segments(Int)

  init?(argument: String) {
    if argument == "auto" {
      self = .auto
    } else {
      guard let number = Int(argument), (1...10_000).contains(number) else { return nil }
      self = .segments(number)
    }
  }

  var count: Int? { if case .segments(let number) = self { number } else { nil } }

  var defaultValueDescription: String { "auto" }
}

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
