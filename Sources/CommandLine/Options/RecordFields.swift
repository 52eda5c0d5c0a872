import ArgumentParser
import LinuxIO
import Presentation
package import Terminal
package import Text

/// The fields of a command's records, for `--csv` and `--format`.
package struct RecordFields: Sendable {
  /// The columns of `--csv`, in their order. `decoded` and `values` stand for the columns of decoded values.
  let columns: [String]
  /// The other fields that a template may name.
  let others: [String]

  package init(_ columns: [String], others: [String] = []) {
    self.columns = columns
    self.others = ["event"] + others
  }

  /// The fields of a record that identify a device.
  package static let device = ["address", "address_type", "name"]
  /// The fields of a record with a value. Records of values that arrive unasked also have `time`.
  package static let value = RecordFields(
    ["time", "name", "uuid", "handle", "value", "text", "decoded"],
    others: ["address", "address_type", "uuid_name", "user_description", "decoded_error", "decoded_name", "peer"])

  fileprivate var all: [String] { columns + others }
}

extension LoopCommand {
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

  /// The form of the command's records. Nil for the form without `--csv` and `--format`.
  package var form: RecordForm? {
    guard let fields = recordFields else { return nil }
    if let format = process.format.flatMap({ try? RecordTemplate($0) }) { return .template(format, fields.all) }
    return process.csv ? .csv(fields.columns.filter { process.time != TimeChoice.none || $0 != "time" }) : nil
  }

  /// Refuses options for records on a command without records, and a template with a field that no record of the command has.
  /// - Throws: `Failure(.usage)` that names the option or the field.
  package func checkRecordOptions() throws {
    let given = ["--csv": process.csv, "--format": process.format != nil, "--output": process.output != nil, "--time": process.time != nil]
      .filter { $0.value }.keys
    guard let fields = recordFields else {
      guard let option = given.min() else { return }
      throw Failure(.usage, "\(commandName) takes no \(option).\(option == "--output" ? " Redirect its output: > FILE" : "")")
    }
    // Only the device knows the names of decoded values.
    guard let format = process.format.flatMap({ try? RecordTemplate($0) }), Set(fields.all).isDisjoint(with: RecordField.open) else {
      return
    }
    for field in format.fields where !fields.all.contains(field.root) { throw UnknownRecordField(field: field.path, known: fields.all) }
  }
}

/// The choice of `--time`.
enum TimeChoice: String, Sendable, CaseIterable, ExpressibleByArgument {
  case local, utc, relative, none

  static var allValueStrings: [String] { allCases.map(\.rawValue) }
  static var allValueDescriptions: [String: String] { [:] }

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
        case .noField: "--format has no field, as in '{time} {name}'."
        }
      throw ValidationError(sentence)
    }
  }
}
