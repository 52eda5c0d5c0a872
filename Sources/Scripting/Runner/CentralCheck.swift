import BluetoothLE
import BluetoothLESimulator
import Presentation
import Program
import Scripts

/// A check of what centrals do with the device that the script serves, for an `expect peripheral` line.
@LoopActor
struct CentralCheck {
  private let expected: ExpectedCentral
  private let steps: ScriptSteps

  init(_ expected: ExpectedCentral, _ steps: ScriptSteps) { (self.expected, self.steps) = (expected, steps) }

  /// Waits for the expected event, which becomes the result of the script. With `no`, waits until the time has passed.
  /// - Throws: StepFailure; the errors of `AttributeDatabase.resolve`; the failure of the adapter.
  func check() async throws {
    let device = try steps.shell.peripheral.present()
    let attribute = try expected.attribute.map { try steps.text($0) }
    let handle = try attribute.map { try device.handle(of: try Selector(typed: $0)) }
    let limit = try steps.time(expected.within)
    var mistake: (any Error)?
    let found = try await device.event(until: EventLoop.shared.now.advanced(by: limit)) { record in
      guard record.name == expected.event.rawValue, handle == nil || record.event.handle == handle else { return false }
      guard mistake == nil, let predicate = expected.predicate else { return true }
      do {
        return try steps.verdict(predicate, on: try steps.value(expected.extraction, of: ScriptResult(record.value))) == .holds
      } catch let error as Failure where error.kind == .expectation { return false } catch {
        mistake = error
        return true
      }
    }
    if let mistake { throw mistake }
    guard let found else { return expected.isAbsent ? () : try fail(device, handle, attribute, "No central", limit) }
    if expected.isAbsent { return try fail(device, handle, attribute, "A central", limit, found) }
    let result = ScriptResult(found.value)
    steps.result = result
    steps.step.take(result.record, at: steps.elapsed, isCommand: false, isExpected: true) { steps.meaning(of: $0, in: $1) }
    if let attribute, let seen = try? steps.value(expected.extraction, of: result) { steps.add(seen, named: attribute) }
  }

  /// Throws the failure, with what centrals did since the last command.
  private func fail(
    _ device: RunningPeripheral, _ handle: AttributeHandle?, _ attribute: String?, _ who: String, _ limit: Duration,
    _ found: ServedRecord? = nil
  ) throws {
    let what = [expected.event.rawValue, attribute].compactMap(\.self).joined(separator: " ")
    let verb =
      switch expected.event {
      case .connected, .disconnected, .paired, .read: what
      case .subscribed: "subscribed to \(attribute ?? "")"
      case .unsubscribed: "unsubscribed from \(attribute ?? "")"
      case .written: "wrote \(attribute ?? "")"
      case .notified: "received \(attribute ?? "")"
      }
    let condition = try expected.predicate.map { try steps.expected($0, expected.extraction) }
    let like = found ?? device.events.recent.last { $0.name == expected.event.rawValue && $0.event.handle == handle }
    let value = like.flatMap { record in record.event.value.map { _ in steps.shown(ScriptResult(record.value)) } }
    let dropped = device.events.takeDropped().map { " Dropped earlier events: \($0)." } ?? ""
    var failure = StepFailure(
      "\(who) \(DisplayText.escape(verb))\(condition == nil ? "" : " with a matching value")\(found == nil ? " in \(limit.secondsText) s" : "").\(dropped)",
      expected: (expected.isAbsent ? "no " : "") + [what, condition].compactMap(\.self).joined(separator: " "),
      actual: value ?? like.map { DisplayText.escape($0.text) } ?? "nothing")
    failure.problem.others = device.events.recent.suffix(Self.shown).map { DisplayText.escape($0.text) }
    throw failure
  }

  /// The number of events that a failure shows.
  private static let shown = 20
}
