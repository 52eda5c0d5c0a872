import Glibc
import SystemPackage

/// A file of the user's that records are added to.
package enum AppendedFile {
  /// Only the user may read a new one. A pipe that nobody reads is an error, not a wait without a limit.
  /// - Throws: FileError.unwritable.
  package static func open(_ path: String) throws(FileError) -> OwnedDescriptor {
    do throws(Errno) {
      return try SystemCall.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, mode: 0o600)
    } catch {
      throw .unwritable(path, error)
    }
  }
}
