/// The programs with open Bluetooth sockets, from /proc/net/hci or /proc/net/l2cap. The kernel reports there neither the adapters nor
/// the purposes of the sockets.
package struct SocketUsers: Sendable, Equatable {
  package enum Kind: String, Sendable {
    /// HCI sockets, which are raw sockets, monitors, the management channel and user channels.
    case hci
    case l2cap
  }

  /// The programs with open sockets, sorted by process number, without this process.
  package var programs: [RunningProgram] = []
  /// The number of sockets whose programs this process may not inspect.
  package var unknown = 0

  package init(programs: [RunningProgram] = [], unknown: Int = 0) { (self.programs, self.unknown) = (programs, unknown) }

  /// Finds the programs with open sockets.
  /// - Parameter all: The programs to search, sorted by process number.
  /// - Parameter sockets: A function that returns which inodes of a set are sockets of a program.
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

  /// Parses the socket inodes in the lines after the header: `sk RefCnt Rmem Wmem User Inode Parent`.
  static func inodes(_ table: String) -> Set<UInt64> {
    Set(
      table.split(separator: "\n").dropFirst().compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 5 ? UInt64(words[5]) : nil
      })
  }
}
