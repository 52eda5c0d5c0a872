import LinuxIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct MountTests {
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
