import ArgumentParser
import Bluetooth
import DeviceFiles
import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

struct Call: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", _superCommandName: "blectl",
    abstract: "Run a command of a device file, and show what the device answers.",
    discussion: """
      Without --device the file is one in the folder devices of the configuration, that of the simulated air, or one that comes with blectl, \
      whichever describes the device: see man blectl-device. --list shows the commands and what they take.
      """)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("One of the commands of the device file.", valueName: "device-command"))
  var command: String?

  @Argument(help: ArgumentHelp("A parameter of the command; octets are hex, or @FILE.", valueName: "name=value"))
  var parameters: [String] = []

  @OptionGroup var file: DeviceOptions

  @Flag(help: "Show the commands that there are, and their parameters.")
  var list = false

  func validate() throws {
    if list, command != nil { throw ValidationError("--list stands alone: it runs no command.") }
    if !list, command == nil { throw ValidationError("Name a command of the device; --list shows which there are.") }
    for word in parameters where !word.contains("=") {
      throw ValidationError("\(DisplayText.quote(word)) is no parameter: they are given as name=value.")
    }
  }

  @LoopActor
  func name(_ files: inout CommandFiles) {
    files.reads(device, as: "--device")
    for word in parameters {
      if let sign = word.firstIndex(of: "=") { files.reads(String(word[word.index(after: sign)...]).after("@"), as: String(word[..<sign])) }
    }
  }

  func run(in context: Context) async throws {
    let named = try await file.load()
    // Before anything is sent.
    if let named {
      if list { return try await CallText.list(named, of: nil, context.output) }
      _ = try await prepared(named)
    }
    try await context.withPeer(who.target) { connection in
      let device: DeviceDescription
      if let known = named ?? context.lane?.device {
        device = known
      } else {
        device = try await DeviceLibrary.device(for: connection, context.configuration, try? context.process.adapter())
      }
      context.lane?.device = device
      if list { return try await CallText.list(device, of: connection, context.output) }
      let (command, values) = try await prepared(device)
      let answer = try await connection.call(command, values, of: device, within: step.timeout.map { .limited(seconds: $0) }) {
        name, values in
        context.output.note(CallText.event(name, values))
      }
      for packet in answer.refused.first { context.output.note("not taken for an answer: \(CallText.refused(packet))") }
      if answer.refused.others > 0 { context.output.note("\(answer.refused.others) more packets were not taken for an answer") }
      try await CallText.show(answer, to: command, of: connection, context.output)
    }
  }

  /// The command, and its parameters as they were given.
  /// - Throws: Failure(.usage), for what the device or the command does not have, or does not allow.
  @LoopActor
  private func prepared(_ device: DeviceDescription) async throws -> (DeviceCommand, [NamedValue]) {
    let name = command ?? ""
    guard let command = device.command(name) else {
      let names = device.commands.map(\.name)
      let meant = Likeness.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
      let there = names.isEmpty ? "has no commands" : "has \(names.joined(separator: ", "))"
      throw Failure(
        .usage,
        "\(DisplayText.escape(device.name)) has no command \(DisplayText.quote(name))\(meant) (\(DisplayText.escape(device.file)) \(there))"
      )
    }
    var values: [NamedValue] = []
    for word in parameters {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let (key, text) = (String(parts[0]), String(parts.last ?? ""))
      guard let parameter = command.parameters.first(where: { $0.name == key }) else {
        let names = command.parameters.map(\.name)
        throw Failure(
          .usage,
          "\(name) has no parameter \(DisplayText.quote(key)); \(names.isEmpty ? "it takes none" : "there are \(names.joined(separator: ", "))")"
        )
      }
      guard values[key] == nil else { throw Failure(.usage, "\(name): \(key) is given twice") }
      do { values.append(NamedValue(key, try await value(text, of: parameter))) } catch let fault as FieldFault {
        throw Failure(.usage, "\(name): \(fault.description)")
      }
    }
    do { _ = try command.encode(values) } catch {
      throw Failure(.usage, "\(name): \(Failure(error).message)")
    }
    return (command, values)
  }

  @LoopActor
  private func value(_ text: String, of parameter: DeviceCommand.Parameter) async throws -> DeviceValue {
    guard case .string(let field) = parameter.field, !field.isText, let path = text.after("@") else { return try parameter.parse(text) }
    return .bytes(try await InputFile.read(path, limit: DeviceFiles.Frame.maximumCommand))
  }
}
