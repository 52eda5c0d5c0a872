// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// An error in a file that describes a device, with the place of the error in the file.
package struct FileEntryError: Error, Equatable, Sendable, CustomStringConvertible {
  package let file: String
  /// The line of the error, counted from 1. Nil if the error concerns the whole file.
  package var line: Int?
  /// The byte position of the error in the line, counted from 1. Nil if unknown.
  package var column: Int?
  /// The path of the invalid entry, such as `services[0].characteristics[2].value`. Empty for the whole file.
  package var path = ""
  package let reason: String

  package var description: String {
    let place = [DisplayText.escape(file)] + [line, column].compactMap { $0.map(String.init) }
    return "\(place.joined(separator: ":")): \(path.isEmpty ? "" : "\(path): ")\(reason)"
  }
}
