import BluetoothLELinux
import CommandLine

package struct Doctor: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "doctor", abstract: "Find out what is wrong with Bluetooth on this machine.",
    discussion: """
      Checks the kernel and its known defects, the adapters, permissions, bluetoothd, and other programs that use an adapter. With --adapter, checks only that adapter. Exits 0 if a scan would work, otherwise 3.
      """)
  static let examples = ["blectl doctor || true", "blectl -i sim doctor"]
  static let traits = CommandTraits(unusedOptions: ["--record"], usesNames: false, showsProblems: true)

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions

  func run(in context: Context) async throws {
    let findings = try await findings(context) + own(context)
    if context.output.style.json {
      for finding in findings {
        try await context.output.record {
          $0.string("event", "finding")
          $0.string("state", finding.state.rawValue)
          $0.string("subject", finding.subject)
          $0.string("message", finding.message)
        }
      }
    } else {
      let width = findings.map(\.subject.count).max() ?? 0
      let columns = context.output.outIsTerminal ? context.output.width : nil
      for line in findings.flatMap({ $0.lines(width, columns: columns) }) {
        try await context.output.line(context.output.displayText(line))
      }
    }
    if findings.contains(where: { $0.state == .failure }) { throw ExitStatus.adapter }
  }

  /// Returns the version, the user's files, and the environment variables that affect blectl.
  @LoopActor
  private func own(_ context: Context) -> [Finding] {
    let configuration = context.configuration
    func file(_ subject: String, _ path: String?, _ problem: Failure?) -> Finding {
      if let problem { return .failure(subject, problem.message) }
      let exists = path.map { (try? InputFile.readIfThere($0, limit: 1 << 20)) != nil } ?? false
      return .ok(subject, path.map { DisplayText.escape($0) + (exists ? "" : " (none)") } ?? "no HOME")
    }
    let variables = configuration.variables.map { "\($0.name)=\(DisplayText.escape($0.value))" }
    // Reads the file: this command itself needs no names.
    try? NamesFile.check()
    return [
      .ok("version", "blectl \(context.process.commands.set.version)"), file("config", configuration.configPath, configuration.problem),
      file("names", configuration.namesPath, NamesFile.failure), file("state", configuration.statePath, nil),
      .ok("library", configuration.devicesPath.map { DisplayText.escape($0) } ?? "no HOME"),
      .ok("environment", variables.isEmpty ? "no variable of blectl is set" : variables.joined(separator: " ")),
    ]
  }

  @LoopActor
  private func findings(_ context: Context) async throws -> [Finding] {
    if case .kernel(let index) = try context.process.adapter() { return try await Examination.ofThisMachine(index).findings }
    let subject = DisplayText.escape(process.adapter ?? context.configuration.variable("BLECTL_ADAPTER") ?? "adapter")
    do {
      guard let controller = try await context.radio().controllerFacts else { return [] }
      let facts = [controller.address?.description ?? "no public address", "up"] + controller.features
      let withholding = context.process.withholding.map { [Finding.note(subject, $0.message)] } ?? []
      return [.ok(subject, facts.joined(separator: " "))] + withholding
    } catch let error where Failure(error).kind == .adapter {
      return [.failure(subject, Failure(error).message)]
    }
  }
}
