import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import Operations
import Terminal
import Text

struct WaitForValue: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", _superCommandName: "blectl",
    abstract: "Wait for a notification or indication: the first that fits since the last command.",
    discussion: """
      Values that came since then count when the characteristic was subscribed to: by subscribe, or because wait is on the same line, as in \
      'write ff02 01; wait ff01'. A note names the packets that wait cannot have seen. \
      --timeout is how long to wait for each, 10 seconds unless given; exits 4 when it is over.
      """)
  static let turn = ShellTurn.ofDevice

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("The characteristic, and what the value begins with.", valueName: "attr[=hex|=\"text\"]"))
  var pattern: PatternArgument

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("Wait for so many.", valueName: "n"))
  var count: Int = 1

  @Option(
    name: .customLong("as"), help: ArgumentHelp("How to show values: \(ValueFormat.choices).", valueName: "format"),
    completion: .list(ValueFormat.names))
  var format: ValueFormat = .auto

  func validate() throws {
    if count < 1 { throw ValidationError("--count takes 1 or more, not \(count)") }
  }

  /// So that what the command before brings about is not missed.
  @LoopActor
  func subscribeAhead(in shell: Shell) async throws -> Subscription? {
    guard let connection = shell.current?.connection, connection.isOpen else { return nil }
    return try await connection.client.subscribe(
      try await connection.client.characteristic(try Selector(pattern.attribute)), keepingValues: false)
  }

  func run(in context: Context) async throws {
    try pattern.check("wait")
    try await context.withLane(who.target) { connection, lane in
      if let count = lane.takeForgotten() {
        context.output.note("wait looks back at some \(lane.recentLimit) values; \(count) came before them")
      }
      let characteristic = try await connection.client.characteristic(try Selector(pattern.attribute))
      await context.describe(characteristic, on: connection)
      let isLate = !connection.client.isSubscribed(to: characteristic)
      let subscription = try await connection.client.subscribe(characteristic, keepingValues: false)
      if let note = unseen(characteristic, isLate: isLate, lane) { context.output.note(note) }
      do {
        try await wait(for: characteristic, isLate: isLate, lane, connection, context)
        try? await subscription.cancel()
      } catch {
        await shielded { try? await subscription.cancel() }
        throw error
      }
    }
  }

  /// The packets that it cannot have seen; nil when there can be none.
  @LoopActor
  private func unseen(_ characteristic: Characteristic, isLate: Bool, _ lane: Lane) -> String? {
    // Nothing ran on this link.
    guard let command = lane.lastCommand else { return nil }
    let attribute = DisplayText.escape(pattern.attribute)
    if isLate {
      return "wait cannot see what \(attribute) sent before now: it was not subscribed to. Run `subscribe \(attribute)` first."
    }
    return lane.takePassed(characteristic.valueHandle).map {
      "wait does not look at \($0) value(s) that \(attribute) sent before `\(command)` began. Put wait right behind the command that it is for."
    }
  }

  @LoopActor
  private func wait(
    for characteristic: Characteristic, isLate: Bool, _ lane: Lane, _ connection: Connection, _ context: Context
  ) async throws {
    let limit = Duration.limited(seconds: step.timeout ?? 10)
    for number in 0..<count {
      let found = try await lane.value(until: EventLoop.shared.now.advanced(by: limit), isNeeded: true) {
        $0.handle == characteristic.valueHandle && $0.value.starts(with: pattern.octets)
      }
      guard let found else {
        let what = pattern.typed.map { " beginning with \(DisplayText.escape($0))" } ?? ""
        let attribute = DisplayText.escape(pattern.attribute)
        let typed = ShellWords.quote(pattern.attribute)
        // What a write in front of it brought about may have come before.
        let hint =
          isLate && number == 0
          ? "; \(attribute) was subscribed to only now: `subscribe \(typed)` first, or `write … --expect \(typed)`" : ""
        let others =
          lane.recent.last.map { event, uuid in
            let meaning = context.process.memory.meaning(of: event.value, at: event.handle, uuid, on: connection)
            return "; the last value was \(ValueText.forEyes(event.value, meaning)) (\(uuid?.description ?? "?"))"
          } ?? "; nothing came"
        throw Failure(
          .timeout,
          "\(number) of \(count) value(s)\(what) came on \(attribute) within \(limit.secondsText) s\(others)\(hint)")
      }
      if !context.isShownBeside(found.event) {
        try await NotificationRecord.show(
          found.event, found.uuid, format, from: connection, context.process.memory, context.output)
      }
    }
  }
}
