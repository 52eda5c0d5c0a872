import Glibc
import SystemPackage

/// A small file of the program's own, replaced as a whole: a reader sees the old or the new one.
package enum StateFile {
  /// Makes the folders above it where they are missing, for the user only.
  /// - Throws: FileError.unwritable.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    let temporary = "\(path).\(getpid())"
    do throws(Errno) {
      try makeFolders(above: path)
      let file = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
      _ = try SystemCall.call { unsafe rename(temporary, path) }
    } catch {
      _ = unsafe unlink(temporary)
      throw .unwritable(path, error)
    }
  }

  /// Those that are missing, for the user only.
  static func makeFolders(above path: String) throws(Errno) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      do throws(Errno) { _ = try SystemCall.call { unsafe mkdir(folder, 0o700) } } catch { if error != .fileExists { throw error } }
    }
  }
}
