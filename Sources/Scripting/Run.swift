import BluetoothLELinux
import CommandLine
import Scripts

package struct Run: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "run", abstract: "Run test scripts and report what failed.",
    discussion: """
      A script has one command per line, without PEER, and expectations of the results. See blectl-script(5). blectl checks all files first and shows all their mistakes.

      When the device or the adapter cannot be reached, blectl tries once more. If that fails, it skips the remaining tests of that device.

      Exit status 7: a test failed. 2-6: the setup failed (no adapter, no device, lost connection).
      """)
  static let examples = ["blectl run --dry-run tests", "blectl -i sim run tests/band.blectl", "blectl -i sim run tests --junit report.xml"]
  static let traits = CommandTraits(
    printsRecords: true, runsInSessions: false, isRecordable: false, scriptRefusal: "To run another script, use `include FILE`.")

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions

  @Argument(
    help: ArgumentHelp("Scripts, folders with *.blectl files, or - for stdin", valueName: "file"),
    completion: .file(extensions: ["blectl"]))
  var files: [String]

  @Option("The device; repeatable (default: the one in the script)", value: "peer") var peer: [PeerArgument] = []

  @Option("Set a variable of the script; repeatable", value: "name=value", parsing: .unconditionalSingleValue)
  var set: [VariableArgument] = []

  @Option("Run only tests whose name matches; repeatable", value: "glob") var only: [String] = []
  @Option("Run only tests with this tag; repeatable", value: "tag") var tag: [String] = []
  @Option("Run N files at the same time, 1-64 (default: 1)", value: "n", parsing: .unconditional) var jobs: Int = 1
  @Option("Run everything N times (default: 1)", value: "n", name: .customLong("repeat"), parsing: .unconditional) var repetitions: Int = 1
  @Option("Run a failed test again up to N times, 0-100 (default: 0)", value: "n", parsing: .unconditional) var retries: Int = 0
  @OptionGroup var report: ReportOptions
  @Flag(help: "Stop after the first test that fails") var failFast = false
  @Flag(help: "Run the other tests if a device cannot be reached") var keepGoing = false
  @Flag(help: "Run again whenever one of the files changes, until Ctrl-C") var watch = false
  @Flag(name: [.long, .customLong("list")], help: "Check the files and list their tests") var dryRun = false

  var usesAdapter: Bool { !dryRun }
  var isShared: Bool { true }

  var recordFields: RecordFields? {
    report.tap
      ? nil
      : RecordFields(
        ["start", "file", "line", "name", "peer", "status", "seconds", "reason", "error.message"],
        others: ["device", "repetition", "tags", "attempts", "flaky", "error", "earlier", "notes", "warnings"])
  }

  func validate() throws {
    if files.isEmpty { throw ValidationError("Name a script, a folder of scripts, or - for standard input.") }
    if watch, files.contains("-") { throw ValidationError("--watch needs files. Standard input cannot be read again.") }
    for path in [report.junit, report.html] where path == "-" || path == "" {
      throw ValidationError("--junit and --html need the name of a file. For standard output, use /dev/stdout.")
    }
    if let junit = report.junit, junit == report.html { throw ValidationError("--junit and --html need different file names.") }
    if report.tap, process.json { throw ValidationError("--tap and --json exclude each other.") }
    if Set(peer.map { "\($0)" }).count < peer.count { throw ValidationError("--peer names a device twice.") }
    if !(1...64).contains(jobs) { throw ValidationError("--jobs takes 1 to 64, not \(jobs)") }
    if !(0...100).contains(retries) { throw ValidationError("--retries takes 0 to 100, not \(retries)") }
    if !(1...1_000_000).contains(repetitions) { throw ValidationError("--repeat takes 1 to 1000000, not \(repetitions)") }
  }

  @LoopActor
  func name(_ files: inout CommandFiles) {
    for path in self.files {
      for file in path == "-" ? [path] : (try? ScriptLoader.files(path)) ?? [] { files.reads(file, as: "a script") }
    }
    files.writes(report.junit, as: "--junit")
    files.writes(report.html, as: "--html")
  }

  func run(in context: Context) async throws {
    guard watch else { return try await runOnce(in: context) }
    while true {
      WatchedFiles.begin()
      CallCheck.forget()
      do { try await runOnce(in: context) } catch {
        try StepFailure.passOn(error)
        guard WatchedFiles.count > 0 else { throw error }
        _ = Program.report(error, context.output)
      }
      // The next run opens the adapter again, and reads the file of a simulator again.
      await context.process.session.close()
      context.output.note("Waiting for a change of \(WatchedFiles.count.counted("file")). Press Ctrl-C to stop.")
      context.output.note("\(DisplayText.escape(try await WatchedFiles.change())) changed. Running again.")
    }
  }

  @LoopActor
  private func runOnce(in context: Context) async throws {
    var options = ScriptRun.Options()
    options.namesDevice = peer.count > 1
    for assignment in set { options.variables[assignment.name] = assignment.value }
    (options.only, options.tags, options.jobs, options.repetitions) = (only, tag, jobs, repetitions)
    options.retries = retries
    (options.endsWithFailure, options.keepsGoing, options.timeout) = (failFast, keepGoing, step.timeout)
    _ = try context.process.adapter()
    let scripts = try await scripts(options.variables, context)
    let run = ScriptRun(options, reports(context), context.process)
    if run.count(scripts) == 0 {
      let given = (only.isEmpty ? [] : ["--only"]) + (tag.isEmpty ? [] : ["--tag"])
      let known = scripts.flatMap(\.tests).flatMap { only.isEmpty ? $0.tags : [$0.name] }
      let meant = (only + tag).first.flatMap { SpellingSuggestion.nearest(to: $0, among: known) }
      throw Failure(
        .usage,
        "No test in \(files.joined(separator: ", ")) matches \(given.joined(separator: " and "))."
          + (meant.map { " Did you mean \(ShellWords.quoteForShell($0))?" } ?? "") + " List them: --list")
    }
    if dryRun { return try await list(scripts, run, context) }
    try await run.run(scripts)
    try run.throwStatus()
  }

  @LoopActor
  private func reports(_ context: Context) -> [ScriptReport] {
    let (output, defaults) = (context.output, context.configuration.defaults.summary)
    return [output.style.json ? .json(output, defaults) : report.tap ? .tap(output, defaults) : .text(output)]
      + [report.junit.map { .junit($0, defaults) }, report.html.map { .html($0, title: files.joined(separator: " ")) }].compactMap(\.self)
  }

  /// Loads and checks the scripts in all files and folders of the command line.
  /// - Throws: ScriptErrors with the mistakes of all files; FileError.
  @LoopActor
  private func scripts(_ variables: [String: String], _ context: Context) async throws -> [Script] {
    let output = context.output
    var scripts: [Script] = []
    var mistakes = ScriptErrors()
    var missing: [FileError] = []
    for path in files {
      for file in path == "-" ? [path] : try ScriptLoader.files(path) where mistakes.errors.count <= ScriptErrors.limit {
        do {
          scripts.append(try await ScriptLoader.load(file, variables: variables, hasPeer: !peer.isEmpty, context.process.commands))
        } catch let error as ScriptErrors {
          mistakes.add(error)
        } catch let error as FileError { missing.append(error) }
      }
    }
    // If no script has mistakes, the error thrown below reports the first missing file.
    for error in mistakes.errors.isEmpty ? missing.dropFirst() : missing[...] { _ = Program.report(Failure(error), output) }
    try mistakes.check()
    if let error = missing.first { throw error }
    for assignment in set where !scripts.contains(where: { $0.variables.contains(assignment.name) }) {
      throw Failure(.usage, "--set \(assignment.name): no script has a variable of this name.")
    }
    for script in scripts {
      for test in script.tests where test.tags.count > 1 && !Self.sentenceWords.isDisjoint(with: test.tags) {
        let name = ([test.name] + test.tags).joined(separator: " ")
        output.note(
          "\(DisplayText.escape(script.file)):\(test.line.place.line): \(test.tags.count) words after the name are tags. "
            + "If they belong to the name: test \(DisplayText.quote(name))")
      }
    }
    return peer.isEmpty ? scripts : scripts.flatMap { script in peer.map { script.on("\($0)") } }
  }

  /// The words that are unlikely as tags. A tag among these words suggests that the name of the test lacks quotes.
  private static let sentenceWords: Set = [
    "a", "an", "and", "are", "at", "by", "for", "from", "in", "is", "not", "of", "on", "the", "to", "with",
  ]

  @LoopActor
  private func list(_ scripts: [Script], _ run: ScriptRun, _ context: Context) async throws {
    for result in run.listed(scripts) {
      if context.output.style.json {
        try await context.output.record {
          $0.string("event", "test")
          $0.string("file", result.file)
          $0.integer("line", result.line)
          $0.string("name", result.name)
          if let device = result.variant.device { $0.string("device", device) }
          $0.strings("tags", result.tags)
        }
      } else {
        try await context.output.line(DisplayText.escape("\(result.file):\(result.line): \(result.title)"))
      }
    }
    let tests = run.count(scripts)
    context.output.note("Checked \(Set(scripts.map(\.file)).count.counted("script")) with \(tests.counted("test")): no mistakes found.")
  }
}

/// The options of `run` that choose reports.
struct ReportOptions: ParsableArguments {
  @Flag(help: "Print results in TAP format (Test Anything Protocol)") var tap = false
  @Option("Also write JUnit XML to FILE", value: "file", completion: .file()) var junit: String?
  @Option("Also write results, values and packets as HTML", value: "file", completion: .file()) var html: String?
}

/// The argument `NAME=VALUE` of `--set`, which sets a variable of the script.
struct VariableArgument: ExpressibleByArgument, Sendable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "="), ScriptVariables.isName(argument[..<sign]) else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
  }
}
