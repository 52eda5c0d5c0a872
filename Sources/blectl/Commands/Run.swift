import ArgumentParser
import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

struct Run: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", _superCommandName: "blectl",
    abstract: "Run scripts with tests, and report what failed.",
    discussion: """
      Scripts are commands without PEER, one a line, and what is expected of their results: see blectl-script(5). All files are checked before \
      anything is sent, and all their mistakes are shown. When a device or the adapter cannot be reached, blectl tries once more. If that fails, \
      the remaining tests of that device are not run.

      Exit status 7: a test failed. 2 to 6: the setup failed (no device, no adapter, lost link).
      """)

  @OptionGroup var process: ProcessOptions

  @Argument(help: "Scripts, folders of them (*.blectl), or - for standard input.", completion: .file())
  var files: [String]

  @Option(help: ArgumentHelp("The device, instead of the one that the scripts name.", valueName: "peer"))
  var peer: PeerArgument?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("NAME=VALUE: a variable; stands above `set`. May be given several times.", valueName: "name=value"))
  var set: [VariableArgument] = []

  @Option(help: ArgumentHelp("Only tests whose name matches; may be given several times.", valueName: "glob"))
  var only: [String] = []

  @Option(help: ArgumentHelp("Only tests with this tag; may be given several times.", valueName: "tag"))
  var tag: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("Files at a time, each with its own device, 1 to 64.", valueName: "n"))
  var jobs: Int = 1

  @Option(name: .customLong("repeat"), parsing: .unconditional, help: ArgumentHelp("Run everything so many times.", valueName: "n"))
  var repetitions: Int = 1

  @Flag(help: "Write Test Anything Protocol instead of text.")
  var tap = false

  @Option(help: ArgumentHelp("Write the results as JUnit XML, too.", valueName: "file"), completion: .file())
  var junit: String?

  @Option(help: ArgumentHelp("Write a page with results, values and packets, too.", valueName: "file"), completion: .file())
  var html: String?

  @Flag(help: "End after the first test that does not pass.")
  var failFast = false

  @Flag(help: "Run the other tests when a device or the adapter cannot be reached. Do not try it again.")
  var keepGoing = false

  @Flag(help: "Only check the files, and list their tests.")
  var dryRun = false

  var usesAdapter: Bool { !dryRun }

  func validate() throws {
    if files.isEmpty { throw ValidationError("Name a script, a folder of scripts, or - for standard input.") }
    for path in [junit, html] where path == "-" || path == "" {
      throw ValidationError("--junit and --html need the name of a file; /dev/stdout is standard output.")
    }
    if let junit, junit == html { throw ValidationError("--junit and --html are two files; give them different names.") }
    if tap, process.json { throw ValidationError("--tap and --json are two forms of standard output; give one of them.") }
    if !(1...64).contains(jobs) { throw ValidationError("--jobs takes 1 to 64, not \(jobs)") }
    if !(1...1_000_000).contains(repetitions) { throw ValidationError("--repeat takes 1 to 1000000, not \(repetitions)") }
  }

  @LoopActor
  func name(_ files: inout CommandFiles) {
    for path in self.files {
      for file in path == "-" ? [path] : (try? ScriptLoader.files(path)) ?? [] { files.reads(file, as: "a script") }
    }
    files.writes(junit, as: "--junit")
    files.writes(html, as: "--html")
  }

  func run(in context: Context) async throws {
    var options = ScriptRun.Options()
    options.peer = peer
    for assignment in set { options.variables[assignment.name] = assignment.value }
    (options.only, options.tags, options.jobs, options.repetitions) = (only, tag, jobs, repetitions)
    (options.endsWithFailure, options.keepsGoing, options.timeout) = (failFast, keepGoing, step.timeout)
    _ = try context.process.adapter()
    let scripts = try await scripts(options.variables, context.output)
    let run = ScriptRun(options, reports(context.output), context.process)
    if run.count(scripts) == 0 {
      throw Failure(.usage, "no test is selected: --only and --tag fit none of those in \(files.joined(separator: ", "))")
    }
    if dryRun { return try await list(scripts, run, context) }
    try await run.run(scripts)
    try run.throwStatus()
  }

  @LoopActor
  private func reports(_ output: Output) -> [any ScriptReport] {
    var reports: [any ScriptReport]
    if process.json {
      reports = [JSONScriptReport(output)]
    } else if tap {
      reports = [TAPScriptReport(output)]
    } else {
      reports = [TextScriptReport(output)]
    }
    if let junit { reports.append(FileScriptReport.junit(junit)) }
    if let html { reports.append(FileScriptReport.html(html, title: files.joined(separator: " "))) }
    return reports
  }

  /// - Throws: ScriptErrors with the mistakes of all files; FileError.
  @LoopActor
  private func scripts(_ variables: [String: String], _ output: Output) async throws -> [Script] {
    var scripts: [Script] = []
    var mistakes = ScriptErrors()
    var missing: [FileError] = []
    for path in files {
      for file in path == "-" ? [path] : try ScriptLoader.files(path) {
        do {
          scripts.append(try await ScriptLoader.load(file, variables: variables, hasPeer: peer != nil))
        } catch let error as ScriptErrors {
          mistakes.add(error)
        } catch let error as FileError { missing.append(error) }
      }
    }
    // How the run ends is said last.
    for error in mistakes.errors.isEmpty ? missing.dropFirst() : missing[...] { _ = Program.report(Failure(error), output) }
    try mistakes.check()
    if let error = missing.first { throw error }
    for assignment in set where !scripts.contains(where: { $0.variables.contains(assignment.name) }) {
      throw Failure(.usage, "--set \(assignment.name): no script has a variable of that name")
    }
    return scripts
  }

  @LoopActor
  private func list(_ scripts: [Script], _ run: ScriptRun, _ context: Context) async throws {
    for script in scripts {
      for test in script.tests where run.selects(test) {
        if context.output.style.json {
          try await context.output.record {
            $0.string("event", "test")
            $0.string("file", script.file)
            $0.integer("line", test.line.place.line)
            $0.string("name", test.name)
            $0.strings("tags", test.tags)
          }
        } else {
          try await context.output.line("\(DisplayText.escape(script.file)):\(test.line.place.line): \(DisplayText.escape(test.name))")
        }
      }
    }
    let tests = run.count(scripts)
    context.output.note("\(scripts.count) script(s) with \(tests) test(s) are right, as far as can be seen without a device")
  }
}

/// `NAME=VALUE`.
struct VariableArgument: ExpressibleByArgument, Sendable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "="), ScriptVariables.isName(argument[..<sign]) else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
  }
}
