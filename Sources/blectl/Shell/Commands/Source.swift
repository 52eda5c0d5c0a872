import ArgumentParser
import EventLoop
import LinuxIO
import Text

struct Source: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "source", _superCommandName: "blectl",
    abstract: "Run the commands of a file, one a line; stops at the first that fails.")
  static let turn = ShellTurn.beforeOthers

  @OptionGroup var process: ProcessOptions

  @Argument(help: "The file. # begins a comment; a line that ends in \\ goes on.", completion: .file())
  var file: String

  @Flag(name: .shortAndLong, help: "Go on after a command that failed.")
  var keepGoing = false

  var usesNames: Bool { false }

  static let limit = 4 << 20
  /// Files that name each other must come to an end.
  static let depth = 16

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    guard let shell = context.shell else { return }
    if file == "-" { try context.refuseInput() }
    let octets = try await InputFile.read(file, limit: Self.limit)
    guard let text = String(validating: octets, as: UTF8.self) else { throw Failure(.input, "\(DisplayText.quote(file)) is not UTF-8") }
    try await shell.nested(atMost: Self.depth, "\(DisplayText.quote(file))") {
      try await CommandList(text, name: file).run(in: shell, keepGoing: keepGoing, members: context.members, context.output)
    }
  }
}
