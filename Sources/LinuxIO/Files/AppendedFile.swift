import Glibc
import SystemPackage

/// Opens a user's file to append records to.
package enum AppendedFile {
  /// Opens a file to append to. Only the user can read a new file. A pipe without a reader is an error, not an unlimited wait.
  /// - Throws: FileError.unwritable.
  package static func open(_ path: String) throws(FileError) -> OwnedDescriptor {
    do throws(Errno) {
      return try SystemCall.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, mode: 0o600)
    } catch {
      throw .unwritable(path, error)
    }
  }
}
