import CLinux
package import EventLoop
import Glibc
import SystemPackage

/// A command of the user's shell, on our standard streams.
@LoopActor
package enum ChildProcess {
  /// Runs `sh -c` to its end; when the task is cancelled it is asked to end, and after a second made to.
  /// - Returns: its exit status; 128 + N when the signal N ended it.
  /// - Throws: Errno; CancellationError.
  package static func shell(_ command: String) async throws -> Int32 {
    let process = try start(["sh", "-c", command])
    do {
      let ended = OwnedDescriptor(try SystemCall.call { shim_pidfd_open(process) })
      do { _ = try await EventLoop.shared.wait(for: ended.rawValue, .readable) } catch {
        kill(-process, SIGTERM)
        kill(process, SIGTERM)
        await shielded {
          _ = try? await race(
            { _ = try await EventLoop.shared.wait(for: ended.rawValue, .readable) }, { try await RealTime.sleep(milliseconds: 1000) })
        }
        throw error
      }
    } catch {
      kill(-process, SIGKILL)
      kill(process, SIGKILL)
      _ = try? result(of: process)
      throw error
    }
    return try result(of: process)
  }

  private static func result(of process: pid_t) throws(Errno) -> Int32 {
    var status: Int32 = 0
    try SystemCall.call { unsafe waitpid(process, &status, 0) }
    // WIFEXITED, WEXITSTATUS, WTERMSIG of wait(2).
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  private static func start(_ arguments: [String]) throws(Errno) -> pid_t {
    var process: pid_t = 0
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // What we ignore it would ignore too.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    unsafe sigaddset(&defaults, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // On a terminal it belongs to whom Ctrl-C there is for; else it has a group of its own, so that all of it can be ended.
    let isTyped = isatty(STDIN_FILENO) != 0
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | (isTyped ? 0 : POSIX_SPAWN_SETPGROUP)))
    // What else comes on standard input is ours, unless somebody types it.
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if !isTyped { unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    let code = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, environ)
    guard code == 0 else { throw Errno(rawValue: code) }
    return process
  }
}
