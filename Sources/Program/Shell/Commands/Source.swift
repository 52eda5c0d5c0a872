import BluetoothLELinux
import CommandLine

package struct Source: SessionCommand {
  static let configuration = CommandConfiguration(
    named: "source", abstract: "Run the commands in a file, one per line.",
    discussion: "The first command that fails stops the run. # starts a comment. A line that ends in \\ continues on the next line.")
  static let examples = ["source setup.blectl", "source setup.blectl --keep-going"]
  static let traits = CommandTraits(
    turn: .beforeOthers, deviceChange: .unknown, scriptRefusal: "To run another script, use `include FILE`.")

  @OptionGroup var process: ProcessOptions
  @Argument(help: "The file", completion: .file()) var file: String
  @Flag(name: .shortAndLong, help: "Continue after failures") var keepGoing = false

  static let limit = 4 << 20
  /// The maximum nesting depth of `source`, in files.
  static let depth = 16

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context, _ session: SessionLinks) async throws {
    if file == "-" { try context.refuseInput() }
    let bytes = try await InputFile.read(file, limit: Self.limit)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure(.input, "\(DisplayText.quote(file)) is not UTF-8.") }
    try await session.shell.nested(atMost: Self.depth, "\(DisplayText.quote(file))") {
      try await CommandList(text, name: file).run(in: session.shell, keepGoing: keepGoing, members: session.members, context.output)
    }
  }
}
