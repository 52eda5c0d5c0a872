import BluetoothLESimulator
import Glibc
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux
@testable import CommandLine
@testable import Terminal
@testable import blectl

/// A controller behind a UNIX socket, whose owner is made up: another user needs root to be one.
@Suite(.timeLimit(.minutes(15))) struct ForeignSocketTests {
  /// A shared air on a socket, and the state of one user.
  @LoopActor private final class Rig {
    private let path = TemporaryPath()
    private let state = TemporaryFolder.path()
    private let listener: Listener
    private let pool: ControllerPool

    init() async throws {
      pool = ControllerPool(air: try await AdapterSpec.air(nil))
      listener = try await Listener.open(try TransportAddress(listening: "unix:\(path.path)"))
      listener.handler = { [pool] in if case .connected(let stream) = $0 { pool.attach(stream) } }
    }

    var adapter: String { "unix:\(path.path)" }

    func close() {
      listener.close()
      pool.close()
    }

    /// Runs a command line. - Returns: Its exit code and all its output.
    func run(_ words: String..., owner: UserNumber, variables: [String: String] = [:]) async throws -> (status: Int32, text: String) {
      let command = try Blectl.commands.command(from: words)
      var ends: [Int32] = [-1, -1]
      _ = unsafe pipe(&ends)
      for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      defer { for end in ends { Glibc.close(end) } }
      let environment = ["BLECTL_ADAPTER": adapter, "XDG_STATE_HOME": state].merging(variables) { $1 }
      let output = Output(command.outputStyle, out: ends[1], err: ends[1], environment: { environment[$0] })
      let process = ProcessContext(command.process, output, Configuration(environment: environment), Blectl.commands)
      process.owner = { $0.owner == nil ? nil : owner }
      let status = await Program.run(command, process) { _ in SignalWatch([]) { _ in } }
      // The next command gets the same controller.
      while !pool.hosts.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe read(ends[0], &buffer, buffer.count)
      return (status, String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
    }
  }

  private static let own = UserNumber(geteuid())
  private static let other = UserNumber(geteuid() + 1, isNamespaceInitial: true)
  private static let unknown = UserNumber(65_534, isNamespaceInitial: false)

  private func with(_ body: @escaping @LoopActor (Rig) async throws -> Void) async throws {
    try await onLoop {
      let rig = try await Rig()
      try await body(rig)
      rig.close()
    }
  }

  /// No key reaches the controller: neither by pairing nor by a bond. All else works, after a note.
  @Test(arguments: [other, unknown]) func noKeys(_ owner: UserNumber) async throws {
    try await with { rig in
      let name = owner == Self.unknown ? "a user outside this user namespace (65534)" : "user \(geteuid() + 1)"
      let note = "note: \(rig.adapter) belongs to \(name), who can read and change all data."
      let refusal = "Cannot pair or use a bond on \(rig.adapter): it belongs to \(name), who would get the keys."
      func check(_ result: (status: Int32, text: String), _ status: Int32, _ text: String, _ place: Comment) {
        let said = result.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(result.status == status && said.contains(text), "\(place): \(result.status) \(said)")
        #expect(said.contains(note) && said.contains("If you trust the owner: BLECTL_FOREIGN_SOCKETS=1"), "\(place): \(said)")
      }
      check(try await rig.run("read", "Band-7", "2a00", owner: owner), 0, "Band-7", "without a bond")
      check(try await rig.run("pair", "SafeLock", "--passkey", "246810", owner: owner), 3, refusal, "pair")
      check(try await rig.run("read", "SafeLock", "ff51", "--pair", owner: owner), 3, refusal, "--pair")
      let refused = try await rig.run("read", "SafeLock", "ff51", owner: owner)
      check(refused, 5, "it needs pairing", "no wish to pair")
      #expect(try await rig.run("pair", "SafeLock", "--passkey", "246810", owner: Self.own).status == 0)
      check(try await rig.run("read", "SafeLock", "ff51", owner: owner), 3, refusal, "a bond")
      check(try await rig.run("doctor", owner: owner), 0, "! \(rig.adapter) \(refusal)", "doctor")

      let allowed = try await rig.run("read", "SafeLock", "ff51", owner: owner, variables: ["BLECTL_FOREIGN_SOCKETS": "1"])
      #expect(allowed.status == 0 && allowed.text == "locked\n", "\(allowed.text)")
    }
  }

  /// A served device does not pair there either, because its controller would get the keys.
  @Test(arguments: [(own, 0), (other, 5)] as [(UserNumber, Int32)]) func aServedDevice(_ owner: UserNumber, _ status: Int32) async throws {
    let file = try TemporaryFolder.file(
      PeripheralTests.lock.replacing(#""services": [{"#, with: #""security": {"io": "none"}, "services": [{"#))
    try await with { rig in
      let served = EventLoop.shared.spawn { try? await rig.run("peripheral", file, "--once", owner: owner) }
      let paired = try await rig.run("pair", "MyLock", owner: Self.own)
      #expect(paired.status == status, "\(paired.text)")
      #expect(await served.value?.text.contains("neither pairs nor uses bonds") == (status != 0))
    }
  }

  /// The same user and root are not strangers, nor is the user who called sudo.
  @Test func ownSockets() async throws {
    try await with { rig in
      for (owner, sudo) in [(Self.own, nil), (UserNumber(0), nil)] + (geteuid() == 0 ? [(Self.other, "1")] : []) {
        let result = try await rig.run("read", "Band-7", "2a00", owner: owner, variables: sudo.map { ["SUDO_UID": $0] } ?? [:])
        #expect(result.status == 0 && !result.text.contains("belongs"), "\(owner): \(result.text)")
      }
    }
    let air = try ListeningAir()
    let result = try air.blectl("read", "Band-7", "2a00")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    _ = air.end()
  }

  @Test func invalidValues() throws {
    for value in ["0", "yes", "1 "] {
      let result = try Blectl.run(["read", "Band-7", "2a00"], environment: ["BLECTL_FOREIGN_SOCKETS": value])
      #expect(result.status == 64 && result.errors.contains("Invalid BLECTL_FOREIGN_SOCKETS \"\(value)\". Use 1."), "\(result.errors)")
    }
    #expect(try Blectl.run(["read", "Band-7", "2a00"], environment: ["BLECTL_FOREIGN_SOCKETS": ""]).status == 0)
  }
}
