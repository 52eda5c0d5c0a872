import Glibc
import SystemPackage

/// Replaces a user's file as a whole, so that an error or a crash leaves the old file.
@LoopActor
package enum OutputFile {
  /// The users who may read a new file. The raw value is the file mode before the umask.
  package enum Readers: UInt32 { case user = 0o600, everybody = 0o666 }

  /// Opens a file for a stream of results, and removes its old contents. Fails for a pipe without a reader.
  /// - Throws: FileError.unwritable.
  package nonisolated static func open(_ path: String) throws(FileError) -> OwnedDescriptor {
    do throws(Errno) { return try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK, mode: 0o666) } catch {
      throw .unwritable(path, error)
    }
  }

  /// Checks that this process can write a file, without changing the file.
  /// - Throws: FileError.unwritable.
  package nonisolated static func check(_ path: String) throws(FileError) {
    do throws(Errno) {
      guard let (target, old) = try target(path) else {
        // The reader of a pipe would take opening and closing it for the end.
        if isPipe(path) { try SystemCall.call { unsafe access(path, W_OK) } } else { _ = try open(path, 0) }
        return
      }
      do throws(Errno) { try StateFile.canReplace(target) } catch { guard staysInPlace(old, error) else { throw error } }
    } catch { throw .unwritable(path, error) }
  }

  /// Replaces the contents of a file. Writes to a pipe as fast as its reader reads.
  /// - Throws: FileError.unwritable or CancellationError.
  package static func write(_ bytes: [UInt8], to path: String, for readers: Readers) async throws {
    let file: OwnedDescriptor
    do throws(Errno) {
      if let (target, old) = try target(path) {
        do throws(Errno) { return try StateFile.replace(target, with: bytes, mode: readers.rawValue, like: old) } catch {
          guard staysInPlace(old, error) else { throw error }
        }
        file = try open(path, O_TRUNC)
      } else {
        // Keep what other programs write to it.
        file = try open(path, O_APPEND)
      }
    } catch { throw FileError.unwritable(path, error) }
    try await stream(bytes, to: file.rawValue, path)
  }

  /// Writes keys to a file that `PrivateFile` accepts. Replaces a regular file by a new one, which only the user can read.
  /// - Throws: FileError.keys, FileError.unwritable or CancellationError.
  package static func write(keys bytes: [UInt8], to path: String) async throws {
    let file: OwnedDescriptor
    do throws(Errno) {
      if SystemCall.status(of: path)?.kind ?? S_IFREG == S_IFREG {
        do throws(Errno) { _ = try PrivateFile.open(path) } catch { if error != .noSuchFileOrDirectory { throw error } }
        return try StateFile.replace(path, with: bytes, mode: 0o600)
      }
      file = try PrivateFile.open(path)
    } catch { throw FileError.keys(path, error) }
    try await stream(bytes, to: file.rawValue, path)
  }

  private static func stream(_ bytes: [UInt8], to descriptor: Int32, _ path: String) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(Errno) { rest = rest.dropFirst(try SystemCall.write(descriptor, rest)) } catch .wouldBlock {
        _ = try await EventLoop.shared.wait(for: descriptor, .writable)
      } catch { throw FileError.unwritable(path, error) }
    }
  }

  /// Whether a path names a descriptor of this process, such as `/dev/stdout` or `/dev/fd/3`.
  package nonisolated static func isDescriptor(_ path: String) -> Bool {
    ["/dev/std", "/dev/fd/", "/proc/"].contains(where: path.hasPrefix)
  }

  /// Returns the file to replace, after following symbolic links, and its status, which is nil for a missing file.
  /// Returns nil for a pipe, a device or a descriptor of the shell. This process must write to those in place.
  /// - Throws: The reason why this process cannot write the file.
  private nonisolated static func target(_ path: String) throws(Errno) -> (path: String, old: stat?)? {
    if isDescriptor(path) { return nil }
    var old = stat()
    do throws(Errno) { try SystemCall.call { unsafe stat(path, &old) } } catch {
      guard error == .noSuchFileOrDirectory, !path.hasSuffix("/") else { throw error }
      return (try followed(path), nil)
    }
    guard old.kind == S_IFREG else { return nil }
    // A user who may rename files in the folder may still not be allowed to write to this file.
    _ = try open(path, 0)
    return (try followed(path), old)
  }

  package nonisolated static func isPipe(_ path: String) -> Bool { SystemCall.status(of: path)?.kind == S_IFIFO }

  /// Returns whether to write into the old file. The error must show that the folder takes no new file or that the file is a mount point.
  private nonisolated static func staysInPlace(_ old: stat?, _ error: Errno) -> Bool {
    old != nil && [.permissionDenied, .notPermitted, .readOnlyFileSystem, .resourceBusy].contains(error)
  }

  /// Returns the path after following symbolic links. The last target may be missing.
  private nonisolated static func followed(_ path: String) throws(Errno) -> String {
    var path = path
    // The kernel follows the same number of links.
    for _ in 0..<40 {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count: Int
      do throws(Errno) { count = try SystemCall.call { unsafe readlink(path, &buffer, buffer.count) } } catch { return path }
      let target = String(decoding: buffer[..<count], as: UTF8.self)
      let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
      path = target.hasPrefix("/") ? target : path.dropLast(name.count) + target
    }
    throw .tooManySymbolicLinkLevels
  }

  /// Opens a file for writing. Throws ENXIO for a pipe without a reader.
  private nonisolated static func open(_ path: String, _ flags: Int32) throws(Errno) -> OwnedDescriptor {
    try SystemCall.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | flags)
  }
}

/// Opens a user's file to append records to.
package enum AppendedFile {
  /// Opens a file to append to. Only the user can read a new file. Fails for a pipe without a reader.
  /// - Throws: FileError.unwritable.
  package static func open(_ path: String) throws(FileError) -> OwnedDescriptor {
    do throws(Errno) {
      return try SystemCall.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, mode: 0o600)
    } catch {
      throw .unwritable(path, error)
    }
  }
}
