import SystemPackage
import TestSupport

@testable import BluetoothLELinux

/// Tests which packets of a kernel adapter are recorded.
@Suite(.timeLimit(.minutes(15))) struct KernelTraceTests {
  private struct Seen: Equatable {
    let packet: [UInt8]
    let isOurs: Bool
  }

  @LoopActor
  private final class Log: Tap {
    var seen: [Seen] = []

    func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) {
      #expect((packet.first == 1) == (direction == .hostToController))
      seen.append(Seen(packet: packet, isOurs: isOurs))
    }
  }

  @LoopActor
  private final class Rig {
    let controller = FakeController()
    let log = Log()
    let central: KernelCentral
    private let connected = Wait<Errno?>()

    init(tracesAll: Bool) {
      let adapter = AdapterInfo(index: 0, address: nil, isUp: true, bus: "virtual", le: true)
      let hci = HCISocket(controller.pair.takeOther(), name: "hci0", tap: log, tracesAll: tracesAll)
      central = KernelCentral(adapter, hci, tap: nil)
      central.isUp = { _ in true }
      central.discovery.isActive = { _ in nil }
      central.makeChannel = { [connected] _, _, _ in
        if let errno = try await connected.value() { throw ConnectFailure(errno: errno, stage: .completing) }
        return L2CAPSocket(SocketPair().takeOther()) { SocketEnd(peer, .errno($0)) }
      }
    }

    /// Checks which of the socket's packets are recorded.
    func expect(
      _ packets: [UInt8]..., recorded: [[UInt8]], isOurs: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      log.seen = []
      for packet in packets { try controller.pair.write(packet) }
      try await controller.pair.settle()
      #expect(log.seen == recorded.map { Seen(packet: $0, isOurs: isOurs) }, sourceLocation: sourceLocation)
    }

    func connect() -> Task<Result<any Link, any Error>, Never> {
      EventLoop.shared.spawn { [central] in
        do { return .success(try await central.connect(peer, timeout: .seconds(20), retries: 0)) } catch { return .failure(error) }
      }
    }

    func finish(_ errno: Errno? = nil) { connected.resume(returning: errno) }
  }

  private static func complete(_ handle: ConnectionHandle, _ peer: PeerAddress, _ status: ControllerErrorCode = .success) -> [UInt8] {
    Event.leConnectionComplete(
      Event.ConnectionComplete(status: status, handle: handle, peer: peer, interval: 40, latency: 0, supervisionTimeout: 42)
    ).encoded
  }

  private static let report: [UInt8] = [4, 0x3E, 12, 2, 1, 3, 0, 6, 5, 4, 3, 2, 1, 0, 0xC4]
  private static let disconnected: [UInt8] = [4, 5, 4, 0, 0x40, 0, 0x13]
  private static let others = PeerAddress(Address(rawValue: 0x0A0B_0C0D_0E0F), .public)

  private static func encryption(_ handle: UInt8) -> [UInt8] { [1, 0x19, 0x20, 28, handle, 0] + [UInt8](repeating: 0xEE, count: 26) }
  private static func encrypted(_ handle: UInt8) -> [UInt8] { [4, 8, 4, 0, handle, 0, 1] }
  private static func status(_ opcode: UInt16) -> [UInt8] {
    [4, 0x0F, 4, 0, 1, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)]
  }

  @Test(.onLoop) @LoopActor func othersAreForRootOnly() async throws {
    for isRoot in [false, true] {
      let rig = Rig(tracesAll: isRoot)
      let packets = [
        Self.complete(0x41, Self.others), Self.encryption(0x41), Self.status(0x2019), Self.encrypted(0x41),
        [4, 0x13, 5, 1, 0x41, 0, 1, 0], [1, 3, 0x0C, 0], [4, 0x0E, 4, 1, 3, 0x0C, 0], [4, 0x18, 23] + [UInt8](repeating: 7, count: 23),
        [4, 0xFF, 1, 1], [4, 0x3E, 2, 1], [4, 0x10, 1, 2],
      ]
      for packet in packets { try await rig.expect(packet, recorded: isRoot ? [packet] : [], isOurs: false) }
      try await rig.expect(Self.report, recorded: [Self.report])
      await rig.central.close()
    }
  }

  @Test(.onLoop) @LoopActor func ourCommandsAndTheirAnswers() async throws {
    let rig = Rig(tracesAll: false)
    rig.controller.answers[ReadRSSI.opcode] = [
      .commandComplete(Event.CommandComplete(ReadRSSI.self, ReadRSSI.Return(handle: 0x41, rssi: -61)))
    ]
    rig.controller.start()
    _ = try await rig.central.hci.send(ReadRSSI(handle: 0x41), for: .changingConnection)
    #expect(rig.log.seen.map(\.packet) == [ReadRSSI(handle: 0x41).encoded, [4, 0x0E, 7, 1, 5, 0x14, 0, 0x41, 0, 0xC3]])
    #expect(rig.log.seen.allSatisfy { $0.isOurs })
    rig.controller.stop()
    // The same answer to another program.
    try await rig.expect(ReadRSSI(handle: 0x41).encoded, [4, 0x0E, 7, 1, 5, 0x14, 0, 0x41, 0, 0xC3], recorded: [])
    await rig.central.close()
  }

  /// A link is recorded from the connection to the disconnection, with the kernel's commands.
  @Test(.onLoop) @LoopActor func ourLink() async throws {
    let rig = Rig(tracesAll: false)
    let link = rig.connect()
    try await rig.controller.pair.settle()
    let ours = [
      Self.complete(0x40, peer), Self.encryption(0x40), Self.status(0x2019), Self.encrypted(0x40), [4, 0x13, 5, 1, 0x40, 0, 1, 0],
    ]
    for packet in ours { try await rig.expect(packet, recorded: [packet]) }
    try await rig.expect(
      [4, 0x13, 9, 2, 0x41, 0, 7, 0, 0x40, 0, 2, 0], Self.encrypted(0x41), recorded: [[4, 0x13, 5, 1, 0x40, 0, 2, 0]])
    // After the end of the link, others may use the handle.
    try await rig.expect(Self.disconnected, Self.encryption(0x40), Self.encrypted(0x40), recorded: [Self.disconnected])
    rig.finish()
    _ = await link.value
    await rig.central.close()
  }

  @Test(.onLoop) @LoopActor func anAttemptThatFails() async throws {
    let rig = Rig(tracesAll: false)
    let link = rig.connect()
    try await rig.controller.pair.settle()
    let failed = Self.complete(0, peer, .connectionTimeout)
    let complete = Self.complete(0x40, peer)
    try await rig.expect(failed, Self.complete(0x41, Self.others), complete, recorded: [failed, complete])
    rig.finish(.timedOut)
    _ = await link.value
    // The kernel keeps the link for other programs.
    try await rig.expect(Self.encrypted(0x40), Self.disconnected, Self.complete(0x40, peer), Self.encrypted(0x41), recorded: [])
    await rig.central.close()
  }

  /// The controller may know the peer by a private address. The handle of our socket identifies the link.
  @Test(.onLoop) @LoopActor func aPeerWithAPrivateAddress() async throws {
    let log = Log()
    let trace = KernelTrace(log, recordsAll: false)
    @LoopActor func receive(_ packet: [UInt8]) {
      guard case .event(let event)? = try? Packet(packet) else { return }
      trace.received(packet, event, isAnswer: false)
    }
    trace.attemptStarts(peer)
    let packets = [Self.complete(0x40, Self.others), Self.complete(0x41, Self.others), Self.encrypted(0x41), Self.encrypted(0x40)]
    for packet in packets { receive(packet) }
    for _ in 0..<1000 { receive(Self.encrypted(0x40)) }
    #expect(log.seen.isEmpty)
    trace.attemptEnds(peer, 0x40)
    #expect(log.seen.count == 64 && log.seen.prefix(2).map(\.packet) == [packets[0], packets[3]])
    receive(Self.encrypted(0x41))
    receive(Self.encrypted(0x40))
    #expect(log.seen.count == 65)
    // Recording ends when the link is closed or lost.
    trace.forget(0x40)
    receive(Self.encrypted(0x40))
    #expect(log.seen.count == 65)
  }
}

private let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
