import CLinux
import Glibc

/// Raises and drops CAP_NET_ADMIN and CAP_NET_RAW, the capabilities of the program's file (capabilities(7)).
///
/// The file has both capabilities as permitted only (`=p`). If they were effective, the kernel would refuse to start the program where
/// the bounding set lacks them, as in most containers (EPERM). Root keeps its capabilities.
package enum Capabilities {
  private static let ours = bit(.netAdmin) | bit(.netRaw)

  /// Runs `body` with a capability effective, if the process has it as permitted. Only the calling thread gets the capability.
  package static func raised<T: ~Copyable, E: Error>(_ capability: ProcessCapabilities.Capability, _ body: () throws(E) -> T) throws(E) -> T
  {
    let bit = bit(capability)
    let isRaised = change { $0.effective |= $0.permitted & bit }
    defer { if isRaised { change { $0.effective &= ~bit } } }
    return try body()
  }

  /// Clears CAP_NET_ADMIN and CAP_NET_RAW in the effective and inheritable sets, so that child processes do not get them.
  static func lower() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
    }
  }

  /// Drops CAP_NET_ADMIN and CAP_NET_RAW permanently for the calling thread. Call this function before there is a second thread.
  package static func drop() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
      $0.permitted &= ~ours
    }
  }

  /// Whether this thread has a capability from the program's file, which the user who started the program may lack.
  static var areHeld: Bool {
    var sets = shim_capabilities()
    return unsafe shim_is_secure() != 0 && shim_get_capabilities(&sets) == 0 && sets.first.permitted & ours != 0
  }

  private static func bit(_ capability: ProcessCapabilities.Capability) -> UInt32 { 1 << UInt32(capability.rawValue) }

  /// Changes this thread's capability sets. Returns whether they changed.
  @discardableResult
  private static func change(_ change: (inout __user_cap_data_struct) -> Void) -> Bool {
    var sets = shim_capabilities()
    guard unsafe shim_get_capabilities(&sets) == 0 else { return false }
    let before = sets.first
    change(&sets.first)
    let now = sets.first
    if now.effective == before.effective, now.permitted == before.permitted, now.inheritable == before.inheritable { return false }
    return unsafe shim_set_capabilities(&sets) == 0
  }
}

/// The capabilities of this process, and the conditions that keep the program's file from giving more (capabilities(7), execve(2)).
package struct ProcessCapabilities: Sendable, Equatable {
  /// A Linux capability. The raw value is its bit number in the masks.
  package enum Capability: Int, Sendable {
    case netAdmin = 12
    case netRaw = 13
  }

  /// The permitted capabilities (CapPrm), a bit mask. A capability is effective only during `Capabilities.raised`.
  package var permitted: UInt64
  /// The bounding set (CapBnd), a bit mask of all capabilities that the process could get.
  package var bounding: UInt64
  /// Whether the kernel ignores the file's capabilities because a container or service manager set PR_SET_NO_NEW_PRIVS (prctl(2)).
  package var hasNoNewPrivileges = false
  /// Whether the kernel ignores the file's capabilities because of the mount option nosuid (statvfs(3), ST_NOSUID).
  package var isNosuid = false
  /// Whether the program's file system can store capabilities. False for NFS, vfat and ramfs, where setcap(8) fails.
  package var keepsCapabilities = true
}

extension ProcessCapabilities {
  /// Reads the capability sets from /proc. Nil if /proc does not list them.
  /// - Parameters:
  ///   - status: The contents of /proc/self/status (proc_pid_status(5)).
  ///   - executable: The path of the program.
  package init?(status: String? = SmallFile.text(of: "/proc/self/status"), executable: String? = ThisProcess.executable()) {
    var fields: [Substring: Substring] = [:]
    for line in (status ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { fields[parts[0]] = parts[1].drop { $0 == "\t" || $0 == " " } }
    }
    guard let permitted = fields["CapPrm"].flatMap({ UInt64($0, radix: 16) }),
      let bounding = fields["CapBnd"].flatMap({ UInt64($0, radix: 16) })
    else { return nil }
    self.init(
      permitted: permitted, bounding: bounding, hasNoNewPrivileges: fields["NoNewPrivs"] == "1",
      isNosuid: executable.map(Self.isNosuid) ?? false, keepsCapabilities: executable.map(Self.keepsCapabilities) ?? true)
  }

  package func has(_ capability: Capability) -> Bool { permitted & 1 << UInt64(capability.rawValue) != 0 }
  package func mayGet(_ capability: Capability) -> Bool { bounding & 1 << UInt64(capability.rawValue) != 0 }

  private static func keepsCapabilities(_ path: String) -> Bool {
    unsafe getxattr(path, "security.capability", nil, 0) >= 0 || errno != EOPNOTSUPP
  }

  private static func isNosuid(_ path: String) -> Bool {
    var file = statvfs()
    return unsafe statvfs(path, &file) == 0 && file.f_flag & UInt(ST_NOSUID) != 0
  }
}
