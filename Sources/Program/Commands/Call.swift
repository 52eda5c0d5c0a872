import BluetoothLEDeviceFiles
import BluetoothLELinux
import CommandLine

package struct Call: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "call", abstract: "Run a command that a device file describes.",
    discussion: """
      Without --device, blectl searches for a file that describes this device. It looks in ~/.config/blectl/devices, in the simulator's file, then in the files that blectl includes. See blectl-device(5).

      To describe a protocol, start from the example at the end of that page. blectl -i sim:FILE call NAME COMMAND tries the file on a simulated device.
      """)
  static let examples = [
    "blectl -i sim call Band-7 --list", "blectl -i sim call Band-7 battery", "blectl -i sim call Band-7 history --json",
  ]

  // An argument may be a command of a device file.
  static let traits = CommandTraits(printsRecords: true, completesNames: false)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: ArgumentHelp("A command of the device file", valueName: "device-command")) var command: String?

  @Argument(help: ArgumentHelp("A parameter of the command; bytes are hex, or @FILE", valueName: "name=value"))
  var parameters: [String] = []

  @OptionGroup var file: DeviceOptions
  @Flag(help: "List the commands and their parameters") var list = false

  func validate() throws {
    if list, command != nil { throw ValidationError("--list takes no command. Omit --list or the command.") }
    if !list, command == nil { throw ValidationError("Name a command of the device. List them: blectl call PEER --list") }
    for (index, word) in parameters.enumerated() where !word.contains("=") {
      let value = index + 1 < parameters.count && !parameters[index + 1].contains("=") ? parameters[index + 1] : nil
      let example = value.map { ": " + DisplayText.clip(ShellWords.quoteForShell("\(word)=\($0)"), to: 60) } ?? "."
      throw ValidationError("\(DisplayText.quote(word)) is not a parameter. Write parameters as name=value\(example)")
    }
  }

  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? {
    guard case .invalidValue(let name, place: "<peer>", _) = mistake, (try? Selector(name)) != nil else { return nil }
    return "\(DisplayText.quote(name)) is not a device. The device comes first: call PEER \(DisplayText.escape(name))"
  }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { file.device = file.device.map { path($0, .device) } }
  @LoopActor func name(_ files: inout CommandFiles) {
    files.reads(file.device, as: "--device")
    for word in parameters {
      if let sign = word.firstIndex(of: "=") { files.reads(String(word[word.index(after: sign)...]).after("@"), as: String(word[..<sign])) }
    }
  }

  var recordedForm: RecordedForm { RecordedForm(isExpected: !list) }
  var recordFields: RecordFields? {
    list
      ? RecordFields(["command", "summary"], others: ["parameters"])
      : RecordFields(["command", "name", "values"], others: ["packets", "address", "address_type", "peer"])
  }
  var deviceCall: DeviceCall? { (file.device, command, parameters) }

  func run(in context: Context) async throws {
    let named = try await file.load()
    if list, let named { return try await CallText.list(named, of: .none, context.output) }
    // Read parameters once, before anything is sent: one may come from a pipe.
    let prepared: DeviceRequest?
    if let named { prepared = try await request(of: named) } else { prepared = nil }
    try await context.withPeer(who) { connection in
      let device: DeviceDescription
      if let named { device = named } else { device = try await self.described(connection, context) }
      if list { return try await CallText.list(device, of: connection.identity, context.output) }
      let request: DeviceRequest
      if let prepared { request = prepared } else { request = try await self.request(of: device) }
      let answer: DeviceAnswer
      do {
        answer = try await connection.call(
          request.command, request.values, of: device, within: step.timeout.map { .limited(seconds: $0) }
        ) { name, values in
          context.output.note(CallText.event(name, values))
        }
      } catch let error as GATTError {
        var fits: Bool?
        if case .notFound = error, !device.match.isEmpty { fits = (try? await connection.fitting([device])).map { !$0.isEmpty } }
        throw Failure.called(error, of: device, connection.title, fits: fits)
      }
      for packet in answer.refused.first { context.output.note("Not an answer: \(packet.text)") }
      if answer.refused.others > 0 { context.output.note("\(answer.refused.others) more packets were not answers.") }
      context.observer?.didAnswer(RecordWriter.value { json in for value in answer.values { DeviceValueRecord.write(value, &json) } })
      context.output.valueFields = []
      try await CallText.show(answer, to: request.command, of: connection.identity, context.output)
    }
  }

  /// Returns the description of the device. A session searches for the device file only once.
  @LoopActor private func described(_ connection: Connection, _ context: Context) async throws -> DeviceDescription {
    if let known = context.links.device { return known }
    let device = try await DeviceLibrary.device(
      for: connection, context.configuration, try? context.process.adapter(), note: { context.output.note($0) })
    context.links.device = device
    return device
  }

  /// Creates the request for the device from the typed command and parameters.
  /// - Throws: `Failure(.usage)` for an invalid command or parameter; `FileError` for the file of a parameter.
  @LoopActor private func request(of device: DeviceDescription) async throws -> DeviceRequest {
    var request = try DeviceRequest(command ?? "", of: device)
    for word in parameters {
      var bytes: [UInt8]?
      if let path = try request.path(word) { bytes = try await InputFile.read(path, limit: BluetoothLEDeviceFiles.Frame.maximumCommand) }
      try request.add(word, bytes: bytes)
    }
    try request.check()
    return request
  }
}
