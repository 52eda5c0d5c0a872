import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

/// The other end of a stream, which the test controls, and the transport's events.
@LoopActor
private final class Rig {
  var other: OwnedDescriptor
  let transport: StreamTransport
  private(set) var packets: [[UInt8]] = []
  private(set) var ending: [TransportError] = []

  init(backlogLimit: Int = .max) {
    var ends: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    other = OwnedDescriptor(ends[1])
    transport = StreamTransport(OwnedDescriptor(ends[0]), name: "test", backlogLimit: backlogLimit)
  }

  func listen() {
    transport.handler = { [unowned self] event in
      switch event {
      case .received(let packet): packets.append(packet)
      case .closed(let error), .refused(_, let error), .linkEnded(_, let error), .linkExhausted(_, let error):
        if let error = error as? TransportError { ending.append(error) } else { Issue.record(error) }
      }
    }
  }

  /// Lets the loop poll its descriptors. In virtual time, a timer fires only if none is ready.
  func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
}

private let event: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]
private let data: [UInt8] = [2, 0x40, 0x20, 3, 0, 9, 8, 7]

@Suite(.timeLimit(.minutes(15))) struct StreamTransportTests {
  @Test(.onLoop, arguments: [1, 2, 3, 7, 100]) @LoopActor func packetsComeWholeHoweverTheyAreCut(part: Int) async throws {
    let rig = Rig()
    rig.listen()
    var rest = (event + data + event)[...]
    while !rest.isEmpty {
      _ = try SystemCall.write(rig.other.rawValue, rest.prefix(part))
      rest = rest.dropFirst(part)
      try await rig.settle()
    }
    #expect(rig.packets == [event, data, event])
    #expect(rig.ending.isEmpty)
  }

  @Test(.onLoop) @LoopActor func keepsWhatCameBeforeTheHandler() async throws {
    let rig = Rig()
    _ = try SystemCall.write(rig.other.rawValue, (event + data)[...])
    rig.other.close()
    try await rig.settle()
    rig.listen()
    try await rig.settle()
    #expect(rig.packets == [event, data])
    #expect(rig.ending == [.closedByOtherSide(transport: "test")])
  }

  @Test(.onLoop) @LoopActor func saysOnceThatTheOtherSideWent() async throws {
    let rig = Rig()
    rig.listen()
    rig.other.close()
    try await rig.settle()
    rig.transport.send(event)
    try await rig.settle()
    #expect(rig.ending.count == 1)
  }

  @Test(.onLoop) @LoopActor func sendingToAnOtherSideThatWentEndsIt() async throws {
    let rig = Rig()
    rig.listen()
    SignalWatch.ignoreFailedWrites()
    rig.other.close()
    rig.transport.send(event)
    try await rig.settle()
    #expect(rig.ending.count == 1)
  }

  /// The other side may stop reading and still write.
  @Test(.onLoop) @LoopActor func aHalfClosedStreamEndsIt() async throws {
    let rig = Rig()
    rig.listen()
    SignalWatch.ignoreFailedWrites()
    try SystemCall.call { shutdown(rig.other.rawValue, Int32(SHUT_RD)) }
    _ = try SystemCall.write(rig.other.rawValue, event[...])
    rig.transport.send(event)
    #expect(rig.ending.isEmpty)
    try await rig.settle()
    #expect(rig.packets == [event])
    #expect(rig.ending == [.lost(transport: "test", .brokenPipe)])
  }

  @Test(.onLoop) @LoopActor func whatIsNotH4EndsIt() async throws {
    let rig = Rig()
    rig.listen()
    _ = try SystemCall.write(rig.other.rawValue, (event + [0x77])[...])
    try await rig.settle()
    guard rig.ending.count == 1, case .notH4("test", _) = rig.ending[0] else { throw try #require(rig.ending.first) }
  }

  @Test(.onLoop) @LoopActor func closingIsSilentAndFinal() async throws {
    let rig = Rig()
    rig.listen()
    _ = try SystemCall.write(rig.other.rawValue, event[...])
    rig.transport.close()
    rig.transport.close()
    rig.transport.send(event)
    try await rig.settle()
    #expect(rig.packets.isEmpty)
    #expect(rig.ending.isEmpty)
    var buffer = [UInt8](repeating: 0, count: 16)
    // 0, or ECONNRESET for unread data: it is closed in any case.
    let count = (try? SystemCall.read(rig.other.rawValue, into: &buffer)) ?? 0
    #expect(count == 0)
    #expect(throws: Errno.self) { try SystemCall.write(rig.other.rawValue, event[...]) }
  }

  @Test(.onLoop) @LoopActor func aHandlerMayCloseInTheMiddle() async throws {
    let rig = Rig()
    var count = 0
    rig.transport.handler = { _ in
      count += 1
      rig.transport.close()
    }
    _ = try SystemCall.write(rig.other.rawValue, (event + event + event)[...])
    try await rig.settle()
    #expect(count == 1)
  }

  /// A slow reader gets a megabyte in order, and nothing blocks.
  @Test(.onLoop) @LoopActor func aSlowReaderHoldsNothingUp() async throws {
    let rig = Rig()
    rig.listen()
    var sent: [UInt8] = []
    for number in 0..<1000 {
      let packet = [2, 0x40, 0x20, 0xE8, 0x03] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000)
      rig.transport.send(packet)
      sent += packet
    }
    var arrived: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 100_000)
    while arrived.count < sent.count {
      let before = arrived.count
      while let count = try? SystemCall.read(rig.other.rawValue, into: &buffer), count > 0 { arrived += buffer[..<count] }
      try await rig.settle()
      try #require(arrived.count > before)
    }
    #expect(arrived == sent)
  }

  /// A client that does not read is not read either. Its bytes stay in the kernel.
  @Test(.onLoop) @LoopActor func nothingIsReadFromWhoTakesNothing() async throws {
    let rig = Rig(backlogLimit: 1000)
    rig.listen()
    let block = [2, 0x40, 0x20, 0xE8, 0x03] + [UInt8](repeating: 7, count: 1000)
    while rig.transport.backlog <= 1000 { rig.transport.send(block) }
    let backlog = rig.transport.backlog
    _ = try SystemCall.write(rig.other.rawValue, event[...])
    try await rig.settle()
    #expect(rig.packets.isEmpty && rig.transport.backlog == backlog)
    var buffer = [UInt8](repeating: 0, count: 100_000)
    while rig.transport.backlog > 0 {
      let count = try SystemCall.read(rig.other.rawValue, into: &buffer)
      try #require(count > 0)
      try await rig.settle()
    }
    try await rig.settle()
    #expect(rig.packets == [event] && rig.ending.isEmpty)
  }

  @Test(.onLoop) @LoopActor func nobodyThere() async throws {
    let listener = try await Listener.open(.tcp(host: "127.0.0.1", port: 0))
    let address = listener.address
    listener.close()
    await #expect(throws: TransportError.notConnected(address, .connectionRefused)) { try await connectOnLoop(address) }
    let missing = TransportAddress.unix(path: "/nowhere/at/all")
    await #expect(throws: TransportError.notConnected(missing, .noSuchFileOrDirectory)) { try await connectOnLoop(missing) }
    let unknown = await #expect(throws: TransportError.self) { try await connectOnLoop(.tcp(host: "256.1.1.1.invalid", port: 1)) }
    if case .unknownHost("256.1.1.1.invalid", _)? = unknown {} else { Issue.record("\(unknown.map { "\($0)" } ?? "connected")") }
  }
}

@LoopActor private func connectOnLoop(_ address: TransportAddress) async throws {
  _ = try await StreamTransport.connect(to: address, timeout: .seconds(5))
}
