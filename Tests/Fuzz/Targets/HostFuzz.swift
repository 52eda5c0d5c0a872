import BluetoothLE
import BluetoothLESimulator
import Traces

extension FuzzTarget {
  /// Our host with a correct controller, whose packets the tape changes.
  static let host = FuzzTarget("host") { bytes in
    await VirtualTime.run {
      let controller = VirtualController(air: air())
      let interference = Interference(controller, Tape(bytes))
      await use(HostCentral(interference, name: "fuzz")) { interference.isOver }
      controller.close()
    }
  }

  /// The virtual controller and a host that sends packets, each after its length.
  static let controller = FuzzTarget("controller") { bytes in
    await VirtualTime.run {
      var tape = Tape(bytes)
      var configuration = VirtualController.Configuration()
      configuration.extended = tape.byte() & 1 == 0
      let controller = VirtualController(air: air(), configuration: configuration)
      controller.handler = { if case .received(let packet) = $0 { expect((try? Packet(packet)) != nil, "the controller sends \(packet)") } }
      controller.send(Reset().encoded)
      controller.send(SetEventMask(.max).encoded)
      controller.send(LESetEventMask(.max).encoded)
      for _ in 0..<64 where !tape.isAtEnd {
        let choice = tape.byte()
        if choice < 208 {
          controller.send(tape.bytes(Int(choice)))
        } else {
          try await EventLoop.shared.sleep(for: .milliseconds(1 << Int(choice & 0xF) / 2))
        }
      }
      controller.close()
    }
  }

  /// A recording that is replayed to our host.
  static let replay = FuzzTarget("replay", seeds: recording.seeds) { bytes in
    guard let recording = try? Recording(parsing: bytes) else { return }
    await VirtualTime.run {
      let peers = recording.links.prefix(2).compactMap(\.peer)
      await use(HostCentral(ReplayTransport(recording), name: "fuzz"), peers.isEmpty ? [lock] : peers)
    }
  }

  private static let lock = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)

  /// The two most capable presets. More would add nothing.
  private static let presets = ((try? BuiltInDevices.peripherals()) ?? []).prefix(2)

  @LoopActor private static func air() -> Air {
    let air = Air()
    air.add(Array(presets))
    return air
  }

  /// Runs every host operation of a command in turn, whatever its result. The host reports every end itself.
  @LoopActor
  private static func use(_ central: HostCentral, _ peers: [PeerAddress] = [], until isOver: @LoopActor () -> Bool = { false }) async {
    do {
      try await central.start()
      var seen = peers
      _ = try? await withDeadline(EventLoop.shared.now.advanced(by: .milliseconds(150))) {
        try await central.scan(ScanParameters(), started: {}) { report in
          _ = Advertisement(report.data).errors
          if let peer = report.peer, report.isConnectable, !seen.contains(peer) { seen.append(peer) }
        }
      }
      for peer in seen.prefix(2) where !isOver() { try? await use(central.connect(peer, timeout: .seconds(5), retries: 1), until: isOver) }
    } catch {}
    await central.close()
  }

  @LoopActor
  private static func use(_ link: any Link, until isOver: @LoopActor () -> Bool) async throws {
    let client = Client(link.channel)
    _ = try? await link.requestDataLength(251)
    _ = try? await link.requestPHY(.le2M)
    _ = try? await client.exchangeMTU()
    if !isOver(), let table = try? await client.discover() {
      for one in table.characteristics.prefix(3) where one.properties.contains(.read) { _ = try? await client.read(one.valueHandle) }
      if let one = table.characteristics.first(where: { $0.properties.contains(.notify) }),
        let subscription = try? await client.subscribe(one)
      {
        _ = try? await subscription.next(until: EventLoop.shared.now.advanced(by: .milliseconds(1500)))
      }
    }
    if !isOver() { _ = (try? await link.requestInterval(.milliseconds(15)), try? await link.parameters()) }
    await link.disconnect()
  }
}

/// Changes, cuts, drops, doubles and adds packets from a controller to its host, until the tape ends.
@LoopActor
private final class Interference: Transport {
  var handler: (@LoopActor (TransportEvent) -> Void)? {
    didSet { controller.handler = { [weak self] in self?.receive($0) } }
  }
  private let controller: VirtualController
  private var tape: Tape

  init(_ controller: VirtualController, _ tape: Tape) {
    self.controller = controller
    self.tape = tape
  }

  /// Whether the tape has ended, so that no more packets change.
  var isOver: Bool { tape.isAtEnd }

  func send(_ packet: [UInt8]) { controller.send(packet) }

  func close() { controller.close() }

  private func receive(_ event: TransportEvent) {
    guard case .received(var packet) = event, !tape.isAtEnd else {
      handler?(event)
      return
    }
    let how = tape.byte()
    switch how {
    case 0..<160: pass(packet)
    case ..<192:
      for _ in 0...(how & 3) where !packet.isEmpty { packet[Int(tape.byte()) % packet.count] = tape.byte() }
      pass(packet)
    case ..<200: pass(Array(packet.dropLast(1 + Int(how & 7))))
    case ..<216:
      pass(packet)
      pass([Packet.eventIndicator, 0x3E] + behindItsLength(tape.piece()))
    case ..<228:
      pass([Packet.aclIndicator] + tape.bytes(2) + { [UInt8($0.count), 0] + $0 }(tape.piece()))
      pass(packet)
    case ..<240: pass([how & 1 == 0 ? Packet.eventIndicator : Packet.aclIndicator] + tape.piece())
    case ..<247:
      pass(packet)
      pass(packet)
    case ..<250: handler?(.closed(CancellationError()))
    default: break
    }
  }

  private func behindItsLength(_ bytes: [UInt8]) -> [UInt8] { [UInt8(clamping: bytes.count)] + bytes }

  private func pass(_ packet: [UInt8]) { handler?(.received(packet)) }
}
