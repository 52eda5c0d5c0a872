import Glibc

/// Which file a path means, for telling whether two paths mean the same one.
package enum FileIdentity: Hashable, Sendable {
  case file(device: UInt64, inode: UInt64)
  /// One that is not there yet: its name in a folder.
  case name(String, device: UInt64, inode: UInt64)

  /// - Parameter path: `-` is standard input.
  /// - Returns: nil for what several may share, because nothing of it can be destroyed: a pipe, a device, a socket; and for what cannot be
  ///   opened anyway.
  package init?(_ path: String) {
    var status = stat()
    let result = path == "-" ? unsafe fstat(STDIN_FILENO, &status) : unsafe stat(path, &status)
    if result == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else { return nil }
      self = .file(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      return
    }
    guard errno == ENOENT else { return nil }
    let parts = path.split(separator: "/")
    guard let name = parts.last, !path.hasSuffix("/") else { return nil }
    let folder = path.dropLast(name.count)
    guard unsafe stat(folder.isEmpty ? "." : String(folder), &status) == 0 else { return nil }
    self = .name(String(name), device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}

/// By which it shows that a file was written to.
struct FileVersion: Equatable {
  /// Octets.
  let size: Int
  private let modified: Int
  private let nanoseconds: Int

  init(_ status: stat) {
    size = Int(status.st_size)
    modified = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
