import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

@Suite(.timeLimit(.minutes(15))) struct RunningProgramTests {
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
    let bytes = try await onLoop { try await ChildProcess.output(of: command, within: limit) }
    #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == output)
  }
}

@Suite(.timeLimit(.minutes(15))) struct ProcessCapabilitiesTests {
  /// Capabilities are read from the format of /proc/self/status.
  @Test(
    arguments: [
      ("CapPrm:\t0000000000002000\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\n", true, false, true, false),
      ("CapPrm:\t0000000000001000\nCapBnd:\t0000000000001000\nNoNewPrivs:\t1\n", false, true, false, true),
      // Kernels before 4.10 do not report the last one.
      ("CapPrm:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n", true, true, true, false),
    ])
  func readsWhatTheKernelTells(_ status: String, _ hasRaw: Bool, _ hasAdmin: Bool, _ mayGetRaw: Bool, _ isHeldBack: Bool) throws {
    let rights = try #require(ProcessCapabilities(status: status, executable: nil))
    #expect(rights.has(.netRaw) == hasRaw && rights.has(.netAdmin) == hasAdmin && rights.mayGet(.netRaw) == mayGetRaw)
    #expect(rights.hasNoNewPrivileges == isHeldBack && !rights.isNosuid)
  }

  /// The file system shows whether a file can have capabilities. /proc cannot.
  @Test func asksTheFileSystem() throws {
    let status = "CapPrm:\t0\nCapBnd:\t0\n"
    let (proc, own) = (
      ProcessCapabilities(status: status, executable: "/proc/self/status"), ProcessCapabilities(status: status, executable: "/usr/bin/env")
    )
    #expect(proc?.keepsCapabilities == false && own?.keepsCapabilities == true)
  }

  @Test(arguments: [nil, "", "CapPrm:\t0\n", "CapPrm:\tzz\nCapBnd:\t0\n", "CapBnd\n:::\n"]) func whatTellsNothing(_ status: String?) {
    #expect(ProcessCapabilities(status: status, executable: nil) == nil)
  }
}

/// In a process with capabilities, terminal libraries see only variables that cannot name a file.
@Suite(.timeLimit(.minutes(15))) struct LibraryEnvironmentTests {
  @Test(arguments: ["TERM=xterm", "TERM=", "LINES=24", "COLUMNS=80", "LANG=de_DE.UTF-8", "LC_ALL=C", "LC_CTYPE=C.UTF-8", "TZ=UTC"])
  func namesNoFile(_ variable: String) { #expect(LibraryEnvironment.isShown(variable)) }

  @Test(arguments: [
    "TERMINFO=/tmp", "TERMINFO_DIRS=/tmp", "TERMCAP=/tmp/termcap", "TERMPATH=/tmp", "INPUTRC=/tmp/inputrc", "HOME=/tmp",
    "NCURSES_NO_SETBUF=1", "NCURSES_TRACE=1", "DBUS_SYSTEM_BUS_ADDRESS=unixexec:path=/tmp/x", "DBUS_VERBOSE=1", "PATH=/bin",
    "LD_PRELOAD=x.so", "=", "", "term=xterm",
  ])
  func mayNameOne(_ variable: String) { #expect(!LibraryEnvironment.isShown(variable)) }
}

@Suite(.timeLimit(.minutes(15))) struct MountTests {
  private static let table = """
    22 1 0:20 / / rw,relatime shared:1 - overlay overlay rw,lowerdir=/l
    23 22 0:21 / /home rw - nfs4 server:/home rw
    24 22 0:22 / /home/my\\040disk rw,nosuid master:1 propagate_from:2 - ext4 /dev/sda1 rw
    25 22 0:23 / /usr rw - ext4 /dev/sdb rw
    26 25 0:24 / /usr rw - ramfs none rw
    short - x
    99 - - - -
    """

  @Test(
    arguments: [
      ("/bin/blectl", "/", "overlay"), ("/home/blectl", "/home", "nfs4"), ("/home/my disk/a", "/home/my disk", "ext4"),
      ("/homes/blectl", "/", "overlay"), ("/home", "/home", "nfs4"), ("/usr/bin/blectl", "/usr", "ramfs"),
    ]) func whatAFileIsOn(_ path: String, _ point: String, _ type: String)
  {
    #expect(Mount(of: path, table: Self.table) == Mount(point: point, type: type))
  }

  @Test(arguments: [nil, "", "nonsense\n"]) func whatTellsNothing(_ table: String?) {
    #expect(Mount(of: "/bin/blectl", table: table) == nil)
  }

  /// The real mount table of this machine parses, whatever its length.
  @Test func ofThisMachine() { #expect(Mount(of: "/proc/self/status") == Mount(point: "/proc", type: "proc")) }
}
