/// The options that only commands with records take.
private let recordOptions = ["--csv", "--format", "--output", "--time"]

extension CommandDescription.Argument {
  var isOfRecords: Bool { section == HelpPage.globalTitle && !Set(names).isDisjoint(with: recordOptions) }
}

extension ProcessOptions {
  /// The options for records that the user gave.
  fileprivate var ofRecords: [String] {
    zip(recordOptions, [csv, format != nil, output != nil, time != nil]).filter(\.1).map(\.0)
  }

  /// Checks the options for records before a command runs.
  /// - Throws: `UnknownRecordOption` if the command prints no records; `ValidationError` for an invalid template.
  func checkRecordOptions(printsRecords: Bool) throws {
    if !printsRecords, !ofRecords.isEmpty { throw UnknownRecordOption() }
    _ = try format.map { try RecordTemplate(forOption: $0) }
  }
}

/// The user gave an option for records to a command that prints none.
struct UnknownRecordOption: Error {}

extension LoopCommand {
  /// Whether the user asked for a form of times, so that also records that usually have none contain them.
  package var asksForTimes: Bool { process.time.map { $0 != TimeChoice.none } ?? false }

  /// The style of the output that the command's options ask for.
  package var outputStyle: Output.Style {
    var style = Output.Style()
    style.program = "blectl"
    style.json = process.json || form != nil
    style.form = form ?? .json
    style.times = process.time?.times
    style.quiet = process.quiet
    style.verbosity = process.verbose
    style.color = process.color ?? .auto
    return style
  }

  /// The form of the command's records. Nil without `--csv` and `--format`.
  package var form: RecordForm? {
    guard let fields = recordFields else { return nil }
    if let format = process.format, let template = try? RecordTemplate(forOption: format) { return .template(template, fields.all) }
    return process.csv
      ? .csv(fields.columns.filter { process.time != TimeChoice.none || !["time", "start"].contains($0) }) : nil
  }

  /// Checks the options for records.
  /// - Throws: `Failure(.usage)` for a combination without records; `UnknownRecordField` for a field that no record of the command has.
  package func checkRecordOptions() throws {
    guard let option = process.ofRecords.first else { return }
    guard let fields = recordFields else {
      throw Failure(.usage, "This form of \(commandName) prints no records, so it takes no \(option).")
    }
    if process.json, process.csv || process.format != nil { throw Failure(.usage, "--json and \(option) exclude each other.") }
    // Only the device knows the names of decoded values.
    guard case .template(let format, _)? = form, Set(fields.all).isDisjoint(with: RecordField.open) else { return }
    for field in format.fields where !fields.all.contains(field.root) { throw UnknownRecordField(field: field.path, known: fields.all) }
  }
}

/// The choice of `--time`.
enum TimeChoice: String, Sendable, CaseIterable, ExpressibleByArgument {
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
