package import EventLoop
import Glibc
package import HCI
import SystemPackage

/// A trace: every packet as a btsnoop record, written at once, so that a trace is whole up to a crash.
@LoopActor
package final class SnoopFile: HCI.Tap {
  private var file: OwnedDescriptor
  private let path: String
  private var unreported: FileError?
  private var hasFailed = false

  /// Called once, at the first record that could not be written; recording is over then, the command goes on.
  package var onFailure: (@LoopActor (FileError) -> Void)?

  /// An existing trace of ours is replaced; nothing else is: a link that someone put there, or another user's file, is refused.
  /// - Throws: FileError.
  package init(_ path: String) throws(FileError) {
    self.path = path
    do throws(Errno) {
      // /dev/fd/N is a link by nature: `--trace >(wireshark -k -i -)`.
      let mayBeLink = path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")
      // Only the user may read it: a trace holds keys and values.
      file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_NOCTTY | (mayBeLink ? 0 : O_NOFOLLOW), mode: 0o600)
      let status = try SystemCall.status(file.rawValue)
      if status.st_mode & S_IFMT == S_IFREG {
        guard status.st_nlink == 1, status.st_uid == geteuid() else { throw Errno.notPermitted }
        let descriptor = file.rawValue
        try SystemCall.call { ftruncate(descriptor, 0) }
      }
    } catch {
      throw .trace(path, error)
    }
    write(Snoop.header)
    if let unreported { throw unreported }
  }

  package func record(_ packet: [UInt8], _ direction: HCI.Direction) {
    write(Snoop.Record(packet: packet, direction: direction, wallClock: EventLoop.shared.wallClock).encoded)
  }

  /// Idempotent.
  /// - Throws: FileError when something could not be written and nobody was told.
  package func close() throws(FileError) {
    file.close()
    if let error = unreported {
      unreported = nil
      throw error
    }
  }

  private func write(_ bytes: [UInt8]) {
    guard !hasFailed, file.rawValue >= 0 else { return }
    do throws(Errno) {
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
    } catch {
      hasFailed = true
      let failure = FileError.trace(path, error)
      if let onFailure { onFailure(failure) } else { unreported = failure }
    }
  }
}
