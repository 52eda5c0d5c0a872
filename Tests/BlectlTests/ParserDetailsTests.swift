import ArgumentParser
import Testing

@testable import CommandLine
@testable import blectl

/// The sentences and members of ArgumentParser that blectl knows. If one of these tests fails after an update of the parser, adapt
/// `ParserDetails.swift`.
@Suite(.timeLimit(.minutes(15))) struct ParserDetailsTests {
  enum Mode: String, ExpressibleByArgument, CaseIterable { case slow, fast, faster }

  struct Example: LoopCommand {
    static let traits = CommandTraits(printsRecords: true)
    static let configuration = CommandConfiguration(named: "example", abstract: "An example.")

    @OptionGroup(title: "Global options") var process: ProcessOptions

    @Argument(help: "A number")
    var number: Int

    @Argument(help: "The file", completion: .file(extensions: ["txt"]))
    var file: String

    @Option(name: .shortAndLong, help: "The speed")
    var mode: Mode?

    @Option(help: ArgumentHelp("Names", valueName: "name"))
    var name: [String] = []

    @Flag(help: "Only look")
    var dry = false

    func run(in context: Context) async throws {}
  }

  private func mistake(_ words: String...) throws -> ParserMistake {
    do { _ = try Example.parseAsRoot(words) } catch { return ParserMistake(error, of: Example.self, Example.self) }
    Issue.record("The parser takes \(words).")
    throw ExitCode(1)
  }

  @Test func wrongValues() throws {
    #expect(try mistake("x", "f").kind == .invalidValue("x", place: "<number>", choices: ""))
    #expect(try mistake("x", "f").help.hasSuffix("A number"))
    #expect(
      try mistake("1", "f", "--mode", "it's").kind
        == .invalidValue("it's", place: "--mode <mode>", choices: "slow, fast or faster"))
    #expect(try mistake("1", "f", "-m", "x").kind == .invalidValue("x", place: "-m <mode>", choices: "slow, fast or faster"))
  }

  @Test func extraAndMissingWords() throws {
    guard case .unexpectedArguments(["it's"], _) = try mistake("1", "f", "it's").kind else { throw ExitCode(1) }
    guard case .unexpectedArguments(["a", "b"], _) = try mistake("1", "f", "a", "b").kind else { throw ExitCode(1) }
    #expect(try mistake("1").kind == .missingArgument(place: "<file>"))
    #expect(try mistake("1").help.hasSuffix("The file"))
    #expect(try mistake("1", "f", "--mode").kind == .missingValue("Missing value for '--mode <mode>'"))
    #expect(try mistake("1", "f", "--mdoe", "x").kind == .unknownOption("--mdoe"))
    #expect(try mistake("1", "f", "-x").kind == .unknownOption("-x"))
  }

  /// A ValidationError may start like a sentence of the parser.
  @Test func ownSentences() {
    let error = ValidationError("Unknown option 'x' of ours")
    #expect(ParserMistake(error, of: Example.self, Example.self).kind == .other("Unknown option 'x' of ours"))
  }

  /// Only a command with `_superCommandName` skips this search, which parses everything twice.
  @Test(arguments: Blectl.commands.commandLine.map { $0.commandName } + Blectl.commands.sessionOnly.map { $0.commandName } + ["-e"])
  func noCommandSearchesForCompletionScripts(_ name: String) throws {
    let commands = Blectl.commands
    let type = try #require((commands.sessionOnly + commands.commandLine + [commands.option]).first { $0.commandName == name })
    #expect(type.configuration._superCommandName == "blectl")
    guard type.ownShape == nil else { return }
    do {
      _ = try type.parseAsRoot(["--generate-completion-script", "bash"])
      Issue.record("\(name) takes the option")
    } catch { #expect(type.exitCode(for: error) != .success) }
  }

  @Test func theDescriptionHasEverything() throws {
    let description = CommandDescription(of: Example.self)
    func argument(_ name: String) throws -> CommandDescription.Argument {
      try #require(description.arguments.first { $0.longName == name || $0.names.isEmpty && $0.valueName == name }, "\(name)")
    }
    let file = try argument("file")
    #expect(file.names.isEmpty && file.isFile && file.endings == ["txt"] && file.help == "The file" && !file.isOptional)
    let mode = try argument("--mode")
    #expect(Set(mode.names) == ["-m", "--mode"] && mode.takesValue && mode.values == ["slow", "fast", "faster"] && mode.isOptional)
    let name = try argument("--name")
    #expect(name.isRepeating && name.valueName == "name" && name.isShown)
    #expect(try !argument("--dry").takesValue && argument("--adapter").section == "Global options")
    #expect(try argument("--adapter").discussion.hasPrefix("(default: "))
  }

  /// The list of global options, which makes a full description at startup unnecessary.
  @Test func theGlobalOptionsAreListed() {
    let options = CommandDescription(of: Example.self).options.filter { $0.section == "Global options" }
    #expect(Set(options.filter(\.takesValue).flatMap(\.names)) == Set(ProcessOptions.namesWithValue))
    #expect(Set(options.filter { !$0.takesValue }.compactMap(\.longName)) == Set(ProcessOptions.flags))
    #expect(Set(ProcessOptions.ofSession).isSubset(of: ProcessOptions.namesWithValue + ProcessOptions.flags))
  }
}
