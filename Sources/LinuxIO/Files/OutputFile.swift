package import EventLoop
import Glibc
import SystemPackage

/// A file of the user's that is written at the end, as a whole: after an error, or a crash, the old one is still there.
@LoopActor
package enum OutputFile {
  /// Who may read a new one; the user's mask takes from that.
  package enum Readers: UInt32 { case user = 0o600, everybody = 0o666 }

  /// Whether it can be written, before anything is done for it. - Throws: FileError.unwritable.
  package nonisolated static func check(_ path: String) throws(FileError) {
    do throws(Errno) {
      guard let (target, old) = try target(path) else {
        // Whoever reads a pipe would take its opening and closing for the end.
        if isPipe(path) { try SystemCall.call { unsafe access(path, W_OK) } } else { _ = try open(path, 0) }
        return
      }
      do throws(Errno) { try StateFile.canReplace(target) } catch { guard staysInPlace(old, error) else { throw error } }
    } catch { throw .unwritable(path, error) }
  }

  /// In place of what it held; a pipe takes it as fast as it is read.
  /// - Throws: FileError.unwritable; CancellationError.
  package static func write(_ bytes: [UInt8], to path: String, for readers: Readers) async throws {
    let file: OwnedDescriptor
    do throws(Errno) {
      if let (target, old) = try target(path) {
        do throws(Errno) { return try StateFile.replace(target, with: bytes, mode: readers.rawValue, like: old) } catch {
          guard staysInPlace(old, error) else { throw error }
        }
        file = try open(path, O_TRUNC)
      } else {
        // What others write to it stays.
        file = try open(path, O_APPEND)
      }
    } catch { throw FileError.unwritable(path, error) }
    let descriptor = file.rawValue
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(Errno) { rest = rest.dropFirst(try SystemCall.write(descriptor, rest)) } catch .wouldBlock {
        _ = try await EventLoop.shared.wait(for: descriptor, .writable)
      } catch { throw FileError.unwritable(path, error) }
    }
  }

  /// The file that is replaced, with links followed, and what is there now. Nil for a pipe, a device, or a descriptor of the shell's: a new file
  /// under that name would not reach who reads it. - Throws: why it cannot be written.
  private nonisolated static func target(_ path: String) throws(Errno) -> (path: String, old: stat?)? {
    if ["/dev/std", "/dev/fd/", "/proc/"].contains(where: path.hasPrefix) { return nil }
    var old = stat()
    do throws(Errno) { try SystemCall.call { unsafe stat(path, &old) } } catch {
      guard error == .noSuchFileOrDirectory, !path.hasSuffix("/") else { throw error }
      return (try followed(path), nil)
    }
    guard old.st_mode & S_IFMT == S_IFREG else { return nil }
    // Who may rename in its folder may still not be allowed to write to it.
    _ = try open(path, 0)
    return (try followed(path), old)
  }

  package nonisolated static func isPipe(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// A folder that takes no new file, as that of another user; a file that is a mount of its own, as in a container.
  private nonisolated static func staysInPlace(_ old: stat?, _ error: Errno) -> Bool {
    old != nil && [.permissionDenied, .notPermitted, .readOnlyFileSystem, .resourceBusy].contains(error)
  }

  /// The file that links lead to, so that they stay links. It may be missing.
  private nonisolated static func followed(_ path: String) throws(Errno) -> String {
    var path = path
    // As many as the kernel follows.
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

  /// A pipe that nobody reads is an error, not a wait without a limit.
  private nonisolated static func open(_ path: String, _ flags: Int32) throws(Errno) -> OwnedDescriptor {
    try SystemCall.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | flags)
  }
}
