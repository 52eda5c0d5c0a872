package import SystemPackage

/// What went wrong with a file of the user's.
package enum FileError: Error, Equatable, Sendable {
  /// Nil stands for standard input.
  package typealias Path = String?

  case unreadable(Path, Errno)
  /// It has more octets than can be used.
  case tooLong(Path, limit: Int)
  /// A device that never says that it is at its end.
  case endless(Path)
  /// It ended at this octet, and had `count` when it was opened: somebody cut it.
  case endedEarly(Path, at: Int, count: Int)
  /// Its octets or the time of its last change are not those of when it was opened.
  case changed(Path, from: Int, to: Int)
  /// Of what can be read only once: so much of it is waiting to be released, and more is not kept.
  case keepsNoMore(Path, limit: Int)
  /// Of what can be read only once: it is not kept any more.
  case passed(Path, offset: Int)
  /// A state file could not be replaced.
  case unwritable(String, Errno)
  /// The trace, which replaces nothing but an older trace of this user's: ELOOP is a link, EPERM what is not this user's alone;
  /// ENXIO is a pipe without a reader, EAGAIN one whose reader does not keep up.
  case trace(String, Errno)
}
