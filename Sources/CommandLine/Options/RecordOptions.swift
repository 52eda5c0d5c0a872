/// The options of commands that print records: `--csv`, `--format`, `--output` and `--time`. Also `--config` and `--strict` of all commands.
///
/// Each option in the parser's declaration costs every start 2 %, so these are taken from the words before the parser sees them.
package struct RecordOptions: Sendable, Decodable {
  var csv = false
  var format: RecordTemplate?
  package private(set) var output: String?
  /// The file of `--config`, which every command takes.
  package private(set) var config: String?
  /// Whether a recording answers only what it has. Every command takes the option.
  private(set) var strict = false
  var time: TimeChoice?

  package init() {}

  package init(from decoder: any Decoder) throws {}

  static var arguments: [CommandDescription.Argument] {
    [
      .record("csv", "", "Print records as a table of comma-separated values"),
      .record("format", "template", "Print a line per record: '{time},{name},{heart_rate}'"),
      .record("output", "file", "Write the result to FILE instead of stdout", isFile: true),
      .record("time", "form", "Times as local, utc, relative or none (default: utc)", values: TimeChoice.allCases.map(\.rawValue)),
    ]
  }

  /// The options of all commands.
  static var common: [CommandDescription.Argument] {
    [
      .record("config", "file", "Read FILE instead of config.json; scripts then use its mode, as and pair, too", isFile: true),
      .record("strict", "", "With -i replay:TRACE, fail on a request that is not in the recording"),
    ]
  }

  /// Removes these options from the words of a command.
  /// - Parameter printsRecords: Whether the command also takes the options for records.
  /// - Throws: `ValidationError` for an invalid or missing value.
  init(taking words: inout [String], printsRecords: Bool) throws(ValidationError) {
    // Most commands have none of them.
    guard words.contains(where: { $0.utf8.count > 4 && $0.hasPrefix("--") }) else { return }
    let withValue = ["--config"] + (printsRecords ? ["--format", "--output", "--time"] : [])
    var rest: [String] = []
    var index = 0
    while index < words.count, words[index] != "--" {
      let word = words[index]
      let name = String(word.prefix { $0 != "=" })
      index += 1
      if word == "--csv", printsRecords {
        csv = true
      } else if word == "--strict" {
        strict = true
      } else if withValue.contains(name) {
        var value = word.after("\(name)=")
        if value == nil, index < words.count {
          value = words[index]
          index += 1
        }
        guard let value, !value.isEmpty else { throw ValidationError("\(name) needs a value.") }
        let more = words[index...].prefix { $0.hasPrefix("{") && $0.hasSuffix("}") }
        if name == "--format", !more.isEmpty {
          throw ValidationError("Quote the template: --format \(ShellWords.quoteForShell(([value] + more).joined(separator: " ")))")
        }
        try take(name, value)
      } else {
        rest.append(word)
      }
    }
    if csv, format != nil { throw ValidationError("--csv and --format exclude each other.") }
    words = rest + words[index...]
  }

  private mutating func take(_ name: String, _ value: String) throws(ValidationError) {
    switch name {
    case "--format": format = try RecordTemplate(forOption: value)
    case "--output": output = value
    case "--config": config = value
    default:
      guard let choice = TimeChoice(rawValue: value) else {
        let limit = (try? TimeText.seconds(value)).map { _ in " For a time limit: --duration \(DisplayText.escape(value))" } ?? ""
        throw ValidationError("--time needs local, utc, relative or none, not \(DisplayText.quote(value)).\(limit)")
      }
      time = choice
    }
  }

  fileprivate var given: [String] {
    [csv ? "--csv" : nil, format.map { _ in "--format" }, output.map { _ in "--output" }, time.map { _ in "--time" }].compactMap(\.self)
  }
}

extension CommandDescription.Argument {
  fileprivate static func record(_ name: String, _ valueName: String, _ help: String, values: [String] = [], isFile: Bool = false) -> Self {
    Self(
      names: ["--\(name)"], valueName: valueName, takesValue: !valueName.isEmpty, isRepeating: false, isOptional: true, isShown: true,
      section: HelpPage.globalTitle, help: help, discussion: "", values: values, isFile: isFile, endings: [])
  }
}

extension LoopCommand {
  /// Whether the user asked for a form of times, so that also records that usually have none contain them.
  package var asksForTimes: Bool { process.records.time.map { $0 != TimeChoice.none } ?? false }

  /// The style of the output that the command's options ask for.
  package var outputStyle: Output.Style {
    var style = Output.Style()
    style.program = "blectl"
    style.json = process.json || form != nil
    style.form = form ?? .json
    style.times = process.records.time?.times
    style.quiet = process.quiet
    style.verbosity = process.verbose
    style.color = process.color ?? .auto
    return style
  }

  /// The form of the command's records. Nil without `--csv` and `--format`.
  package var form: RecordForm? {
    guard let fields = recordFields else { return nil }
    if let format = process.records.format { return .template(format, fields.all) }
    return process.records.csv
      ? .csv(fields.columns.filter { process.records.time != TimeChoice.none || !["time", "start"].contains($0) }) : nil
  }

  /// Checks the options for records.
  /// - Throws: `Failure(.usage)` for a combination without records; `UnknownRecordField` for a field that no record of the command has.
  package func checkRecordOptions() throws {
    let options = process.records
    guard let option = options.given.first else { return }
    guard let fields = recordFields else {
      throw Failure(.usage, "This form of \(commandName) prints no records, so it takes no \(option).")
    }
    if process.json, options.csv || options.format != nil { throw Failure(.usage, "--json and \(option) exclude each other.") }
    // Only the device knows the names of decoded values.
    guard let format = options.format, Set(fields.all).isDisjoint(with: RecordField.open) else { return }
    for field in format.fields where !fields.all.contains(field.root) { throw UnknownRecordField(field: field.path, known: fields.all) }
  }
}

/// The choice of `--time`.
enum TimeChoice: String, Sendable, CaseIterable {
  case local, utc, relative, none

  var times: RecordTimes {
    switch self {
    case .local: .local(offset: LocalTime.offset)
    case .utc: .utc
    case .relative: .relative(since: nil)
    case .none: .none
    }
  }
}

extension RecordTemplate {
  /// Parses the value of `--format`.
  /// - Throws: `ValidationError` that names the position of the mistake.
  init(forOption text: String) throws(ValidationError) {
    do throws(Mistake) { try self.init(text) } catch {
      let sentence =
        switch error {
        case .brace(let brace, let position):
          "--format has \(brace) at position \(position) without its counterpart. For a brace as text, write \(brace)\(brace)."
        case .emptyField(let position): "--format has no name between the braces at position \(position)."
        case .noField where ["json", "csv"].contains(text.lowercased()): "--format takes a template. Use --\(text.lowercased())"
        case .noField where (try? ValueFormat(text)) != nil:
          "--format takes a template. For the format of values: --as \(text.lowercased())"
        case .noField: "--format has no field, as in '{time} {name}'."
        }
      throw ValidationError(sentence)
    }
  }
}
