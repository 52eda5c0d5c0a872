import Glibc

/// The file that a path refers to. Equal values are the same file.
package enum FileIdentity: Hashable, Sendable {
  case file(device: UInt64, inode: UInt64)
  /// A file that does not exist yet, by its name in a folder.
  case name(String, device: UInt64, inode: UInt64)

  /// Identifies the file at a path. The path `-` is standard input. Nil for pipes, devices and sockets, which several users may share,
  /// because writing destroys nothing. Nil also for files that cannot be opened.
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

/// The size and modification time of a file. A different version shows that a program wrote to the file.
struct FileVersion: Equatable {
  /// The size in bytes.
  let size: Int
  private let modified: Int
  private let nanoseconds: Int

  init(_ status: stat) {
    size = Int(status.st_size)
    modified = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
