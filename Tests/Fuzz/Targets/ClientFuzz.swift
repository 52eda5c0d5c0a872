import TestSupport

extension FuzzTarget {
  /// A client and a peer that answers correctly, nearly correctly, arbitrarily, late, or not at all.
  static let client = FuzzTarget("client", words: ["\u{1}\u{A}", "\u{11}\u{6}", "\u{9}\u{7}", "\u{5}\u{1}", "\u{B}", "\u{1B}"]) { bytes in
    await VirtualTime.run { try await Dialogue(bytes).run() }
  }
}

/// Takes the client's calls and the peer's answers from the tape.
@LoopActor
private final class Dialogue {
  private var tape: Tape
  private let client: Client
  private let channel: MemoryChannel
  private var server = PlainServer(Dialogue.items)
  private var subscriptions: [Subscription] = []

  init(_ bytes: [UInt8]) {
    tape = Tape(bytes)
    let (near, far) = MemoryChannel.pair()
    channel = far
    client = Client(near)
    client.followsServiceChanges = tape.byte() & 1 == 1
    client.onSecurityNeeded = { [weak self] _ in self.map { $0.tape.byte() & 1 == 1 } ?? false }
    channel.handler = { [weak self] event in if case .received(let pdu) = event { self?.receive(pdu) } }
  }

  /// Runs every call of the tape to its end.
  func run() async throws {
    for _ in 0..<8 where client.closed == nil && !tape.isAtEnd {
      do { try await ask() } catch {}
      if let table = client.table { Self.check(table) }
    }
    client.close()
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    expect(client.closed != nil, "a closed client is open")
    for subscription in subscriptions { _ = try? await subscription.next(until: EventLoop.shared.now) }
  }

  private func ask() async throws {
    let choice = tape.byte()
    let handle = AttributeHandle(rawValue: UInt16(tape.byte()))
    switch choice % 16 {
    case 0: _ = try await client.exchangeMTU(Int(tape.number16()))
    case 1, 2: _ = try await client.discover()
    case 3: _ = try await client.read(handle)
    case 4: _ = try await client.read(uuid: UUID(UInt32(tape.number16())))
    case 5: _ = try await client.readMultiple([handle, handle.next])
    case 6: _ = try await client.valueUpToError(handle)
    case 7: _ = try await client.primaryServices(UUID(0x180F), inFull: handle.rawValue & 1 == 1)
    case 8: _ = (try await client.primaryServices(), try await client.includedServices(), try await client.characteristics())
    case 9: _ = try await client.attributeTypes()
    case 10: try await client.read(try ["0x0003", "2a19", "180f/2a19", "2a19@2902"].map { try Selector($0) }) { _, _ in }
    case 11:
      guard let table = try? await client.discover(), let first = table.characteristics.first(where: { $0.valueHandle >= handle }) else {
        return
      }
      subscriptions.append(try await client.subscribe(first, kind: [.auto, .notification, .indication][Int(choice >> 4) % 3]))
    case 12: _ = try await subscriptions.last?.next(until: EventLoop.shared.now.advanced(by: .seconds(1)))
    case 13: try await client.unsubscribeAll()
    case 14: try await client.barrier(after: handle)
    default:
      let value = [UInt8](repeating: choice, count: Int(tape.number16() & 0x3FF))
      let mode = WriteMode.allCases[Int(choice >> 4) % WriteMode.allCases.count]
      let plan = try WriteProcedure(value: value.count, properties: nil, mtu: client.mtu, mode: mode)
      try await client.write(value, to: handle, plan: plan)
    }
  }

  private func receive(_ pdu: [UInt8]) {
    // The link ends with the tape: the client must not keep asking.
    guard !tape.isAtEnd else { return channel.lose(LinkLost("the end of the input")) }
    let how = tape.byte()
    let good = server.answer(pdu)
    switch how {
    case 0..<128: send(good)
    case ..<160: send(good.map { changed($0) })
    case ..<176: send(good.map { Array($0.dropLast(Int(tape.byte() & 0x1F))) })
    case ..<192: send([(pdu.first ?? 0) &+ 1] + tape.piece())
    case ..<208: send([1, pdu.first ?? 0] + tape.bytes(3))
    case ..<224:
      send([how & 1 == 0 ? 0x1B : 0x1D] + tape.piece())
      send(good)
    case ..<236: send(tape.piece())
    case ..<244:
      send(good)
      send(good)
    case ..<248:
      channel.drop(Int(how & 3))
      send(good)
    case ..<250: channel.lose(LinkLost("lost"))
    default: break
    }
  }

  private func send(_ pdu: [UInt8]?) { if let pdu { channel.send(pdu) } }

  private func changed(_ pdu: [UInt8]) -> [UInt8] {
    var pdu = pdu
    if !pdu.isEmpty { pdu[Int(tape.byte()) % pdu.count] = tape.byte() }
    return pdu
  }

  /// Checks that services and characteristics are in order, and that none has handle 0x0000.
  private static func check(_ table: AttributeTable) {
    for (one, next) in zip(table.services, table.services.dropFirst()) { expect(one.handle <= next.handle, "services out of order") }
    for service in table.services {
      expect(service.handle <= service.endHandle, "a service ends before it begins")
      for characteristic in service.characteristics {
        expect(characteristic.handle.isValid && characteristic.handle <= characteristic.endHandle, "a characteristic ends before it begins")
        expect(characteristic.descriptors.allSatisfy { $0.handle.isValid && $0.uuid.short != 0x2803 }, "no descriptor")
        if characteristic.valueHandle.isValid {
          expect(table.characteristic(owning: characteristic.valueHandle) != nil, "a value cannot be found")
        }
      }
      for (one, next) in zip(service.characteristics, service.characteristics.dropFirst()) {
        expect(one.handle <= next.handle, "characteristics out of order")
      }
    }
  }

  private static let items = [
    item(1, 0x2800, [0x00, 0x18]), item(2, 0x2803, [0x0A, 3, 0, 0x00, 0x2A]),
    item(3, 0x2A00, Array("a name that is longer than a PDU".utf8)),
    item(4, 0x2800, [0x0F, 0x18]), item(5, 0x2802, [1, 0, 3, 0, 0x00, 0x18]), item(6, 0x2803, [0xBA, 7, 0, 0x19, 0x2A]),
    item(7, 0x2A19, [60]),
    item(8, 0x2902, [0, 0]), item(9, 0x2900, [1, 0]), item(10, 0x2800, [0x01, 0x18]), item(11, 0x2803, [0x20, 12, 0, 0x05, 0x2A]),
    item(12, 0x2A05, [1, 0, 0xFF, 0xFF]), item(13, 0x2902, [0, 0]),
  ]

  private static func item(_ handle: AttributeHandle, _ type: UInt32, _ value: [UInt8]) -> PlainServer.Item {
    PlainServer.Item(handle: handle, type: UUID(type), value: value)
  }
}
