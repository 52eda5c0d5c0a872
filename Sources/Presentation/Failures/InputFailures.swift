package import BluetoothLEDeviceFiles
package import BluetoothLESimulator
package import BluetoothLEText
package import Scripts
package import Terminal

// The failures of scripts, values and files that users write, and of the output.

extension ScriptErrors: FailureConvertible {
  /// The failure with the first message. Its kind is `input` only if each mistake is a missing or unreadable file.
  package var failure: Failure {
    let failures = errors.map(\.failure)
    let more = failures.count > 1 ? " (and \(failures.count - 1) more mistakes)" : ""
    return Failure(failures.contains { $0.kind == .usage } ? .usage : .input, (failures.first?.message ?? "") + more)
  }
}

extension ScriptError: FailureConvertible {
  package var failure: Failure { Failure(isOfFile ? .input : .usage, "\(place.text): \(reason)") }
}

extension ScriptPlace {
  /// The place as `FILE:LINE:COLUMN`, which editors can open.
  fileprivate var text: String { "\(DisplayText.escape(file)):\(line)" + (column.map { ":\($0)" } ?? "") }
}

extension MissingVariable: FailureConvertible {
  package var failure: Failure { .usage("The variable \(name) has no value: the line that sets it did not run.") }
}

extension LongText: FailureConvertible { package var failure: Failure { .usage(Self.reason) } }

extension PredicateMistake: FailureConvertible { package var failure: Failure { .usage(reason) } }

extension ShellWordsError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .unterminated(let mark): .usage("A quote \(mark) is not closed. Add the closing \(mark).")
    case .endsInBackslash: .usage("The line ends in \\, but no line follows.")
    case .notAVariable(let name): .usage("${\(DisplayText.escape(name))} is not a valid variable.")
    case .shellOperator("&&", let before, let after):
      .usage("Separate commands with ;: \(Self.line(before)); \(Self.line(after))")
    case .shellOperator(let sign, let before, let after):
      .usage(
        "A session has no \(DisplayText.quote(sign)). In the shell: blectl -e \(ShellWords.quoteForShell(Self.line(before))) PEER"
          + (sign == "|" && after.first == "jq" ? " --json" : "") + (" \(sign)" + (after.isEmpty ? "" : " \(Self.line(after))")))
    case .severalCommands: .usage("Write one command per line. Put the command after the ; on a new line, or quote the ;.")
    }
  }
}

extension ShellWordsError {
  private static func line(_ words: [String]) -> String { DisplayText.clip(words.map(ShellWords.quote).joined(separator: " "), to: 60) }
}

extension ValueFormatError: FailureConvertible {
  package var failure: Failure {
    var failure = Failure.usage("\(self)")
    switch self {
    case .notHex(let text) where text.contains("\\x"):
      let digits = text.replacing("\\x", with: "")
      if Hex.decode(digits) != nil { failure.add("Write the bytes without \\x: \(DisplayText.clip(digits, to: 60))") }
    case .oddDigits(.oddDigits(let word, _)) where UInt8(word) != nil: failure.add("For decimal numbers, use --as u8.")
    case .notHex: failure.add("For a value in another format, use --as: utf8, i8, u16le, …")
    case .outOfRange(_, _, let format) where format.name.hasSuffix("8"):
      failure.add("For larger values, use \(format.name.prefix(1))16le or \(format.name.prefix(1))16be.")
    default: break
    }
    return failure
  }
}

extension FileEntryError: FailureConvertible { package var failure: Failure { .input("\(self)") } }

extension PeripheralLineError: FailureConvertible { package var failure: Failure { .usage("\(self)") } }

extension OutputFailure: FailureConvertible {
  package var failure: Failure { .output("Cannot write to \(file.map { "\"\($0)\"" } ?? "standard output"): \(reason)") }
}

extension UnknownRecordField: FailureConvertible {
  package var failure: Failure {
    let meant = SpellingSuggestion.nearest(to: field, among: known).map { " Did you mean {\($0)}?" } ?? ""
    return .usage("No record has the field {\(DisplayText.escape(field))}.\(meant) Fields: \(known.joined(separator: ", "))")
  }
}
