package import ArgumentParser
import EventLoop
import LinuxIO
import Presentation
package import Terminal
package import Text

extension ValueFormat: ExpressibleByArgument {
  package static var help: ArgumentHelp {
    ArgumentHelp("Format: hex, utf8, u8, i16le, f32be, ... (default: auto)", discussion: "All: \(choices).", valueName: "format")
  }

  package init?(argument: String) {
    guard let format = try? ValueFormat(argument) else { return nil }
    self = format
  }

  /// By itself the parser would find this through reflection, each time that it parses.
  package var defaultValueDescription: String { name }
}

/// The VALUE of the command line: text in a format; or `@FILE`, or `-` for standard input: bytes as they are, or text in a format that was named.
package enum ValueArgument {
  /// Attribute values have at most 512 octets; segmented writes may carry more, but not endlessly.
  static let limit = 1 << 20

  /// - Parameters:
  ///   - format: as it was named; nil: hex, and the bytes of a file.
  ///   - allowingEmpty: no octets are more often an unset variable or a file that went wrong than a wish.
  @LoopActor
  package static func bytes(_ text: String, _ format: ValueFormat?, allowingEmpty: Bool, _ output: Output) async throws -> [UInt8] {
    let (octets, source) = try await octets(text, format, output)
    guard octets.isEmpty, !allowingEmpty else { return octets }
    throw Failure(.usage, "\(source == "VALUE" ? "The value" : source) is empty. To write an empty value, add --empty")
  }

  /// Nobody may know that it is waited for.
  @LoopActor
  static func standardInput(_ limit: Int, _ output: Output) async throws -> [UInt8] {
    try await InputFile.read("-", limit: limit) { output.noteWaiting() }
  }

  @LoopActor
  private static func octets(_ text: String, _ format: ValueFormat?, _ output: Output) async throws -> ([UInt8], source: String) {
    let octets: [UInt8]
    let source: String
    if text == "-" {
      octets = try await standardInput(limit, output)
      source = "standard input"
    } else if let path = text.after("@") {
      octets = try await InputFile.read(path, limit: limit)
      source = DisplayText.quote(path)
    } else {
      return (text.isEmpty ? [] : try (format ?? .hex).parse(text), "VALUE")
    }
    guard let format else { return (octets, source) }
    return (try parse(octets, as: format, source), source)
  }

  /// What a file or standard input says in a format. UTF-8 is taken as it stands, with a line feed at its end; in the others it is white space.
  private static func parse(_ octets: [UInt8], as format: ValueFormat, _ source: String) throws -> [UInt8] {
    guard let text = String(validating: octets, as: UTF8.self) else {
      throw Failure(
        .usage, "Cannot read \(source) as \(format.name): it is not UTF-8 text. To write its bytes as they are, leave out --as")
    }
    if format != .utf8, text.trimmed.isEmpty { return [] }
    do { return try format.parse(text) } catch {
      var failure = Failure(error)
      failure.message = "\(source): \(failure.message)"
      throw failure
    }
  }
}

extension Output {
  /// For octets on standard input.
  package func noteWaiting() { note("Waiting for standard input to end. On a terminal, press Ctrl-D to end it. Press Ctrl-C to cancel.") }
}
