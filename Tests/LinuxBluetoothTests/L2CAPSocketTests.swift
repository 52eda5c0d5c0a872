import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLELinux

@LoopActor
private final class Rig {
  let pair = SocketPair()
  let socket: L2CAPSocket
  private(set) var pdus: [[UInt8]] = []
  private(set) var ending: [SocketEnd] = []
  private(set) var traced: [[UInt8]] = []
  let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

  init() {
    let peer = peer
    socket = L2CAPSocket(pair.takeOther()) { SocketEnd(peer, .errno($0)) }
    socket.tap = { [unowned self] pdu, _ in traced.append(pdu) }
  }

  func listen() {
    socket.handler = { [unowned self] event in
      switch event {
      case .received(let pdu): pdus.append(pdu)
      case .dropped, .exhausted: break
      case .closed(let error): if let error = error as? SocketEnd { ending.append(error) } else { Issue.record(error) }
      }
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct L2CAPSocketTests {
  @Test(.onLoop) @LoopActor func aPDUIsAPacketAndMayBeEmpty() async throws {
    let rig = Rig()
    let long = [UInt8](repeating: 1, count: 672)
    for pdu in [[0x0B, 1], [], long] { try rig.pair.write(pdu) }
    rig.listen()
    try await rig.pair.settle()
    #expect(rig.pdus == [[0x0B, 1], [], long])
    #expect(rig.ending.isEmpty)
    rig.socket.send([0x0A, 3, 0])
    #expect(rig.pair.read() == [0x0A, 3, 0])
    #expect(rig.traced == [[0x0B, 1], [], long, [0x0A, 3, 0]])
  }

  @Test(.onLoop) @LoopActor func whatCameBeforeTheEndIsDelivered() async throws {
    let rig = Rig()
    try rig.pair.write([1])
    try rig.pair.write([2])
    rig.pair.close()
    rig.listen()
    try await rig.pair.settle()
    #expect(rig.pdus == [[1], [2]])
    #expect(rig.ending == [SocketEnd(rig.peer, .errno(nil))])
    rig.socket.send([3])
    try await rig.pair.settle()
    #expect(rig.ending.count == 1)
    await #expect(throws: SocketEnd(rig.peer, .errno(nil))) { try await rig.socket.waitUntilWritable() }
  }

  /// A socket of another kind knows no security, as that of a lost link.
  @Test(.onLoop) @LoopActor func raisingTheSecurityOfALostLinkTellsItsEnd() async throws {
    let rig = Rig()
    let deadline = EventLoop.shared.now.advanced(by: .seconds(1))
    await #expect(throws: SocketEnd(rig.peer, .errno(.notSupported))) {
      _ = try await rig.socket.raiseSecurity(to: .encrypted, until: deadline)
    }
    rig.socket.close()
    await #expect(throws: SocketEnd(rig.peer, .errno(nil))) { _ = try await rig.socket.raiseSecurity(to: .encrypted, until: deadline) }
  }

  @Test(.onLoop) @LoopActor func sendingIntoALostLinkEndsItOnce() async throws {
    let rig = Rig()
    rig.listen()
    rig.pair.close()
    rig.socket.send([1])
    // Not from within `send`, whose caller is still busy.
    #expect(rig.ending.isEmpty)
    try await rig.pair.settle()
    #expect(rig.ending.count == 1)
  }

  @Test(.onLoop) @LoopActor func backPressure() async throws {
    let rig = Rig()
    rig.listen()
    var sent = 0
    // Send until the kernel refuses. The refused PDU waits here.
    while rig.socket.isWritable, sent < 100_000 {
      rig.socket.send([UInt8(truncatingIfNeeded: sent)] + [UInt8](repeating: 0, count: 200))
      sent += 1
    }
    try #require(sent < 100_000)
    rig.socket.send([0xFF])
    sent += 1
    var isWritable = false
    let waiting = EventLoop.shared.spawn {
      try? await rig.socket.waitUntilWritable()
      isWritable = true
    }
    try await rig.pair.settle()
    #expect(!isWritable)
    var arrived: [UInt8] = []
    while arrived.count < sent {
      let before = arrived.count
      while let pdu = rig.pair.read(), let first = pdu.first { arrived.append(first) }
      try await rig.pair.settle()
      try #require(arrived.count > before)
    }
    await waiting.value
    #expect(isWritable)
    #expect(arrived.dropLast() == (0..<sent - 1).map { UInt8(truncatingIfNeeded: $0) }[...])
    #expect(arrived.last == 0xFF)
  }

  /// Bulk transfers are cheap because no task waits while the kernel has room.
  @Test(.onLoop) @LoopActor func commandsThatFitDoNotSuspend() async throws {
    let rig = Rig()
    let client = Client(rig.socket)
    var suspended = false
    let other = EventLoop.shared.spawn { suspended = true }
    for number in UInt8(0)..<50 { try await client.writeCommand([number], to: 0x10) }
    #expect(!suspended)
    await other.value
    #expect((UInt8(0)..<50).map { _ in rig.pair.read() } == (UInt8(0)..<50).map { [0x52, 0x10, 0, $0] })
    client.close()
  }

  @Test(.onLoop) @LoopActor func waitingForRoomEndsWithTheLink() async throws {
    let rig = Rig()
    rig.listen()
    while rig.socket.isWritable { rig.socket.send([UInt8](repeating: 0, count: 500)) }
    let waiting = EventLoop.shared.spawn { () -> SocketEnd? in
      do { try await rig.socket.waitUntilWritable() } catch { return error as? SocketEnd }
      return nil
    }
    try await rig.pair.settle()
    rig.pair.close()
    #expect(await waiting.value?.peer == rig.peer)
  }

  @Test(
    arguments: [
      (UInt32(0x0200), PHY.le1M), (0x0200 | 0x0400, .le1M), (0x0800 | 0x1000, .le2M), (0x2000, .coded), (0x0200 | 0x0800, nil), (0, nil),
      (0x3F, nil),
    ] as [(UInt32, PHY?)]) func phyBits(bits: UInt32, phy: PHY?)
  { #expect(L2CAPSocket.phy(bits) == phy) }
}
