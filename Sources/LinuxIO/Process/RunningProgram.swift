import Glibc

/// A process on this machine.
package struct RunningProgram: Hashable, Sendable {
  package let process: Int
  /// The name of the program's file, as the kernel keeps it: at most 15 bytes (proc_pid_comm(5)).
  package let name: String

  package init(process: Int, name: String) {
    self.process = process
    self.name = name
  }

  package var isThisProcess: Bool { process == Int(getpid()) }

  /// Lists the processes in /proc, sorted by process number.
  package static func all() -> [RunningProgram] {
    FolderNames.list("/proc", home: nil).compactMap { Int($0.dropLast()) }.sorted()
      .compactMap { number in SmallFile.line(of: "/proc/\(number)/comm").map { RunningProgram(process: number, name: $0) } }
  }

  /// Whether `all` lists every process. False in a PID namespace of its own (container) or if /proc hides processes (hidepid).
  package static var areAllSeen: Bool {
    var status = stat()
    // PROC_PID_INIT_INO of linux/proc_ns.h: the initial PID namespace.
    guard unsafe stat("/proc/self/ns/pid", &status) == 0, status.st_ino == 0xEFFF_FFFC else { return false }
    return unsafe access("/proc/1/comm", F_OK) == 0
  }

  /// Returns the members of `inodes` that are sockets of the process. Empty if this process runs as another user without CAP_SYS_PTRACE.
  package func sockets(among inodes: Set<UInt64>) -> Set<UInt64> {
    let folder = "/proc/\(process)/fd"
    var found: Set<UInt64> = []
    for name in FolderNames.list(folder, home: nil) {
      var status = stat()
      guard unsafe stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { continue }
      if inodes.contains(UInt64(status.st_ino)) { found.insert(UInt64(status.st_ino)) }
    }
    return found
  }
}
