import BluetoothLESimulator
import TestSupport

@testable import BluetoothLE

/// A client and a server on each end of one channel.
@Suite(.timeLimit(.minutes(15))) struct BothRolesTests {
  @LoopActor private struct End {
    let bearer: Bearer
    let client: Client
    let server: Server
    let database: AttributeDatabase

    init(_ channel: MemoryChannel, _ services: [AttributeDatabase.ServiceDescription], rxMTU: Int) throws {
      database = try AttributeDatabase(services: services)
      bearer = Bearer(channel, rxMTU: rxMTU)
      client = Client(bearer)
      server = Server(store: AttributeStore(database), bearer: bearer)
    }
  }

  private static func services(_ first: UInt32, _ count: Int) -> [AttributeDatabase.ServiceDescription] {
    (0..<UInt32(count)).map { number in
      var service = AttributeDatabase.ServiceDescription(UUID(first + number * 16))
      service.characteristics = (UInt32(1)...4).map {
        var item = AttributeDatabase.CharacteristicDescription(UUID(first + number * 16 + $0), [.read, .write, .notify, .indicate])
        item.value = [UInt8(number), UInt8($0)]
        return item
      }
      return service
    }
  }

  @LoopActor private static func ends(delay: Duration) throws -> (End, End) {
    let (near, far) = MemoryChannel.pair()
    near.delay = delay
    far.delay = delay
    return (try End(near, services(0xA000, 5), rxMTU: 100), try End(far, services(0xB000, 3), rxMTU: 517))
  }

  private static func shape(_ table: AttributeTable) -> [String] {
    table.services.map { "\($0.uuid) \($0.handle)-\($0.endHandle)" }
      + table.characteristics.map { "\($0.uuid) \($0.handle) \($0.valueHandle) \($0.descriptors.map(\.handle))" }
  }

  /// Both sides discover, read and indicate at the same time. Every answer matches its request, with one common ATT_MTU.
  @Test(.onLoop) @LoopActor func discoveryInBothDirectionsAtOnce() async throws {
    let (here, there) = try Self.ends(delay: .milliseconds(15))
    let tasks = [here, there].map { end in
      EventLoop.shared.spawn { () -> [String]? in
        guard (try? await end.client.exchangeMTU(end.bearer.rxMTU)) == 100, let table = try? await end.client.discover()
        else { return nil }
        for item in table.characteristics {
          guard let value = try? await end.client.read(item.valueHandle), value.count == 2 else { return nil }
        }
        return Self.shape(table)
      }
    }
    let found = [await tasks[0].value, await tasks[1].value]
    for (shape, other) in zip(found, [there, here]) {
      // The same peer, discovered by a client with its own bearer.
      let (near, far) = MemoryChannel.pair()
      let alone = Client(near)
      let server = Server(database: other.database, channel: far, rxMTU: 100)
      server.start()
      try await alone.exchangeMTU()
      #expect(shape == Self.shape(try await alone.discover()))
      alone.close()
    }
    #expect(here.bearer.mtu == 100 && there.bearer.mtu == 100)
    #expect(here.bearer.faults == Bearer.Faults() && there.bearer.faults == Bearer.Faults())
    here.bearer.close()
  }

  @Test(.onLoop) @LoopActor func valuesInBothDirectionsAtOnce() async throws {
    let (here, there) = try Self.ends(delay: .milliseconds(15))
    let tasks = [(here, there), (there, here)].map { mine, theirs in
      EventLoop.shared.spawn { () -> [[UInt8]]? in
        guard let item = try? await mine.client.discover().characteristics.first,
          let subscription = try? await mine.client.subscribe(item, kind: .indication)
        else { return nil }
        let sending = EventLoop.shared.spawn { () -> Bool in
          for number in 0..<20 where (try? await theirs.server.indicate(item.valueHandle, [UInt8(number)])) != true { return false }
          return true
        }
        var values: [[UInt8]] = []
        while values.count < 20, let event = try? await subscription.next() {
          values.append(event.value)
          // Requests continue while indications are outstanding in either direction.
          guard (try? await mine.client.read(item.valueHandle)) != nil else { return nil }
        }
        guard await sending.value else { return nil }
        return values
      }
    }
    for task in tasks { #expect(await task.value == (0..<20).map { [UInt8($0)] }) }
    #expect(here.bearer.faults == Bearer.Faults() && there.bearer.faults == Bearer.Faults())
    there.bearer.close()
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(here.client.closed != nil && here.server.closed != nil)
    #expect(!here.server.notify(3, [1]))
  }

  /// An unconfirmed indication ends the bearer for both roles.
  @Test(.onLoop) @LoopActor func aConfirmationThatDoesNotComeEndsBothRoles() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let end = try End(near, Self.services(0xA000, 1), rxMTU: 517)
    end.bearer.start()
    peer.push([0x12, 4, 0, 2, 0])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    let begin = EventLoop.shared.now
    let reading = EventLoop.shared.spawn { try? await end.client.untilClosed() }
    do {
      _ = try await end.server.indicate(3, [1])
      Issue.record("confirmed by nobody")
    } catch { #expect(error as? ATTError == .noConfirmation(of: 3, within: .seconds(30))) }
    #expect(begin.duration(to: EventLoop.shared.now) == .seconds(30))
    #expect(kind(await reading.value) == "timeout")
    #expect(near.isClosed)
  }
}
