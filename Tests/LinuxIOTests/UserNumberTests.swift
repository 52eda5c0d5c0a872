import Glibc
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

/// The users of processes and sockets, without other users: the numbers are made up.
@Suite(.timeLimit(.minutes(15))) struct UserNumberTests {
  /// A process counts as a service only if root runs it. 65534 may be root if it is outside our user namespace.
  @Test(
    arguments: [
      ("bluetoothd", 0, true, true), ("bluetoothd", 1000, true, false), ("bluetoothd", 65_534, true, false),
      ("bluetoothd", 65_534, false, true), ("bluetoothd", 1000, false, false), ("bluetoothd2", 0, true, false),
    ] as [(String, UInt32, Bool, Bool)])
  func services(_ name: String, _ user: UInt32, _ isInitial: Bool, _ isService: Bool) {
    let program = RunningProgram(process: 1, name: name)
    #expect(program.isService("bluetoothd", user: UserNumber(user, isNamespaceInitial: isInitial)) == isService)
    #expect(!program.isService("bluetoothd", user: nil))
  }

  /// Everybody can start a set-user-ID program of root under any name.
  @Test(arguments: [("65534\t0\t0\t0", 65_534), ("0\t65534\t65534\t65534", 0), ("", nil), ("x", nil)] as [(String, UInt32?)])
  func realUser(_ numbers: String, _ user: UInt32?) {
    #expect(RunningProgram.realUser("Name:\tbluetoothd\nUmask:\t0022\nUid:\t\(numbers)\nGid:\t0\t0\t0\t0\n") == user)
  }

  /// The file system of /proc has the user of this process, and none of a process that does not exist.
  @Test func userOfAProcess() throws {
    let own = try #require(RunningProgram.all().first { $0.isThisProcess })
    #expect(own.user?.rawValue == geteuid() && RunningProgram(process: 0, name: "x").user == nil)
  }

  /// SUDO_UID counts for root only, because any user can set it.
  @Test(
    arguments: [
      (1000, 1000, nil, true, true), (0, 1000, nil, true, true), (1001, 1000, nil, true, false), (1001, 1000, "1001", true, false),
      (1001, 0, "1001", true, true), (1001, 0, "1000", true, false), (1001, 0, nil, true, false), (1001, 0, " 1001", true, false),
      (65_534, 1000, nil, true, false), (65_534, 65_534, nil, true, true), (65_534, 65_534, nil, false, false),
      (65_534, 0, "65534", false, false), (0, 1000, nil, false, true),
    ] as [(UInt32, UInt32, String?, Bool, Bool)])
  func trust(_ owner: UInt32, _ user: UInt32, _ sudo: String?, _ isInitial: Bool, _ isTrusted: Bool) {
    #expect(UserNumber(owner, isNamespaceInitial: isInitial).isTrusted(by: user, sudo: sudo) == isTrusted)
  }

  @Test(.onLoop, arguments: ["unix", "tcp:127.0.0.1:0"]) @LoopActor func ownerOfAStream(_ text: String) async throws {
    let file = TemporaryPath()
    let listener = try await Listener.open(try TransportAddress(listening: text == "unix" ? "unix:\(file.path)" : text))
    listener.handler = { _ in }
    let stream = try await StreamTransport.connect(to: listener.address, timeout: .seconds(5))
    #expect(stream.owner?.rawValue == (text == "unix" ? geteuid() : nil))
    stream.close()
    listener.close()
  }
}
