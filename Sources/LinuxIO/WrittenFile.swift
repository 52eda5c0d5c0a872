package import EventLoop
import Glibc
import SystemPackage

/// A file that the user has named for a result. A regular one is replaced as a whole, so that nobody reads half of it; a pipe or a device
/// takes the octets as they come.
@LoopActor
package enum WrittenFile {
  /// Whether it can be written, before hours of work.
  /// - Throws: FileError.unwritable.
  package nonisolated static func check(_ path: String) throws(FileError) {
    let isThere = unsafe access(path, F_OK) == 0
    let target = isThere ? path : folder(of: path)
    do throws(Errno) {
      if isThere, FolderNames.isFolder(path) { throw .isDirectory }
      _ = try SystemCall.call { unsafe access(target, isThere ? W_OK : W_OK | X_OK) }
    } catch { throw .unwritable(path, error) }
  }

  /// - Throws: FileError.unwritable; CancellationError while a pipe is full.
  package static func write(_ bytes: [UInt8], to path: String) async throws {
    if let other = try special(path) { return try await write(bytes, to: other.rawValue, path) }
    let temporary = "\(path).\(getpid())"
    do throws(Errno) {
      let file = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o666)
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
      _ = try SystemCall.call { unsafe rename(temporary, path) }
    } catch {
      _ = unsafe unlink(temporary)
      throw FileError.unwritable(path, error)
    }
  }

  private nonisolated static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// What is there and no regular file.
  private static func special(_ path: String) throws -> OwnedDescriptor? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return nil }
    do throws(Errno) { return try SystemCall.open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY) } catch {
      throw FileError.unwritable(path, error)
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(Errno) { rest = rest.dropFirst(try SystemCall.write(descriptor, rest)) } catch .wouldBlock {
        _ = try await EventLoop.shared.wait(for: descriptor, .writable)
      } catch { throw FileError.unwritable(path, error) }
    }
  }
}
