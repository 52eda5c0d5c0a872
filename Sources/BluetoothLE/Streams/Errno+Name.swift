// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
package import SystemPackage

extension Errno {
  /// The C name of the error, for example `EACCES`.
  package var symbol: String {
    guard let name = unsafe shim_errno_name(rawValue) else { return "errno \(rawValue)" }
    return unsafe String(cString: name)
  }

  /// The description of the error and its C name, for example `Permission denied (EACCES)`.
  package var words: String { "\(description) (\(symbol))" }

  /// The name of the error in JSON records, for example `eacces`.
  package var snakeName: String { String(decoding: symbol.lowercased().utf8.map { $0 == 0x20 ? 0x5F : $0 }, as: UTF8.self) }

  // Errors that swift-system has no names for.
  package static let badDescriptorState = Self(rawValue: EBADFD)
  package static let invalidExchange = Self(rawValue: EBADE)
  package static let blockedByRFKill = Self(rawValue: ERFKILL)
}
