import Text

/// What is wrong with a peripheral file, and where.
package struct PeripheralFileError: Error, Equatable, Sendable, CustomStringConvertible {
  package let file: String
  /// Counted from 1; nil when the file as a whole is meant.
  package var line: Int?
  /// The entry: `services[0].characteristics[2].value`; empty for the whole.
  package var path = ""
  package let reason: String

  package var description: String {
    let place = [DisplayText.escape(file), line.map { "\($0):" } ?? ""].joined(separator: ":")
    return "\(place) \(path.isEmpty ? "" : "\(path): ")\(reason)"
  }
}
