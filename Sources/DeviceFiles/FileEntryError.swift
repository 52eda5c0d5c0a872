import Text

/// What is wrong with a file that describes a device, and where.
package struct FileEntryError: Error, Equatable, Sendable, CustomStringConvertible {
  package let file: String
  /// Counted from 1; nil when the file as a whole is meant.
  package var line: Int?
  /// Octets from the beginning of the line, from 1.
  package var column: Int?
  /// The entry: `services[0].characteristics[2].value`; empty for the whole.
  package var path = ""
  package let reason: String

  package init(file: String, line: Int? = nil, column: Int? = nil, path: String = "", reason: String) {
    self.file = file
    self.line = line
    self.column = column
    self.path = path
    self.reason = reason
  }

  package var description: String {
    let place = [DisplayText.escape(file)] + [line, column].compactMap { $0.map(String.init) }
    return "\(place.joined(separator: ":")): \(path.isEmpty ? "" : "\(path): ")\(reason)"
  }
}
