import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLELinux

private let lock = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
private let lamp = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_04), .random)

/// The kernel makes several connections at once. Each attempt has its own socket and outcome.
@Suite(.timeLimit(.minutes(15))) struct KernelConnectTests {
  @LoopActor
  private final class Rig {
    let controller = FakeController()
    let central: KernelCentral
    private(set) var notes: [GAPNote] = []
    /// The attempts in the order of the requests, with the kernel's outcome.
    private(set) var attempts: [(peer: PeerAddress, outcome: Wait<Errno?>)] = []
    private(set) var pairs: [PeerAddress: SocketPair] = [:]
    var isDiscovering: Bool?
    private(set) var endedDiscoveries = 0

    init() {
      let adapter = AdapterInfo(index: 0, address: nil, isUp: true, bus: "virtual", le: true)
      central = KernelCentral(adapter, HCISocket(controller.pair.takeOther(), name: "hci0", tap: nil), tap: nil)
      central.isUp = { _ in true }
      central.discovery.isActive = { [unowned self] _ in isDiscovering }
      central.discovery.end = { [unowned self] _ in
        endedDiscoveries += 1
        return true
      }
      central.onNote = { [unowned self] in notes.append($0) }
      central.makeChannel = { [unowned self] _, peer, deadline in
        let outcome = Wait<Errno?>()
        attempts.append((peer, outcome))
        guard let end = try await outcome.value(until: deadline) else { throw ConnectFailure(errno: .timedOut, stage: .completing) }
        if let end { throw ConnectFailure(errno: end, stage: .completing) }
        let pair = SocketPair()
        pairs[peer] = pair
        return L2CAPSocket(pair.takeOther()) { SocketEnd(peer, .errno($0)) }
      }
    }

    func connect(_ peer: PeerAddress, seconds: Int = 20) -> Task<Result<any Link, any Error>, Never> {
      EventLoop.shared.spawn { [central] in
        do { return .success(try await central.connect(peer, timeout: .seconds(seconds))) } catch { return .failure(error) }
      }
    }

    /// Ends the latest attempt to `peer`: with a link, or with the kernel's error after the controller's status.
    func end(_ peer: PeerAddress, _ errno: Errno? = nil, _ status: ControllerErrorCode? = nil) throws {
      if let status {
        let failed = Event.ConnectionComplete(status: status, handle: 0, peer: peer, interval: 0, latency: 0, supervisionTimeout: 0)
        try controller.pair.write(Event.leConnectionComplete(failed).encoded)
      }
      try #require(attempts.last { $0.peer == peer }).outcome.resume(returning: errno)
    }

    func settle() async throws { try await controller.pair.settle() }
  }

  /// The end of the adapter reaches a served device without a central.
  @Test(.onLoop) @LoopActor func thePeripheralRoleFails() async throws {
    let rig = Rig()
    var failure: (any Error)?
    rig.central.peripheral?.onFailure = { failure = $0 }
    await rig.central.close()
    #expect(failure is ControllerError)
  }

  @Test(.onLoop) @LoopActor func bothAreMadeAtOnceAndTheSecondMayBeFirst() async throws {
    let rig = Rig()
    let (first, second) = (rig.connect(lock), rig.connect(lamp))
    try await rig.settle()
    #expect(rig.attempts.map(\.peer) == [lock, lamp])
    try rig.end(lamp)
    let other = try await second.value.get()
    #expect(other.peer == lamp && rig.attempts.count == 2)
    try rig.end(lock)
    let one = try await first.value.get()
    #expect(one.peer == lock)
    for link in [one, other] { link.channel.send([UInt8(truncatingIfNeeded: link.peer.address.rawValue)]) }
    #expect(rig.pairs[lock]?.read() == [2] && rig.pairs[lamp]?.read() == [4])
    // One link is closed, the other continues.
    await one.disconnect()
    other.channel.send([5])
    #expect(rig.pairs[lock]?.hasEnded() == true && rig.pairs[lamp]?.read() == [5])
    await rig.central.close()
  }

  /// A killed program may leave a discovery, without which the kernel scans for the peer. A discovery of bluetoothd goes on.
  @Test(.onLoop, arguments: [(true, false, 1), (true, true, 0), (false, false, 0)])
  @LoopActor func aDiscoveryThatAKilledProgramLeft(isActive: Bool, hasDaemon: Bool, ended: Int) async throws {
    let rig = Rig()
    rig.isDiscovering = isActive
    rig.central.keyring.hasDaemon = { hasDaemon }
    let link = rig.connect(lock)
    try await rig.settle()
    #expect(rig.endedDiscoveries == ended)
    try rig.end(lock)
    _ = try await link.value.get()
    await rig.central.close()
  }

  @Test(.onLoop) @LoopActor func theStatusOfOneIsNotTheOthers() async throws {
    let rig = Rig()
    let (first, second) = (rig.connect(lock), rig.connect(lamp))
    try await rig.settle()
    // The kernel has one errno for both errors.
    try rig.end(lamp, .noFunction, .connectionFailedToBeEstablished)
    try rig.end(lock, .noFunction, .micFailure)
    await #expect(throws: NoConnection(peer: lock, adapter: "hci0", cause: .notEstablished, errno: .noFunction, status: .micFailure)) {
      _ = try await first.value.get()
    }
    try await rig.settle()
    #expect(rig.attempts.map(\.peer) == [lock, lamp, lamp] && rig.notes == [.tryingAgain(lamp, .notEstablished)])
    try rig.end(lamp)
    #expect(try await second.value.get().peer == lamp)
    await rig.central.close()
  }

  @Test(.onLoop) @LoopActor func eachHasItsOwnLimitAndIsCancelledAlone() async throws {
    let rig = Rig()
    let third = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_06), .random)
    let (short, long, cancelled) = (rig.connect(lock, seconds: 1), rig.connect(lamp), rig.connect(third))
    try await rig.settle()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { _ = try await cancelled.value.get() }
    await #expect(throws: GAPError.noConnection(lock, within: .seconds(1))) { _ = try await short.value.get() }
    try rig.end(lamp)
    #expect(try await long.value.get().peer == lamp)
    #expect(rig.attempts.count == 3 && rig.notes.isEmpty)
    await rig.central.close()
  }
}

@Suite(.timeLimit(.minutes(15))) struct ConnectFailureTests {
  private static let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

  enum Outcome: Sendable {
    /// The limit passed without a link.
    case late
    case none(NoConnection.Cause)
    case adapter(AdapterProblem)
  }

  struct Case: Sendable {
    var errno: Int32
    var stage = ConnectFailure.Stage.completing
    var status: UInt8?
    var isAdapterDown = false
    var outcome: Outcome
    var retry = false
  }

  @Test(arguments: [
    // The kernel reports its own timeout as "connection refused".
    Case(errno: ECONNREFUSED, outcome: .late),
    Case(errno: ETIMEDOUT, outcome: .late),
    Case(errno: ECONNREFUSED, stage: .starting, outcome: .adapter(.leDisabled("hci0"))),
    Case(errno: EHOSTUNREACH, stage: .starting, outcome: .adapter(.down("hci0"))),
    Case(errno: EBUSY, outcome: .none(.takenByAnother)),
    Case(errno: EBUSY, stage: .starting, outcome: .none(.takenByAnother)),
    Case(errno: ENOSYS, outcome: .none(.notEstablished), retry: true),
    Case(errno: ENOSYS, status: 0x3E, outcome: .none(.notEstablished), retry: true),
    Case(errno: ENOSYS, status: 0x3D, outcome: .none(.notEstablished)),
    Case(errno: ENOSYS, stage: .starting, outcome: .adapter(.other("hci0", .connecting(peer), .noFunction))),
    Case(errno: ECONNRESET, outcome: .none(.endedByPeer), retry: true),
    Case(errno: ECONNABORTED, outcome: .none(.givenUpHere)),
    Case(errno: ECONNABORTED, isAdapterDown: true, outcome: .adapter(.down("hci0"))),
    Case(errno: EACCES, outcome: .none(.security)),
    Case(errno: EMLINK, outcome: .none(.tooManyLinks)),
    Case(errno: ENODEV, outcome: .adapter(.unplugged("hci0"))),
    Case(errno: EAFNOSUPPORT, stage: .starting, outcome: .adapter(.kernelWithoutBluetooth)),
    Case(errno: EINVAL, stage: .starting, outcome: .adapter(.other("hci0", .connecting(peer), .invalidArgument))),
  ]) func whatErrnoMeans(one: Case) {
    let errno = Errno(rawValue: one.errno)
    let status = one.status.map { ControllerErrorCode(rawValue: $0) }
    let failure = ConnectFailure(errno: errno, stage: one.stage, status: status, isAdapterDown: one.isAdapterDown)
    let error = failure.error(Self.peer, adapter: "hci0", limit: .seconds(20))
    switch one.outcome {
    case .late: #expect(error as? GAPError == .noConnection(Self.peer, within: .seconds(20)))
    case .none(let cause):
      #expect(error as? NoConnection == NoConnection(peer: Self.peer, adapter: "hci0", cause: cause, errno: errno, status: status))
    case .adapter(let problem): #expect(error as? AdapterProblem == problem)
    }
    #expect(failure.mayPass == one.retry)
  }
}
