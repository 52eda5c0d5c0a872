import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct RunningProgramTests {
  @Test func findsWhoHasASocket() throws {
    var ends: [Int32] = [-1, -1]
    try SystemCall.call { unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) }
    let one = OwnedDescriptor(ends[0])
    let other = OwnedDescriptor(ends[1])
    let inode = UInt64(try SystemCall.status(one.rawValue).st_ino)
    let own = try #require(RunningProgram.all().first { $0.isThisProcess })
    #expect(own.process == Int(getpid()) && !own.name.isEmpty)
    #expect(own.sockets(among: [inode, 1]) == [inode] && own.sockets(among: [1]).isEmpty)
    #expect(RunningProgram(process: 0, name: "nobody").sockets(among: [inode]).isEmpty)
    _ = other.rawValue
  }

  @Test(
    arguments: [
      ("echo b true; echo wrong >&2", "b true\n"), ("true", ""), ("echo b true; exit 3", nil), ("cat", ""), ("exec sleep 60", nil),
    ] as [(String, String?)])
  func whatACommandWrites(_ command: String, _ output: String?) async throws {
    let limit = command.hasPrefix("exec") ? 10 : 60_000
    let octets = try await onLoop { try await ChildProcess.output(of: command, within: limit) }
    #expect(octets.map { String(decoding: $0, as: UTF8.self) } == output)
  }
}
