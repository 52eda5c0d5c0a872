import Glibc
import SystemPackage

/// Replaces a small file of the program itself as a whole. A reader sees the old or the new file.
package enum StateFile {
  /// Writes a file. Creates missing parent directories that only the user can access.
  /// - Throws: FileError.unwritable.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    do throws(Errno) {
      try makeFolders(above: path)
      try replace(path, with: bytes, mode: 0o600)
    } catch { throw .unwritable(path, error) }
  }

  /// Writes a temporary file in the same folder and renames it to `path`. After an error the old file is unchanged.
  /// - Parameters:
  ///   - mode: The mode of a new file, before the umask.
  ///   - old: The replaced file. The new file gets its mode and owner.
  static func replace(_ path: String, with bytes: [UInt8], mode: mode_t, like old: stat? = nil) throws(Errno) {
    let temporary = beside(path)
    do throws(Errno) {
      let file = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: old == nil ? mode : 0o600)
      if let old {
        // The owner first: chown clears the set-user-ID bits. Only root may give a file away; other users keep a file of their own.
        _ = fchown(file.rawValue, old.st_uid, old.st_gid)
        try SystemCall.call { fchmod(file.rawValue, old.st_mode & 0o7777) }
      }
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
      _ = try SystemCall.call { unsafe rename(temporary, path) }
    } catch {
      if error != .fileExists { _ = unsafe unlink(temporary) }
      throw error
    }
  }

  /// Checks that `replace` may create a file in the folder of `path`.
  static func canReplace(_ path: String) throws(Errno) {
    let temporary = beside(path)
    _ = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    _ = unsafe unlink(temporary)
  }

  /// Returns the path of a new file in the same folder, with a unique name of valid length.
  private static func beside(_ path: String) -> String {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    return "\(path.dropLast(name.count)).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
  }

  /// Creates missing parent directories of a path that only the user can access.
  static func makeFolders(above path: String) throws(Errno) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      do throws(Errno) { _ = try SystemCall.call { unsafe mkdir(folder, 0o700) } } catch { if error != .fileExists { throw error } }
    }
  }
}
