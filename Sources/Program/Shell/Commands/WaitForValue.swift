import CommandLine
import Scripts

package struct WaitForValue: SessionCommand, ValueCommand {
  static let configuration = CommandConfiguration(
    named: "wait",
    abstract: "Wait for a notification or indication, or take one since the last command.",
    discussion: """
      Finds the first value that matches. Values that arrived since the last command count if blectl was subscribed to them. It is subscribed after `subscribe`, and if wait is on the same line as the command: 'write ff02 01; wait ff01'. A note says if wait missed earlier values.

      --timeout limits the wait for each value (default: 10 seconds). Exits 4 if a value does not arrive in time.
      """)
  static let examples = ["write ff02 1b9901; wait ff01", "subscribe ff01; write ff02 1b9902; wait ff01=567c -n 3"]
  static let traits = CommandTraits(attributeUse: .listening, takesEarlierValues: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("The characteristic, and the first bytes of the value", valueName: "attr[=hex]"))
  var pattern: PatternArgument

  @Option("Wait for N values (default: 1)", value: "n", name: .short("n"), parsing: .unconditional) var count: Int = 1
  @Option(name: .customLong("as"), help: ValueFormat.help, completion: .list(ValueFormat.names)) var chosenFormat: ValueFormat?

  func validate() throws { try limit("--count", count, to: 1...) }

  static func hint(_ value: String, for place: String) -> String? { place.hasPrefix("<attr") ? PatternArgument.hint(value) : nil }

  var attributesInScript: [String] { [pattern.attribute] }
  var awaitedAttribute: String? { pattern.attribute }

  func run(in context: Context, _ session: SessionLinks) async throws {
    do { try pattern.check(commandName) } catch var failure as Failure {
      if ScriptTime.parse(pattern.attribute) != nil { failure.add("To pause: sleep \(pattern.attribute)") }
      throw failure
    }
    try await session.withDevice(try await context.request(who)) { connection, device in
      if let count = device.values.takeDropped() {
        context.output.note("wait only checks the last \(device.values.limit) values. It misses \(count) earlier ones.")
      }
      let characteristic = try await connection.client.characteristic(try Selector(typed: pattern.attribute))
      await context.describe(characteristic, on: connection)
      let isLate = !connection.client.isSubscribed(to: characteristic)
      let subscription = try await connection.client.subscribe(characteristic, keepingValues: false)
      if let note = unseen(characteristic, isLate: isLate, device) { context.output.note(note) }
      do {
        try await wait(for: characteristic, isLate: isLate, device, connection, context)
        try? await subscription.cancel()
      } catch {
        await shielded { try? await subscription.cancel() }
        throw error
      }
    }
  }

  /// Returns a note that `wait` ignores the values before the last command, or, if `isLate` is true, that blectl did not receive them.
  /// Nil if no command ran on the connection before `wait`, or if no such value arrived.
  @LoopActor private func unseen(_ characteristic: Characteristic, isLate: Bool, _ device: SessionDevice) -> String? {
    // No command ran on this link before.
    guard let command = device.values.lastCommand else { return nil }
    let attribute = DisplayText.escape(pattern.attribute)
    if isLate {
      return "wait cannot see earlier values of \(attribute): blectl was not subscribed to it. Run `subscribe \(attribute)` first."
    }
    return device.values.takeEarlier(characteristic.valueHandle).map {
      "wait ignores \($0.counted("value")) that \(attribute) sent before `\(command)`. Put wait directly after its command."
    }
  }

  @LoopActor private func wait(
    for characteristic: Characteristic, isLate: Bool, _ device: SessionDevice, _ connection: Connection, _ context: Context
  ) async throws {
    let limit = Duration.limited(seconds: step.timeout ?? 10)
    for number in 0..<count {
      let end = EventLoop.shared.now.advanced(by: limit)
      let found = try await context.output.showingWait("Waiting for \(DisplayText.escape(pattern.attribute))", until: end) {
        try await device.value(until: end, isNeeded: true) {
          $0.handle == characteristic.valueHandle && $0.value.starts(with: pattern.bytes)
        }
      }
      guard let found else {
        let what = pattern.typed.map { " starting with \(DisplayText.escape($0))" } ?? ""
        let attribute = DisplayText.escape(pattern.attribute)
        let typed = ShellWords.quote(pattern.attribute)
        // The values that the preceding command caused may have arrived before.
        let hint =
          isLate && number == 0
          ? " blectl was not subscribed to \(attribute) before. Run `subscribe \(typed)` first, or use `write … --expect \(typed)`" : ""
        let others =
          device.values.recent.last.map { event, uuid in
            let meaning = context.process.memory.meaning(of: event.value, at: event.handle, uuid, on: connection)
            return " Last value: \(ValueText.displayText(event.value, meaning)) (\(meaning.attribute(at: event.handle)))."
          } ?? ""
        throw Failure(
          .timeout,
          "Received \(number) of \(count.counted("value"))\(what) on \(attribute) in \(limit.secondsText) s.\(others)\(hint)")
      }
      if !context.isShownBeside(found.event) {
        try await NotificationRecord.show(found.event, found.uuid, context.format(chosenFormat, of: connection), from: connection, context)
      }
    }
  }
}
