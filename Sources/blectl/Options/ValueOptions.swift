import ArgumentParser
import Bluetooth
import EventLoop
import LinuxIO
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

  @LoopActor
  static func bytes(_ text: String, _ format: ValueFormat) async throws -> [UInt8] {
    if text == "-" { return try await InputFile.read(text, limit: limit) }
    if let path = text.after("@") { return try await InputFile.read(path, limit: limit) }
    return try format.parse(text)
  }
}
