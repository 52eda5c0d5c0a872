import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE

private let reset: [UInt8] = [1, 3, 0x0C, 0]
private let complete: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]

@Suite(.timeLimit(.minutes(15))) struct ListenerTests {
  /// Records clients and the packets on both sides.
  @LoopActor private final class Rig {
    private(set) var hosts: [StreamTransport] = []
    private(set) var received: [[UInt8]] = []
    private(set) var failures: [Errno] = []

    func listen(_ listener: Listener) {
      listener.handler = { [unowned self] event in
        switch event {
        case .connected(let host):
          hosts.append(host)
          host.handler = { [unowned self] event in if case .received(let packet) = event { received.append(packet) } }
        case .exhausted(let errno), .failed(let errno): failures.append(errno)
        }
      }
    }

    func settle() async throws { for _ in 0..<4 { try await EventLoop.shared.sleep(for: .milliseconds(1)) } }
  }

  private static func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
  }

  @Test(.onLoop, arguments: ["unix", "tcp:127.0.0.1:0", "tcp:[::1]:0", "tcp:localhost:0"]) @LoopActor func hostsConnect(_ text: String)
    async throws
  {
    let (file, rig) = (TemporaryPath(), Rig())
    let listener = try await Listener.open(try TransportAddress(listening: text == "unix" ? "unix:\(file.path)" : text))
    if case .tcp(_, let port) = listener.address { #expect(port > 0) }
    rig.listen(listener)
    let clients = [
      try await StreamTransport.connect(to: listener.address, timeout: .seconds(5)),
      try await StreamTransport.connect(to: listener.address, timeout: .seconds(5)),
    ]
    try await rig.settle()
    try #require(rig.hosts.count == 2)
    var answers: [[UInt8]] = []
    for client in clients { client.handler = { event in if case .received(let packet) = event { answers.append(packet) } } }
    clients[1].send(reset)
    rig.hosts[0].send(complete)
    try await rig.settle()
    // Commands go one way and events the other. Neither side confuses them.
    #expect(rig.received == [reset] && answers == [complete])
    listener.close()
    // Connected clients stay connected.
    clients[0].send(reset)
    try await rig.settle()
    #expect(rig.received == [reset, reset])
    await #expect(throws: TransportError.self) { _ = try await StreamTransport.connect(to: listener.address, timeout: .seconds(5)) }
  }

  /// The kernel delays acknowledgments on a connection that answers. rootcanal would then wait in the middle of each packet.
  @Test(.onLoop) @LoopActor func acknowledgmentsAreNotDelayed() async throws {
    let listener = try await Listener.open(.tcp(host: "127.0.0.1", port: 0))
    guard case .tcp(let host, let port) = listener.address else { return }
    let rig = Rig()
    rig.listen(listener)
    let address = try #require(try await HostResolver.addresses(of: host, port: port, until: EventLoop.shared.now).first)
    let descriptor = try SystemCall.socket(address.family, SOCK_STREAM)
    let number = descriptor.rawValue
    do throws(Errno) { try SystemCall.connect(number, address) } catch { #expect(error == .nowInProgress) }
    try await rig.settle()
    let client = StreamTransport(descriptor, name: "tcp:test")
    var answers = 0
    client.handler = { _ in answers += 1 }
    for _ in 0..<8 {
      client.send(reset)
      try await rig.settle()
      rig.hosts.first?.send(complete)
      try await rig.settle()
      #expect(try SystemCall.option(number, Int32(IPPROTO_TCP), TCP_QUICKACK, Int32(0)) == 1)
      #expect(try SystemCall.option(number, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(0)) == 1)
    }
    #expect(answers == 8 && rig.received.count == 8)
    listener.close()
  }

  @Test(.onLoop) @LoopActor func theSocketIsTheUsersAloneAndRemoved() async throws {
    let file = TemporaryPath()
    let listener = try await Listener.open(.unix(path: file.path))
    #expect(Self.mode(file.path) == S_IFSOCK | 0o600)
    listener.close()
    listener.close()
    #expect(Self.mode(file.path) == nil)
    // A released listener closes.
    do { _ = try await Listener.open(.unix(path: file.path)) }
    #expect(Self.mode(file.path) == nil)
  }

  @Test(.onLoop) @LoopActor func aStaleSocketIsReplacedAndALivingOneIsNot() async throws {
    let file = TemporaryPath()
    let address = TransportAddress.unix(path: file.path)
    do {
      // A killed program leaves its socket like this.
      let left = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
      try SystemCall.bind(left.rawValue, try #require(SocketAddress.unix(file.path)))
      _ = left.rawValue
    }
    #expect(Self.mode(file.path) != nil)
    let listener = try await Listener.open(address)
    let rig = Rig()
    await #expect(throws: TransportError.cannotListen(address, .addressInUse)) { _ = try await Listener.open(address) }
    rig.listen(listener)
    _ = try await StreamTransport.connect(to: address, timeout: .seconds(5))
    try await rig.settle()
    // The probe for a listener, and the client.
    #expect(rig.hosts.count == 2 && rig.failures.isEmpty)
    listener.close()
  }

  /// An existing file that is not a socket stays.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func otherFilesStay(isLink: Bool) async throws {
    let (file, link) = (TemporaryPath(), TemporaryPath())
    try file.write([1, 2, 3])
    if isLink { try SystemCall.call { unsafe symlink(file.path, link.path) } }
    let path = isLink ? link.path : file.path
    await #expect(throws: TransportError.cannotListen(.unix(path: path), .fileExists)) { _ = try await Listener.open(.unix(path: path)) }
    #expect(Self.mode(file.path).map { $0 & S_IFMT } == S_IFREG)
  }

  /// A socket that was removed and recreated by another program stays.
  @Test(.onLoop) @LoopActor func anothersSocketStays() async throws {
    let file = TemporaryPath()
    let first = try await Listener.open(.unix(path: file.path))
    unsafe unlink(file.path)
    let second = try await Listener.open(.unix(path: file.path))
    first.close()
    #expect(Self.mode(file.path) != nil)
    second.close()
    #expect(Self.mode(file.path) == nil)
  }

  @Test(.onLoop) @LoopActor func whereItCannotListen() async throws {
    let taken = try await Listener.open(.tcp(host: "127.0.0.1", port: 0))
    for (address, errno) in [
      (taken.address, Errno.addressInUse), (.tcp(host: "192.0.2.1", port: 0), .addressNotAvailable),
      (.unix(path: "/nowhere/at/all"), .noSuchFileOrDirectory), (.serial(path: "/dev/null", baud: 9600), .notSupported),
    ] {
      await #expect(throws: TransportError.cannotListen(address, errno)) { _ = try await Listener.open(address) }
    }
    taken.close()
  }
}
