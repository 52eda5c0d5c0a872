import ATT
import ArgumentParser
import Bluetooth
import CommandLine
import EventLoop
import GATT
import Operations
import Presentation
import Terminal
import Text
import Values

package struct Read: ValueCommand {
  static let configuration = CommandConfiguration(
    named: "read", abstract: "Read characteristic or descriptor values.",
    discussion: """
      With one attribute, blectl prints the value. With several, it prints one line each: attribute, tab, value. The decoded meaning follows if it is known.

      An attribute that cannot be read does not stop the others. The exit status is that of the first failure.
      """)
  static let examples = [
    "blectl -i sim read Band-7 battery_level", "blectl -i sim read Band-7 2a00 2a19 --json", "blectl -i sim read Panel fff6@2901",
  ]
  static let traits = CommandTraits(attributeUse: .reading, printsRecords: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(
    help: ArgumentHelp(
      "Handle (0x0011), UUID (2a19), SERVICE/UUID, UUID[N], descriptor (fff6@2901) or name (battery_level)", valueName: "attribute"))
  var attributes: [String]

  @Option(name: .customLong("as"), help: ValueFormat.help, completion: .list(ValueFormat.names))
  var chosenFormat: ValueFormat?

  @Flag(help: ArgumentHelp("Write only the bytes of the values", discussion: "Excludes --as and --json."))
  var raw = false

  func validate() throws {
    if attributes.isEmpty { throw ValidationError("Name at least one attribute to read, as in: blectl read Band-7 battery_level") }
    if attributes == ["all"] {
      throw ValidationError("To read all values: \(who.peer == .current ? "services" : "blectl services \(who.peer)") --values")
    }
    if attributes.contains("as") { throw ValidationError("Use --as FORMAT. Only `let` and `expect` in scripts take the word as.") }
    if raw, format != .auto { throw ValidationError("--raw and --as exclude each other.") }
    if raw, process.json { throw ValidationError("--raw and --json exclude each other.") }
  }

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    try PeerOptions.checkOrder(words, of: Self.self, attributes, isSession: isSession)
  }

  func checkForScript() throws { for attribute in attributes { _ = try Selector(attribute, abbreviating: false) } }

  var isRaw: Bool { raw }
  var recordFields: RecordFields? { raw ? nil : .value }

  var recordedForm: RecordedForm {
    RecordedForm(reads: (attributes, options: format == .auto ? [] : ["--as", format.name]), isExpected: true)
  }

  func run(in context: Context) async throws {
    let selectors = try attributes.map { try Selector($0) }
    if raw, context.output.style.json { throw Failure(.usage, "--raw and --json exclude each other.") }
    try await context.withPeer(who.target, exchangingMTU: false, isRepeatable: true) { connection in
      let failures = ReadFailures(attributes, context)
      let client = connection.client
      try await client.read(selectors, onFailure: { try failures.add($1, of: $0, isLast: client.closed != nil) }) { index, found in
        if !raw {
          do { try ValueText.check(found.value, format) } catch { try failures.add(error, of: index, isLast: true) }
        }
        context.observer?.didRead(attributes[index], .success(found.value))
        try await show(found, attributes[index], of: connection, context)
      }
      try failures.finish()
    }
  }

  @LoopActor private func show(_ found: SelectedValue, _ attribute: String, of connection: Connection, _ context: Context) async throws {
    let output = context.output
    if raw { return try await output.write(found.value) }
    let meaning = await meaning(of: found, on: connection, context)
    if attributes.count == 1, format == .auto, output.valueFields == nil { output.takeValueFields(of: meaning.uuid) }
    func text() -> String {
      output.displayText(ValueText.result(found.value, of: meaning.uuid, formats: meaning.description.formats, as: format))
    }
    try await output.show(attributes.count == 1 ? text() : "\(attribute)\t\(text())") {
      $0.string("event", "value")
      $0.uuid("uuid", meaning.uuid)
      $0.integer("handle", found.handle.number)
      $0.hex("value", found.value)
      ValueText.write(&$0, found.value, meaning, as: format)
      connection.identify(in: &$0)
    }
  }

  /// Returns the meaning of a value. In a session or with `-v`, first reads the descriptors of the characteristic, and ignores errors.
  @LoopActor private func meaning(of found: SelectedValue, on connection: Connection, _ context: Context) async -> ValueMeaning {
    if context.asksForDescriptions, let uuid = found.uuid {
      let client = connection.client
      // If the Bluetooth SIG defines the value, the device's format adds nothing.
      if client.table == nil, CharacteristicDescription(uuid) == nil, context.process.discoverable?.contains(connection.peer) ?? true {
        client.readsDirectly = true
        _ = try? await client.discover()
      }
      if case .characteristic(let item, _)? = client.table?.attribute(at: found.handle) { await context.describe(item, on: connection) }
    }
    return context.process.memory.meaning(of: found.value, at: found.handle, found.uuid, on: connection)
  }
}

/// The failures of a `read` with several attributes. Reports each failure immediately. The first failure determines the exit status.
@LoopActor
private final class ReadFailures {
  private let attributes: [String]
  private let context: Context
  private var first: Failure?

  init(_ attributes: [String], _ context: Context) {
    self.attributes = attributes
    self.context = context
  }

  /// Adds the failure of the attribute at the zero-based `index`. `isLast` is true if no further read is possible.
  /// - Throws: `error` for a single attribute. For several attributes, the first added failure, and only if `isLast` is true.
  func add(_ error: any Error, of index: Int, isLast: Bool) throws {
    let failure = Failure(error)
    context.observer?.didRead(attributes[index], .failure(failure))
    guard attributes.count > 1, first != nil || !isLast else { throw error }
    tell(failure)
    first = first ?? failure
    if isLast { try finish() }
  }

  /// Whether a script or a program receives the first failure as the command's result.
  private var isAnswered: Bool { context.caller == .script || context.caller == .program }

  private func tell(_ failure: Failure) {
    if first == nil, isAnswered { return }
    if context.caller == .script { context.output.note(failure.message) } else { _ = Program.report(failure, context.output) }
  }

  /// Throws the failure of the first failed read. Does nothing if no read has failed.
  func finish() throws {
    guard var first else { return }
    first.isTold = !isAnswered
    throw first
  }
}
