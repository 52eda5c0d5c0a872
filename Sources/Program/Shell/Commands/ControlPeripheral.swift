import BluetoothLESimulator
import CommandLine

package struct ControlPeripheral: SessionCommand {
  static let configuration = CommandConfiguration(
    named: "peripheral", abstract: "Serve the device of a file, and control it.",
    discussion: """
      `peripheral FILE` serves the device, see blectl-peripheral(5), while other commands run. `on ADAPTER` uses a second adapter. blectl shows what centrals do, until `peripheral off` or the end of the session. A session serves one device.

      These words control it: set ATTR VALUE, notify ATTR VALUE, indicate ATTR VALUE, disconnect [REASON], advertise on|off, fault … A file with such a name is ./set.
      """)
  static let examples = [
    "peripheral sensor.json; peripheral advertise off", "peripheral sensor.json; sleep 5; peripheral off",
  ]
  static let traits = CommandTraits(completedWords: [.peripheral])

  @OptionGroup var process: ProcessOptions

  @Argument(
    parsing: .allUnrecognized, help: ArgumentHelp("A peripheral file [on ADAPTER], a word for the device, or off", valueName: "file|word"))
  var words: [String] = []

  @OptionGroup var advertising: AdvertisingOptions

  var recordedForm: RecordedForm { RecordedForm() }

  /// The word that ends the device, as it ends advertising and faults.
  static let end = "off"
  static var names: [String] { PeripheralLineParser.commands + [end] }

  private enum Action {
    case serve(file: String, adapter: AdapterSpec?)
    case perform(PeripheralLine)
    case end
  }

  /// Parses the words.
  /// - Throws: Failure(.usage).
  private func action() throws -> Action {
    guard let first = words.first else {
      throw Failure(.usage, "Name a peripheral file, or one of: \(Self.names.joined(separator: ", ")).")
    }
    if Self.names.contains(first), advertising.areGiven { throw Failure(.usage, "The options belong to the start: peripheral FILE.") }
    if PeripheralLineParser.commands.contains(first) {
      do { return .perform(try PeripheralLineParser.parse(words)) } catch var error {
        error.example = "peripheral \(error.example)"
        throw Failure(error)
      }
    }
    if first == Self.end, words.count == 1 { return .end }
    if words.count == 1 { return .serve(file: first, adapter: nil) }
    guard words.count == 3, words[1] == "on", first != Self.end else {
      let meant = SpellingSuggestion.nearest(to: first, among: Self.names).map { " Did you mean \($0)?" }
      throw Failure(.usage, "Unexpected word \(DisplayText.quote(words[1])).\(meant ?? " Use: peripheral FILE on ADAPTER")")
    }
    return .serve(file: first, adapter: try AdapterSpec(words[2]))
  }

  func validate() throws { do { _ = try action() } catch { throw ValidationError(Failure(error).message) } }

  @LoopActor func name(_ files: inout CommandFiles) { if case .serve(let file, _)? = try? action() { files.reads(file, as: "FILE") } }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) {
    if case .serve(let file, _)? = try? action() { words[0] = path(file, .peripheral) }
  }

  func run(in context: Context, _ session: SessionLinks) async throws {
    let peripheral = session.shell.peripheral
    switch try action() {
    case .serve(let file, let adapter):
      if file == "-" { try context.refuseInput() }
      try await peripheral.start(file, on: adapter, advertising.chosen, context)
    case .perform(let line):
      if try peripheral.present().perform(line) == 0 { context.output.note("No central has subscribed, so none got the value.") }
    case .end:
      _ = try peripheral.present()
      await peripheral.end()
    }
  }
}
