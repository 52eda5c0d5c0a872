import BluetoothLELinux

extension ValueFormat: ExpressibleByArgument {
  package static var help: ArgumentHelp {
    ArgumentHelp("Format: hex, utf8, u8, i16le, f32be, ... (default: auto)", discussion: "All: \(choices).", valueName: "format")
  }

  package init?(argument: String) {
    guard let format = try? ValueFormat(argument) else { return nil }
    self = format
  }

  package var defaultValueDescription: String { name }
}

/// The VALUE of the command line, which is text, `@FILE`, or `-` for standard input. A file contains raw bytes, or text if the user gave a
/// format.
package enum ValueArgument {
  /// The size limit of a VALUE in bytes. A segmented write may carry more than the 512 bytes of an attribute value.
  static let limit = 1 << 20

  /// Returns the bytes of a VALUE.
  /// - Parameters:
  ///   - format: The format that the user gave. Nil means hex, and raw bytes for a file.
  ///   - allowingEmpty: Whether to accept an empty value.
  @LoopActor
  package static func bytes(_ text: String, _ format: ValueFormat?, allowingEmpty: Bool, _ output: Output) async throws -> [UInt8] {
    let (bytes, source) = try await bytes(text, format, output)
    guard bytes.isEmpty, !allowingEmpty else { return bytes }
    throw Failure(.usage, "\(source == "VALUE" ? "The value" : source) is empty. To write an empty value, add --empty")
  }

  @LoopActor
  private static func bytes(_ text: String, _ format: ValueFormat?, _ output: Output) async throws -> ([UInt8], source: String) {
    let bytes: [UInt8]
    let source: String
    if text == "-" {
      bytes = try await output.readingInput { try await InputFile.read("-", limit: limit, whenIdle: $0) }
      source = "standard input"
    } else if let path = text.after("@") {
      bytes = try await InputFile.read(path, limit: limit)
      source = DisplayText.quote(path)
    } else {
      do { return (text.isEmpty ? [] : try (format ?? .hex).parse(text), "VALUE") } catch {
        guard InputFile.exists(text) else { throw error }
        let path = ShellWords.quoteForShell(text)
        throw Failure(
          .usage, "\(DisplayText.quote(text)) is a file. To write its bytes as one value: @\(path). To send a long file: send-file")
      }
    }
    guard let format else {
      let text = String(decoding: bytes, as: UTF8.self).trimmed
      if text.utf8.count > 1, text.allSatisfy(\.isHexDigit) || (try? Hex.parse(text, loneDigits: false)) != nil {
        output.note("\(source) has only hex digits. blectl writes them as text. To write the bytes that they stand for, add --as hex")
      }
      return (bytes, source)
    }
    return (try parse(bytes, as: format, source), source)
  }

  /// Parses the contents of a file or of standard input. Keeps UTF-8 text unchanged. Other formats ignore white space.
  private static func parse(_ bytes: [UInt8], as format: ValueFormat, _ source: String) throws -> [UInt8] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.usage, "Cannot read \(source) as \(format.name): it is not UTF-8 text. To write its bytes as they are, leave out --as")
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
  /// Writes a result as a JSON record with `--json`, otherwise as a line of text.
  @LoopActor
  package func show(_ text: @autoclosure () -> String, _ record: (inout RecordWriter) -> Void) async throws {
    if style.json { try await self.record(record) } else { try await line(text()) }
  }

  /// Writes a table. On a terminal, limits the lines to the terminal's width: clips them, or folds them into two lines for each row.
  @LoopActor
  package func show(_ table: Table, folds: Bool = false) async throws {
    let lines = folds && outIsTerminal ? table.folded(width: width) : table.lines(width: outIsTerminal ? width : nil)
    for text in lines { try await line(text) }
  }
}
