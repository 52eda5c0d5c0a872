import CLinux
import Glibc

/// What the kernel lets this process do, and why its file may not have given it more (capabilities(7), execve(2)).
package struct ProcessRights: Sendable, Equatable {
  /// By its number, the place of its bit in the masks.
  package enum Capability: Int, Sendable {
    case netAdmin = 12
    case netRaw = 13
  }

  /// What it may use (CapPrm). Effective it is only where it is used, see `Capabilities`.
  package var permitted: UInt64
  /// CapBnd: what it could get at most.
  package var bounding: UInt64
  /// Set by containers and services (prctl(2), PR_SET_NO_NEW_PRIVS): what the program's file has been given counts nothing.
  package var hasNoNewPrivileges: Bool
  /// The program's file system is mounted so (statvfs(3), ST_NOSUID): what the file has been given counts nothing.
  package var isNosuid: Bool
  /// The program's file system has somewhere to write what a file is given (NFS, vfat and ramfs do not): without, setcap(8) fails.
  package var keepsCapabilities: Bool

  package init(
    permitted: UInt64, bounding: UInt64, hasNoNewPrivileges: Bool = false, isNosuid: Bool = false, keepsCapabilities: Bool = true
  ) {
    self.permitted = permitted
    self.bounding = bounding
    self.hasNoNewPrivileges = hasNoNewPrivileges
    self.isNosuid = isNosuid
    self.keepsCapabilities = keepsCapabilities
  }

  /// - Parameters:
  ///   - status: of /proc/self/status (proc_pid_status(5)).
  ///   - executable: the program's path.
  /// - Returns: nil where /proc does not tell.
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
