import CBluetoothLESystem
import Glibc

/// Prepares and ends this process, and reads its environment and arguments.
package enum ThisProcess {
  /// Prepares the process. Makes failed writes return errors instead of raising signals, and makes no capability effective.
  /// Restores the default action of Ctrl-\, which avoids the crash report of the Swift runtime.
  /// Replaces closed standard descriptors, so that no other file gets their numbers. Using a replacement fails with EBADF.
  package static func prepare() {
    Capabilities.lower()
    SignalWatch.ignoreFailedWrites()
    if shim_is_ignored(SIGQUIT) == 0 { _ = shim_default_signal(SIGQUIT) }
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Returns the environment variables by name. Call this function before the process has a second thread.
  package static func environment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let parts = unsafe String(cString: text).utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(Substring(parts[0]))] = String(Substring(parts[1])) }
      unsafe entry += 1
    }
    return variables
  }

  /// The first 16 hex digits of the commit, and its time in nanoseconds since 1970-01-01T00:00:00Z. Nil unless `scripts/release` built blectl.
  package static var commit: (hash: UInt64, time: Int64)? {
    let (hash, time) = (shim_commit(), Int64(clamping: shim_commit_time()))
    return hash == 0 ? nil : (hash, time.multipliedReportingOverflow(by: 1_000_000_000).partialValue)
  }

  /// Returns the index in `CommandLine.arguments` of the first argument that is not UTF-8. Nil if all arguments are UTF-8.
  package static func argumentThatIsNoText() -> Int? {
    CommandLine.arguments.indices.dropFirst().first { index in
      // U+FFFD replaces invalid bytes.
      guard CommandLine.arguments[index].utf8.contains(0xEF), let bytes = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe String(validatingCString: bytes) == nil
    }
  }

  /// Returns the path of the program after resolving links. Nil if /proc does not provide the path.
  package static func executable() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
      guard let base = bytes.baseAddress else { return -1 }
      return unsafe readlink("/proc/self/exe", base.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}

/// A process on this machine.
package struct RunningProgram: Hashable, Sendable {
  package let process: Int
  /// The name of the program's file, as the kernel keeps it: at most 15 bytes (proc_pid_comm(5)).
  package let name: String

  package var isThisProcess: Bool { process == Int(getpid()) }

  /// The real user of the process (proc_pid_status(5)): everybody can start a program that root owns and that is set-user-ID, under any
  /// name. Nil after the end of the process.
  package var user: UserNumber? { SmallFile.text(of: "/proc/\(process)/status").flatMap(Self.realUser).map { UserNumber($0) } }

  /// Returns the real user in the text of /proc/PID/status: the first number of the line `Uid:`.
  static func realUser(_ status: String) -> UInt32? {
    let fields = status.split(separator: "\n").first { $0.hasPrefix("Uid:") }?.split(separator: "\t")
    return fields?.dropFirst().first.flatMap { UInt32($0) }
  }

  /// Whether the process is a system service with a name: any user can start a process with any name.
  /// - Parameter user: The user of the process. An ambiguous one counts, because it may be root.
  package func isService(_ name: String, user: @autoclosure () -> UserNumber?) -> Bool {
    guard self.name == name, let user = user() else { return false }
    return user.rawValue == 0 || user.isAmbiguous
  }

  /// Lists the processes in /proc, sorted by process number.
  package static func all() -> [RunningProgram] {
    FolderNames.list("/proc", home: nil).compactMap { Int($0.dropLast()) }.sorted()
      .compactMap { number in SmallFile.line(of: "/proc/\(number)/comm").map { RunningProgram(process: number, name: $0) } }
  }

  /// Whether `all` lists every process. False in a PID namespace of its own (container) or if /proc hides processes (hidepid).
  package static var areAllSeen: Bool {
    // PROC_PID_INIT_INO of linux/proc_ns.h: the initial PID namespace.
    SystemCall.status(of: "/proc/self/ns/pid")?.st_ino == 0xEFFF_FFFC && InputFile.exists("/proc/1/comm")
  }

  /// Returns the members of `inodes` that are sockets of the process. Empty if this process runs as another user without CAP_SYS_PTRACE.
  package func sockets(among inodes: Set<UInt64>) -> Set<UInt64> {
    let folder = "/proc/\(process)/fd"
    var found: Set<UInt64> = []
    for name in FolderNames.list(folder, home: nil) {
      guard let status = SystemCall.status(of: "\(folder)/\(name)"), status.kind == S_IFSOCK else { continue }
      if inodes.contains(UInt64(status.st_ino)) { found.insert(UInt64(status.st_ino)) }
    }
    return found
  }
}
