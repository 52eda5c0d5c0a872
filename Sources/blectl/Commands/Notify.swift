import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import Terminal
import Text

struct Notify: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify", _superCommandName: "blectl",
    abstract: "Show notifications and indications as they come.",
    discussion: "Runs until Ctrl-C, --count or --duration. Exits 4 when the time is over before --count values came.")

  @OptionGroup var options: GlobalOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "What to subscribe to.")
  var attributes: [String]

  @Option(help: ArgumentHelp("Stop after this many values.", valueName: "n"))
  var count: Int?

  @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"))
  var duration: Double?

  @Flag(help: "When the link is lost, find the device again and go on.")
  var reconnect = false

  @Option(name: .customLong("as"), help: ArgumentHelp("How to show values: \(ValueFormat.choices).", valueName: "format"))
  var format: ValueFormat = .auto

  func validate() throws {
    if attributes.isEmpty { throw ValidationError("Name at least one characteristic.") }
    if let count, count < 1 { throw ValidationError("--count takes 1 or more, not \(count)") }
    if let duration, !(duration > 0 && duration <= 31_536_000) {
      throw ValidationError("--duration takes seconds up to 31536000, not \(duration)")
    }
  }

  func run(in context: Context) async throws {
    let selectors = try attributes.map { try Selector($0) }
    let tally = Tally()
    var pause = Duration.milliseconds(500)
    while true {
      do {
        try await context.withPeer(who) { try await listen($0, selectors, tally, context) }
        return
      } catch let error as BluetoothError where reconnect && tally.hasStarted && [.linkLost, .notFound, .timeout].contains(error.kind) {
        // A link that held is lost for a new reason: the patience begins anew.
        if tally.isListening { pause = .milliseconds(500) }
        tally.isListening = false
        context.output.note("\(error.message); looking for it again in \(pause.inSeconds) s")
        let wake = EventLoop.shared.now.advanced(by: pause)
        try await EventLoop.shared.sleep(until: tally.end.map { min($0, wake) } ?? wake)
        pause = min(pause * 2, .seconds(30))
        if let end = tally.end, EventLoop.shared.now >= end { return try finish(tally) }
      }
    }
  }

  @LoopActor private final class Tally {
    var values = 0
    /// The value handles subscribed to on the present link.
    var names: [AttributeHandle: UUID] = [:]
    var end: LoopClock.Instant?
    var hasStarted = false
    /// Subscribed on the present link.
    var isListening = false
  }

  @LoopActor
  private func listen(_ session: Session, _ selectors: [Selector], _ tally: Tally, _ context: Context) async throws {
    let shown = Wait<Void>()
    let feed = RecordFeed(context.output) {
      tally.values += 1
      guard let count, tally.values >= count else { return true }
      shown.resume(returning: ())
      return false
    }
    tally.names = [:]
    session.client.onValue = { event in
      guard !shown.isSettled, let uuid = tally.names[event.handle] else { return }
      do { try feed.add(NotificationRecord.octets(event, uuid, format, context.output)) } catch { shown.resume(throwing: error) }
    }
    defer { feed.end() }
    for selector in selectors {
      let target = try await Target.discovered(selector, session.client)
      guard let characteristic = target.characteristic else {
        throw BluetoothError(.notFound, "handle \(target.handle) is not a characteristic's value and cannot notify")
      }
      tally.names[target.handle] = characteristic.uuid
      _ = try await session.client.subscribe(characteristic, kind: .auto)
    }
    if !tally.hasStarted, let duration { tally.end = EventLoop.shared.now.advanced(by: .limited(seconds: duration)) }
    tally.hasStarted = true
    tally.isListening = true
    context.output.status("subscribed; Ctrl-C ends")
    _ = try await withDeadline(tally.end) {
      try await race(
        { try await race({ try await shown.value() }, { try await feed.run() }) }, { throw try await session.client.untilClosed() })
    }
    try finish(tally)
  }

  @LoopActor
  private func finish(_ tally: Tally) throws {
    if let count, tally.values < count {
      throw BluetoothError(.timeout, "\(tally.values) of \(count) values came in \(duration ?? 0) s")
    }
  }
}
