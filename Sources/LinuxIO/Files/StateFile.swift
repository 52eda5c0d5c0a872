import Glibc
import SystemPackage

/// A small file of the program's own, replaced as a whole: a reader sees the old or the new one.
package enum StateFile {
  /// Makes the folders above it where they are missing, for the user only.
  /// - Throws: FileError.unwritable.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    do throws(Errno) {
      try makeFolders(above: path)
      try replace(path, with: bytes, mode: 0o600)
    } catch { throw .unwritable(path, error) }
  }

  /// Writes a file beside it, and renames that. After an error the old file is as it was.
  /// - Parameters:
  ///   - mode: of a new file; the user's mask takes from that.
  ///   - old: the file that is replaced, whose mode and owner the new one gets.
  static func replace(_ path: String, with bytes: [UInt8], mode: mode_t, like old: stat? = nil) throws(Errno) {
    let temporary = beside(path)
    do throws(Errno) {
      let file = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: old == nil ? mode : 0o600)
      if let old {
        // First the owner: that takes the bits for set-user-ID. Only root may give a file away, and who may not has made a file of its own.
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

  /// Whether `replace` may make its file there.
  static func canReplace(_ path: String) throws(Errno) {
    let temporary = beside(path)
    _ = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    _ = unsafe unlink(temporary)
  }

  /// In the same folder, with a name that nobody else has, and that is not too long.
  private static func beside(_ path: String) -> String {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    return "\(path.dropLast(name.count)).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
  }

  /// Makes missing folders above a path, with access for the user only.
  static func makeFolders(above path: String) throws(Errno) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      do throws(Errno) { _ = try SystemCall.call { unsafe mkdir(folder, 0o700) } } catch { if error != .fileExists { throw error } }
    }
  }
}
