import CLinux
import Glibc
package import SystemPackage

extension Errno {
  /// The C name: `EACCES`.
  package var symbol: String {
    guard let name = unsafe shim_errno_name(rawValue) else { return "errno \(rawValue)" }
    return unsafe String(cString: name)
  }

  /// `Permission denied (EACCES)`: never a number alone.
  package var words: String { "\(description) (\(symbol))" }

  /// As JSON shows it: `eacces`.
  package var snakeName: String { symbol.lowercased().split(separator: " ").joined(separator: "_") }

  // Those that swift-system has no names for.
  package static let badDescriptorState = Self(rawValue: EBADFD)
  package static let invalidExchange = Self(rawValue: EBADE)
  package static let blockedByRFKill = Self(rawValue: ERFKILL)
}
