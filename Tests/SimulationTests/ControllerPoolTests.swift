import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ControllerPoolTests {
  struct Ended: Error {}

  /// A host as the pool sees it. Packets queue up while it does not read.
  @LoopActor private final class Stream: HostTransport {
    var handler: (@LoopActor (TransportEvent) -> Void)?
    private(set) var isClosed = false
    private(set) var events: [Event] = []
    private(set) var acl: [ACLData] = []
    var reads = true
    private(set) var backlog = 0
    private var arrival = Wait<Void>()

    func send(_ packet: [UInt8]) {
      if !reads { backlog += packet.count }
      switch try? Packet(packet) {
      case .event(let event): events.append(event)
      case .acl(let data): acl.append(data)
      default: Issue.record("not for a host: \(packet)")
      }
      arrival.resume(returning: ())
      arrival = Wait()
    }

    func close() { isClosed = true }

    func say(_ command: some Command) { handler?(.received(command.encoded)) }

    func leave() { handler?(.closed(Ended())) }

    /// Returns the first matching event that no earlier call returned, within a minute.
    func event<T>(_ match: (Event) -> T?) async throws -> T {
      let deadline = EventLoop.shared.now.advanced(by: .seconds(60))
      while true {
        for (index, event) in events.enumerated() {
          guard let value = match(event) else { continue }
          events.remove(at: index)
          return value
        }
        let arrival = arrival
        guard try await arrival.value(until: deadline) != nil else { throw Ended() }
      }
    }

    func connect(_ peer: PeerAddress) async throws -> ConnectionHandle {
      say(.create(peer))
      return try await event { if case .leConnectionComplete(let complete) = $0 { complete.handle } else { nil } }
    }

    func scan() {
      say(.scanParameters())
      say(.scan(true))
    }

    func setUp() {
      say(Reset())
      say(SetEventMask(.max))
      say(LESetEventMask(.max))
    }

    var reports: Int { events.count { if case .leAdvertisingReports = $0 { true } else { false } } }
  }

  @LoopActor private struct Rig {
    let air = Air()
    let device = TestDevice()
    let pool: ControllerPool

    init(tap: (any Tap)? = nil) {
      air.add(device)
      pool = ControllerPool(air: air, tap: tap)
    }

    func attach() -> Stream {
      let stream = Stream()
      pool.attach(stream)
      stream.setUp()
      return stream
    }
  }

  private static func sleep(_ seconds: Int) async throws { try await EventLoop.shared.sleep(for: .seconds(seconds)) }

  @Test(.onLoop) @LoopActor func eachHostHasAControllerOfItsOwn() async throws {
    let rig = Rig()
    let second = TestDevice(2)
    rig.air.add(second)
    let hosts = [rig.attach(), rig.attach(), rig.attach()]
    var addresses: Set<Address> = []
    for host in hosts {
      host.say(ReadBDADDR())
      let complete = try await host.event { event -> Event.CommandComplete? in
        if case .commandComplete(let complete) = event, complete.opcode == ReadBDADDR.opcode { complete } else { nil }
      }
      addresses.insert(try ReadBDADDR.Return.decode(complete.parameters).get().address)
    }
    #expect(addresses.count == 3 && addresses == Set(rig.pool.hosts.map(\.address)))
    // The links have different handles too, for a common trace.
    let handles = [try await hosts[0].connect(rig.device.address), try await hosts[2].connect(second.address)]
    #expect(handles == [0x0040, 0x0050])
    rig.pool.close()
    #expect(rig.pool.hosts.isEmpty && hosts.allSatisfy(\.isClosed))
  }

  /// A connected device does not advertise, so the second host waits for the end of the first link.
  @Test(.onLoop) @LoopActor func twoHostsContendForADevice() async throws {
    let rig = Rig()
    let (first, second) = (rig.attach(), rig.attach())
    _ = try await first.connect(rig.device.address)
    second.scan()
    try await Self.sleep(5)
    #expect(second.reports == 0)
    second.say(.scan(false))
    second.say(.create(rig.device.address))
    try await Self.sleep(5)
    #expect(rig.device.links == 1)
    // As with an unplugged adapter, the device hears nothing and notices after the supervision timeout (5 s).
    let start = EventLoop.shared.now
    first.leave()
    #expect(rig.pool.hosts.count == 1 && first.isClosed)
    _ = try await second.event { if case .leConnectionComplete = $0 { true } else { nil } }
    let waited = start.duration(to: EventLoop.shared.now)
    #expect(rig.device.links == 2 && waited > .seconds(4) && waited < .seconds(6), "\(waited)")
    rig.pool.close()
  }

  /// One host advertises, another one connects, and the end of one is a loss for the other.
  @Test(.onLoop) @LoopActor func hostsConnectToEachOther() async throws {
    let rig = Rig()
    let (peripheral, central) = (rig.attach(), rig.attach())
    let address = try #require(rig.pool.hosts.first?.address)
    peripheral.say(LESetAdvertisingParameters(intervalMin: 32, intervalMax: 32, peer: TestDevice.nobody))
    peripheral.say(LESetAdvertisingEnable(true))
    let handle = try await central.connect(PeerAddress(address, .public))
    let theirs = try await peripheral.event { if case .leConnectionComplete(let complete) = $0 { complete } else { nil } }
    #expect(theirs.role == 1 && theirs.handle != handle && theirs.peer.address == rig.pool.hosts.last?.address)
    peripheral.handler?(.received(ACLData(handle: theirs.handle, boundary: .firstNonFlushable, payload: [1, 0, 4, 0, 7]).encoded))
    try await Self.sleep(1)
    #expect(central.acl.map(\.payload) == [[1, 0, 4, 0, 7]])
    central.leave()
    let reason = try await peripheral.event { if case .disconnectionComplete(_, _, let reason) = $0 { reason } else { nil } }
    #expect(reason == .connectionTimeout)
    rig.pool.close()
  }

  /// A lost host leaves nothing behind in any state: the air is silent, and the device is free again.
  @Test(.onLoop, arguments: ["nothing", "scanning", "advertising", "connecting", "connected", "sending", "disconnecting"])
  @LoopActor func aHostIsLost(_ state: String) async throws {
    let rig = Rig()
    var left: [Int?] = []
    rig.pool.onEvent = { event in if case .left(let host, .ended(is Ended)) = event { left.append(host.number) } }
    let host = rig.attach()
    switch state {
    case "scanning":
      host.scan()
      try await Self.sleep(1)
    case "advertising":
      host.say(LESetAdvertisingEnable(true))
      try await Self.sleep(1)
    case "connecting":
      host.say(.create(TestDevice.nobody))
      try await Self.sleep(1)
    case "connected": _ = try await host.connect(rig.device.address)
    case "sending":
      let handle = try await host.connect(rig.device.address)
      let packet = ACLData(handle: handle, boundary: .firstNonFlushable, payload: [40, 0, 4, 0] + [UInt8](repeating: 0x52, count: 20))
      for _ in 0..<4 { host.handler?(.received(packet.encoded)) }
      try await EventLoop.shared.sleep(for: .milliseconds(20))
    case "disconnecting":
      let handle = try await host.connect(rig.device.address)
      host.say(Disconnect(handle: handle, reason: .remoteUserTerminated))
    default: break
    }
    let hadLink = rig.device.links
    host.leave()
    let said = host.events.count
    #expect(left == [1] && rig.pool.hosts.isEmpty && host.isClosed)
    try await Self.sleep(10)
    #expect(host.events.count == said)
    if hadLink > 0 { #expect(rig.device.closed == .connectionTimeout) }
    let next = rig.attach()
    _ = try await next.connect(rig.device.address)
    #expect(rig.device.links == hadLink + 1)
    rig.pool.close()
  }

  /// While a host does not read, advertising reports are dropped and counted, and do not arrive later.
  @Test(.onLoop) @LoopActor func whoIsSlowMissesAdvertisements() async throws {
    let rig = Rig()
    let (slow, quick) = (rig.attach(), rig.attach())
    slow.reads = false
    slow.scan()
    quick.scan()
    try await Self.sleep(600)
    let host = try #require(rig.pool.hosts.first)
    #expect(slow.backlog > ControllerPool.crowded && slow.backlog < ControllerPool.crowded + 200)
    #expect(host.droppedReports > 1000 && rig.pool.hosts.last?.droppedReports == 0)
    #expect(quick.reports > slow.reports + 2000)
    // Its commands are still answered.
    slow.say(.scan(false))
    try await slow.event { if case .commandComplete(let complete) = $0, complete.opcode == LESetScanEnable.opcode { () } else { nil } }
    rig.pool.close()
  }

  /// Events and data are never dropped: a host that does not read them is disconnected.
  @Test(.onLoop) @LoopActor func whoTakesNothingIsGivenUp() async throws {
    let rig = Rig()
    var stuck: [Int] = []
    rig.pool.onEvent = { event in if case .left(_, .stuck(let bytes)) = event { stuck.append(bytes) } }
    let host = rig.attach()
    _ = try await host.connect(rig.device.address)
    host.reads = false
    let channel = try #require(rig.device.channel)
    let sending = EventLoop.shared.spawn {
      while (try? await channel.waitUntilWritable(until: nil)) != nil { channel.send([0x1B, 3, 0] + [UInt8](repeating: 9, count: 240)) }
    }
    try await Self.sleep(600)
    #expect(stuck.count == 1 && stuck.allSatisfy { $0 > ControllerPool.stuck && $0 < ControllerPool.stuck + 1000 })
    #expect(host.isClosed && rig.pool.hosts.isEmpty && rig.device.closed == .connectionTimeout)
    await sending.value
  }

  /// A client that only probes for a listener is not reported, but invalid data are.
  @Test(.onLoop) @LoopActor func whoSaysNothingIsNoHost() async throws {
    let rig = Rig()
    var came = 0
    var left: [Int?] = []
    rig.pool.onEvent = { event in
      switch event {
      case .came: came += 1
      case .left(let host, _): left.append(host.number)
      case .refused: Issue.record("refused")
      }
    }
    let silent = Stream()
    rig.pool.attach(silent)
    silent.leave()
    #expect(came == 0 && rig.pool.arrivals == 0 && left == [nil] && rig.pool.hosts.isEmpty)
    _ = rig.attach()
    #expect(came == 1 && rig.pool.arrivals == 1 && rig.pool.hosts.first?.number == 1)
    rig.pool.close()
  }

  @Test(.onLoop) @LoopActor func thereAreNotMoreThanAddresses() async throws {
    let rig = Rig()
    var refused = 0
    rig.pool.onEvent = { if case .refused = $0 { refused += 1 } }
    let hosts = (0..<ControllerPool.limit).map { _ in rig.attach() }
    #expect(refused == 0 && Set(rig.pool.hosts.map(\.address)).count == ControllerPool.limit)
    let late = Stream()
    rig.pool.attach(late)
    #expect(refused == 1 && late.isClosed)
    hosts[7].leave()
    let next = rig.attach()
    #expect(!next.isClosed && rig.pool.hosts.count == ControllerPool.limit)
    let handle = try await next.connect(rig.device.address)
    #expect(handle == ConnectionHandle(0x0040 + 7 * 8))
    rig.pool.close()
  }

  /// One trace has all controllers.
  @Test func theTapSeesEverybody() async throws {
    @LoopActor final class Log: Tap {
      var packets: [(packet: [UInt8], direction: Direction)] = []
      func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) { packets.append((packet, direction)) }
    }
    try await onLoop {
      let log = Log()
      let rig = Rig(tap: log)
      _ = (rig.attach(), rig.attach())
      try await Self.sleep(1)
      #expect(log.packets.count { $0.packet == Reset().encoded && $0.direction == .hostToController } == 2)
      #expect(log.packets.count { $0.direction == .controllerToHost } == 6)
      rig.pool.close()
    }
  }
}
