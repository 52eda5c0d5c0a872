package import EventLoop
import Glibc
import SystemPackage

/// A file of the user's that is written at the end.
@LoopActor
package enum OutputFile {
  /// Who may read a new one; the user's mask takes from that.
  package enum Readers: UInt32 { case user = 0o600, everybody = 0o666 }

  /// Whether it can be written, before anything is done for it. It is there then. - Throws: FileError.unwritable.
  package nonisolated static func check(_ path: String, for readers: Readers) throws(FileError) {
    do throws(Errno) { _ = try open(path, O_CREAT, readers) } catch { throw .unwritable(path, error) }
  }

  /// In place of what it held; a pipe takes it as fast as it is read.
  /// - Throws: FileError.unwritable; CancellationError.
  package static func write(_ bytes: [UInt8], to path: String, for readers: Readers) async throws {
    let file: OwnedDescriptor
    do throws(Errno) { file = try open(path, O_CREAT | O_TRUNC, readers) } catch { throw FileError.unwritable(path, error) }
    let descriptor = file.rawValue
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(Errno) { rest = rest.dropFirst(try SystemCall.write(descriptor, rest)) } catch .wouldBlock {
        _ = try await EventLoop.shared.wait(for: descriptor, .writable)
      } catch { throw FileError.unwritable(path, error) }
    }
  }

  /// A pipe that nobody reads is an error, not a wait without a limit.
  private nonisolated static func open(_ path: String, _ flags: Int32, _ readers: Readers) throws(Errno) -> OwnedDescriptor {
    try SystemCall.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | flags, mode: readers.rawValue)
  }
}
