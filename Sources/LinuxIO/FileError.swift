package import SystemPackage

/// What went wrong with a file of the user's.
package enum FileError: Error, Equatable, Sendable {
  /// Nil stands for standard input.
  package typealias Path = String?

  case unreadable(Path, Errno)
  /// It has more octets than can be used.
  case tooLong(Path, limit: Int)
  /// A state file could not be replaced.
  case unwritable(String, Errno)
  /// The trace, which replaces nothing but an older trace of this user's: ELOOP is a link, EPERM what is not this user's alone;
  /// ENXIO is a pipe without a reader, EAGAIN one whose reader does not keep up.
  case trace(String, Errno)
}
