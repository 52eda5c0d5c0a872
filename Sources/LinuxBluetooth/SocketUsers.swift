package import LinuxIO

/// Who has Bluetooth sockets of a kind open, from /proc/net/hci or /proc/net/l2cap. The kernel does not tell there what they are used for, nor with
/// which adapter.
package struct SocketUsers: Sendable, Equatable {
  package enum Kind: String, Sendable {
    /// Raw ones, monitors, the management channel, user channels.
    case hci
    case l2cap
  }

  /// By their numbers, without this process.
  package var programs: [RunningProgram] = []
  /// Sockets of programs that this process may not look into.
  package var unknown = 0

  package init(programs: [RunningProgram] = [], unknown: Int = 0) {
    self.programs = programs
    self.unknown = unknown
  }

  /// - Parameters:
  ///   - all: programs that may have them.
  ///   - sockets: which of these a program has.
  package init(
    _ kind: Kind, among all: [RunningProgram],
    table: (Kind) -> String? = { SmallFile.text(of: "/proc/net/\($0.rawValue)", limit: 1 << 18) },
    sockets: (RunningProgram, Set<UInt64>) -> Set<UInt64> = { $0.sockets(among: $1) }
  ) {
    var rest = Self.inodes(table(kind) ?? "")
    for program in all where !rest.isEmpty {
      let found = sockets(program, rest)
      if found.isEmpty { continue }
      rest.subtract(found)
      if !program.isThisProcess { programs.append(program) }
    }
    unknown = rest.count
  }

  /// Behind the header: `sk RefCnt Rmem Wmem User Inode Parent`.
  static func inodes(_ table: String) -> Set<UInt64> {
    Set(
      table.split(separator: "\n").dropFirst().compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 5 ? UInt64(words[5]) : nil
      })
  }
}
