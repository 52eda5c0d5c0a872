import ArgumentParser
import Bluetooth
import EventLoop
import LinuxIO
import Terminal
import Text

extension ValueFormat: ExpressibleByArgument {
  init?(argument: String) {
    guard let format = try? ValueFormat(argument) else { return nil }
    self = format
  }

  /// By itself the parser would find this through reflection, each time that it parses.
  var defaultValueDescription: String { name }
}

/// The VALUE of the command line: text in a format, `@FILE`, or `-` for standard input.
enum ValueArgument {
  /// Attribute values have at most 512 octets; segmented writes may carry more, but not endlessly.
  static let limit = 1 << 20

  /// - Parameter allowingEmpty: no octets are more often an unset variable or a file that went wrong than a wish.
  @LoopActor
  static func bytes(_ text: String, _ format: ValueFormat, allowingEmpty: Bool, _ output: Output) async throws -> [UInt8] {
    let (octets, source) = try await octets(text, format, output)
    guard octets.isEmpty, !allowingEmpty else { return octets }
    throw Failure(.usage, "\(source) has no octets, so there is nothing to write; --empty says that an empty value is meant")
  }

  /// Nobody may know that it is waited for.
  @LoopActor
  static func standardInput(_ limit: Int, _ output: Output) async throws -> [UInt8] {
    try await InputFile.read("-", limit: limit) { output.noteWaiting() }
  }

  @LoopActor
  private static func octets(_ text: String, _ format: ValueFormat, _ output: Output) async throws -> ([UInt8], source: String) {
    if text == "-" { return (try await standardInput(limit, output), "standard input") }
    if let path = text.after("@") { return (try await InputFile.read(path, limit: limit), DisplayText.quote(path)) }
    return (text.isEmpty ? [] : try format.parse(text), "VALUE")
  }
}

extension Output {
  /// For octets on standard input.
  func noteWaiting() { note("waiting for octets on standard input, until its end (Ctrl-D on a terminal); Ctrl-C gives up") }
}
