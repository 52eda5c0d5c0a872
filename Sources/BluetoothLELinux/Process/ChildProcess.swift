import CBluetoothLESystem
import Glibc
import SystemPackage

/// Runs shell commands of the user.
@LoopActor
package enum ChildProcess {
  /// Runs `sh -c` on the standard streams of this process and waits for its end. Canceling the task sends SIGTERM, and SIGKILL one second
  /// later. On a terminal, this process ignores Ctrl-C and Ctrl-\ while the command runs, as system(3) does.
  /// - Parameter input: The standard input of the command. Nil for that of this process.
  /// - Returns: The exit status, or 128 + N if signal N ended the command.
  /// - Throws: Errno or CancellationError.
  package static func shell(_ command: String, input: [UInt8]? = nil, signals: SignalWatch? = nil) async throws -> Int32 {
    // Before the start: the command could print at once, and a user could press Ctrl-C in answer.
    let ignoresInterrupt = isTyped && signals?.ignore(SIGINT) ?? false
    // No watch exists for this signal.
    let ignoresQuit = isTyped && shim_is_ignored(SIGQUIT) == 0 && shim_ignore_signal(SIGQUIT) == 0
    defer {
      if ignoresInterrupt { signals?.rearm(SIGINT) }
      if ignoresQuit { _ = shim_default_signal(SIGQUIT) }
    }
    let contents = try file(input ?? [])
    let defaults = (ignoresInterrupt ? [SIGINT] : []) + (ignoresQuit ? [SIGQUIT] : [])
    let process = try start(["sh", "-c", command], input: input == nil ? nil : contents.rawValue, defaults: defaults)
    _ = contents.rawValue  // Open until here.
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

  /// Runs `sh -c` without input, and discards the standard error.
  /// - Parameter limit: The maximum time in milliseconds. This function kills a longer command.
  /// - Returns: The standard output. Nil after a timeout or a failure, or if the command writes 64 KiB or more.
  /// - Throws: CancellationError.
  package static func output(of command: String, within limit: Int) async throws -> [UInt8]? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reader = OwnedDescriptor(ends[0])
    var writer = OwnedDescriptor(ends[1])
    _ = fcntl(reader.rawValue, F_SETFL, O_NONBLOCK)
    guard let process = try? start(["sh", "-c", command], output: writer.rawValue) else { return nil }
    writer.close()
    let descriptor = reader.rawValue
    let bytes: Result<[UInt8]?, any Error>
    do {
      bytes = .success(
        try await race(
          {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while bytes.count < 1 << 16 {
              _ = try await EventLoop.shared.wait(for: descriptor, .readable)
              let count = try SystemCall.read(descriptor, into: &buffer)
              if count == 0 { return bytes }
              bytes += buffer[..<count]
            }
            return bytes
          },
          {
            try await RealTime.sleep(milliseconds: limit)
            return nil
          }))
    } catch { bytes = .failure(error) }
    kill(-process, SIGKILL)
    let status = try? result(of: process)
    _ = reader.rawValue  // Open until here.
    guard let bytes = try bytes.get(), status == 0 else { return nil }
    return bytes
  }

  /// Returns a file without a name that has these contents.
  private static func file(_ contents: [UInt8]) throws(Errno) -> OwnedDescriptor {
    let file = OwnedDescriptor(try SystemCall.call { shim_memory_file() })
    var rest = contents[...]
    while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
    _ = lseek(file.rawValue, 0, SEEK_SET)
    return file
  }

  private static func result(of process: pid_t) throws(Errno) -> Int32 {
    var status: Int32 = 0
    try SystemCall.call { unsafe waitpid(process, &status, 0) }
    // WIFEXITED, WEXITSTATUS, WTERMSIG of wait(2).
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  /// Whether standard input is a terminal.
  private static var isTyped: Bool { isatty(STDIN_FILENO) != 0 }

  /// Starts /bin/sh with the given arguments. Returns the process number.
  /// - Parameters:
  ///   - input: The descriptor for standard input. Nil for the terminal, or for no input.
  ///   - output: The descriptor for standard output. With nil, the process inherits standard output and standard error.
  ///   - defaults: Signals that this process ignores for now and the new process does not.
  private static func start(
    _ arguments: [String], input: Int32? = nil, output: Int32? = nil, defaults ownSignals: [Int32] = []
  ) throws(Errno) -> pid_t {
    var process: pid_t = 0
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The process would inherit the signals that we ignore.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in SignalWatch.ofWriting + ownSignals { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // On a terminal it shares our process group, which Ctrl-C goes to. Otherwise it gets its own group, so that all of it can be killed.
    let isTyped = output == nil && Self.isTyped
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | (isTyped ? 0 : POSIX_SPAWN_SETPGROUP)))
    // Other standard input is ours, unless a user types it.
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let input {
      unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    } else if !isTyped {
      unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    if let output {
      unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    let code = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, LibraryEnvironment.ofChildren)
    guard code == 0 else { throw Errno(rawValue: code) }
    return process
  }
}
