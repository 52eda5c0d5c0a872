import CBluetoothLESystem
import Glibc

/// The capabilities of this process, and the conditions that keep the program's file from giving more (capabilities(7), execve(2)).
package struct ProcessCapabilities: Sendable, Equatable {
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

  package func has(_ capability: Capabilities.Capability) -> Bool { permitted & 1 << UInt64(capability.rawValue) != 0 }
  package func mayGet(_ capability: Capabilities.Capability) -> Bool { bounding & 1 << UInt64(capability.rawValue) != 0 }

  private static func keepsCapabilities(_ path: String) -> Bool {
    unsafe getxattr(path, "security.capability", nil, 0) >= 0 || errno != EOPNOTSUPP
  }

  private static func isNosuid(_ path: String) -> Bool {
    var file = statvfs()
    return unsafe statvfs(path, &file) == 0 && file.f_flag & UInt(ST_NOSUID) != 0
  }
}
