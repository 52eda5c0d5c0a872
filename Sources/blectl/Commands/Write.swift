import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import Operations
import Terminal
import Text

struct Write: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "write", _superCommandName: "blectl",
    abstract: "Write a value, in segments when it does not fit, and wait for the answer if asked.",
    discussion: """
      --mode auto: a characteristic with the write property gets a Write Request (a long write when the value does not fit the MTU); one with \
      only write-without-response gets Write Commands, cut into segments when the value does not fit. An explicit mode is obeyed as given.
      """)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "What to write: 0x0012, ffe1, ffe0/ffe1, ffe1[2], ffe1@2902.")
  var attribute: String

  @Argument(help: "The value in the format of --as, @FILE, or - for standard input.")
  var value: String

  @Option(name: .customLong("as"), help: ArgumentHelp("Format of VALUE: \(ValueFormat.choices).", valueName: "format"))
  var format: ValueFormat = .hex

  @Option(help: ArgumentHelp("auto, request, command, long or reliable.", valueName: "mode"))
  var mode: WriteMode = .auto

  @Option(help: ArgumentHelp("Octets per segment, 1 to 512; auto is what fits.", valueName: "n"))
  var chunk: ChunkArgument = .auto

  @Option(help: ArgumentHelp("Pause between segments, in milliseconds.", valueName: "ms"))
  var gap: Double = 0

  @Flag(help: "A VALUE without octets is meant.")
  var empty = false

  @Flag(help: "Read the value back and compare.")
  var readBack = false

  @Option(
    help: ArgumentHelp(
      "Subscribe to ATTR first and wait for a notification, beginning with HEXPREFIX, as the answer.", valueName: "attr[=hexprefix]"))
  var expect: ExpectArgument?

  /// Those that take no value.
  static let flags = ["--json", "--quiet", "--verbose", "--first", "--unique", "--empty", "--read-back"]

  func validate() throws {
    if !(gap >= 0 && gap <= 60_000) { throw ValidationError("--gap takes milliseconds from 0 to 60000, not \(gap)") }
  }

  func run(in context: Context) async throws {
    let selector = try Selector(attribute)
    let answer = try expect.map { try Selector($0.attribute) }
    let bytes = try await ValueArgument.bytes(value, format, allowingEmpty: empty)
    let output = context.output
    try await context.withPeer(who) { connection in
      let client = connection.client
      // An explicit mode on a plain handle needs nothing from discovery.
      let target = try await client.attribute(selector, discovering: mode == .auto || answer != nil)
      let subscription: Subscription? = if let answer { try await client.subscribe(to: answer) } else { nil }
      let plan = try WritePlan(value: bytes.count, properties: target.properties, mtu: client.mtu, mode: mode, chunk: chunk.octets)
      var pacing = WritePacing(gap: .limited(seconds: gap / 1000))
      pacing.provesArrival = true
      try await client.send(bytes, to: target.handle, plan: plan, pacing: pacing)
      try await report(target, plan, bytes.count, connection, output)
      if readBack { try await compare(bytes, target, client) }
      if let subscription, let expect { try await wait(subscription, expect, connection, context) }
    }
  }

  @LoopActor
  private func report(_ target: Attribute, _ plan: WritePlan, _ count: Int, _ connection: Connection, _ output: Output) async throws {
    if output.style.json {
      try await output.record {
        $0.string("event", "written")
        $0.string("uuid", target.uuid?.description)
        $0.integer("handle", target.handle.number)
        $0.integer("bytes", count)
        $0.string("mode", plan.mode.rawValue)
        $0.integer("segments", plan.segments.count)
        // Commands are followed by a request that proves their arrival.
        $0.integer("acknowledged", count)
        connection.identify(in: &$0)
      }
    } else {
      output.status(
        "wrote \(Quantity.octets(count)) to \(target.uuid?.description ?? target.handle.description) by \(plan.mode.rawValue), in "
          + Quantity.segments(plan.segments.count))
    }
  }

  @LoopActor
  private func compare(_ bytes: [UInt8], _ target: Attribute, _ client: Client) async throws {
    let now = try await client.read(target.handle)
    guard now == bytes else {
      throw Failure(
        .expectation, "--read-back: wrote \(Hex.encode(bytes)) but \(target.handle) now reads \(Hex.encode(now))")
    }
  }

  @LoopActor
  private func wait(_ subscription: Subscription, _ expect: ExpectArgument, _ connection: Connection, _ context: Context) async throws {
    let limit = Duration.limited(seconds: step.timeout ?? 10)
    var seen = "none came"
    let answer = try await subscription.answer(beginningWith: expect.prefix, until: EventLoop.shared.now.advanced(by: limit)) {
      seen = "the last one was \(ValueText.forEyes($0.value))"
      context.output.note("not the answer: \(ValueText.forEyes($0.value))")
    }
    guard let answer else {
      let wanted = expect.prefix.isEmpty ? "" : " beginning with \(Hex.encode(expect.prefix))"
      throw Failure(.expectation, "--expect: no notification\(wanted) on \(expect.attribute) within \(limit.inSeconds) s; \(seen)")
    }
    try await NotificationRecord.show(answer, subscription.characteristic.uuid, .auto, from: connection, context.output)
  }
}

extension WriteMode: ExpressibleByArgument {}

enum ChunkArgument: ExpressibleByArgument, Sendable {
  case auto
  case octets(Int)

  init?(argument: String) {
    if argument == "auto" {
      self = .auto
    } else {
      guard let number = Int(argument), (1...512).contains(number) else { return nil }
      self = .octets(number)
    }
  }

  var octets: Int? {
    switch self {
    case .auto: nil
    case .octets(let number): number
    }
  }

  var defaultValueDescription: String { octets.map(String.init) ?? "auto" }
}

/// `ffe2` or `ffe2=4f50`.
struct ExpectArgument: ExpressibleByArgument, Sendable {
  let attribute: String
  let prefix: [UInt8]

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let attribute = parts.first, !attribute.isEmpty else { return nil }
    self.attribute = String(attribute)
    guard parts.count == 2 else {
      prefix = []
      return
    }
    guard let prefix = Hex.decode(String(parts[1])) else { return nil }
    self.prefix = prefix
  }
}
