import BluetoothLESimulator
import TestSupport

/// A client after a change of the attributes, with and without robust caching (Vol 3 Part G §2.5.2.1, §7.2).
@Suite(.timeLimit(.minutes(15))) struct RobustCachingTests {
  /// Service Changed is 0x0003, Client Supported Features 0x0006, Database Hash 0x0008, and a value 0x000B.
  @LoopActor private struct Fixture {
    let store: AttributeStore
    let channel: ServerTestChannel
    let server: Server

    init(_ store: AttributeStore? = nil, features: String? = nil) throws {
      self.store = try store ?? AttributeStore(Self.database())
      channel = ServerTestChannel()
      server = Server(store: self.store, bearer: Bearer(channel))
      server.clientFeatures = features.map(bytes)
      server.start()
    }

    static func database() throws -> AttributeDatabase {
      func item(_ uuid: UInt32, _ properties: Properties, _ value: [UInt8] = []) -> AttributeDatabase.CharacteristicDescription {
        var item = AttributeDatabase.CharacteristicDescription(UUID(uuid), properties)
        item.value = value
        return item
      }
      var database = try AttributeDatabase(services: [
        .init(UUID(0x1801), [item(0x2A05, .indicate), item(0x2B29, [.read, .write], [0]), item(0x2B2A, .read)]),
        .init(UUID(0xFF00), [item(0xFF01, [.read, .write, .writeWithoutResponse, .notify, .indicate], [7])]),
      ])
      database.updateHash()
      return database
    }

    func ask(_ hex: String) -> String {
      channel.deliver(hex)
      return channel.take().joined(separator: " ")
    }
  }

  /// Requests for handles get Database Out Of Sync once. Others find the attributes.
  @Test(
    .onLoop,
    arguments: [
      ("0a0b00", "010a0b0012"), ("0c0b000000", "010c0b0012"), ("0e0b000b00", "010e0b0012"), ("200b000b00", "01200b0012"),
      ("120b0001", "01120b0012"), ("160b00000001", "01160b0012"), ("080a00ffff01ff", "01080a0012"), ("0affff", "010affff12"),
      ("080100ffff01ff", "09030b0007"), ("080a00ffff0328", "09070a003e0b0001ff"), ("040a000a00", "05010a000328"),
      ("100900ffff0028", "110609000c0000ff"), ("060100ffff002800ff", "0709000c00"), ("1801", "19"), ("0a0b", "010a000004"),
    ])
  @LoopActor func aRequestOfAnUnawareClient(_ row: (request: String, answer: String)) async throws {
    let fixture = try Fixture(features: "01")
    var learned = 0
    fixture.server.onAware = { learned += 1 }
    fixture.server.isAware = false
    #expect(fixture.ask(row.request) == row.answer)
    let isTold = row.answer.hasSuffix("12")
    // A command has no effect before the next request.
    #expect(fixture.ask("520b0009").isEmpty && learned == 0)
    #expect(fixture.ask("0a0b00") == (isTold ? "0b07" : "010a0b0012") && learned == (isTold ? 1 : 0))
    #expect(fixture.ask("520b0009") == "" && fixture.ask("0a0b00") == "0b\(isTold ? "09" : "07")" && learned == 1)
  }

  @Test(.onLoop) @LoopActor func theHashMakesAware() async throws {
    for features in ["01", "00"] {
      let fixture = try Fixture(features: features)
      var learned = 0
      fixture.server.onAware = { learned += 1 }
      fixture.server.isAware = false
      #expect(fixture.ask("080100ffff2a2b") == "09120800" + Hex.encode(fixture.store.database.databaseHash))
      #expect(!fixture.server.isAware && learned == 0)
      #expect(fixture.ask("0a0b00") == "0b07" && fixture.server.isAware && learned == 1)
      #expect(fixture.ask("0a0b00") == "0b07" && learned == 1)
    }
  }

  /// Without the bit, a client gets everything, whether or not it knows of the change.
  @Test(.onLoop) @LoopActor func withoutTheBit() async throws {
    let fixture = try Fixture(features: "06")
    fixture.server.isAware = false
    #expect(fixture.ask("120c000100") == "13" && fixture.ask("0a0b00") == "0b07" && !fixture.server.isAware)
    #expect(fixture.ask("520b0009").isEmpty && fixture.store.database[0x0B]?.value == [9])
    #expect(fixture.server.notify(0x0B, [1]))
  }

  @Test(.onLoop) @LoopActor func onlyServiceChangedReachesAnUnawareClient() async throws {
    let fixture = try Fixture(features: "01")
    #expect(fixture.ask("120c000300") == "13" && fixture.ask("1204000200") == "13")
    fixture.server.isAware = false
    #expect(!fixture.server.notify(0x0B, [1]) && fixture.server.indicateWhenFree(0x0B, [1]) == nil)
    #expect(fixture.server.indicateWhenFree(0x03, [1, 0, 0xFF, 0xFF]) != nil)
    #expect(fixture.channel.take() == ["1d03000100ffff"])
    fixture.channel.deliver("1e")
    fixture.server.isAware = true
    #expect(fixture.server.notify(0x0B, [1]) && fixture.channel.take() == ["1b0b0001"])
  }

  /// Each client has its own features, and clears no bit of them.
  @Test(.onLoop) @LoopActor func features() async throws {
    let (one, store) = (try Fixture(), AttributeStore(try Fixture.database()))
    let two = try Fixture(store)
    let three = try Fixture(store)
    for (request, answer) in [
      ("0a0600", "0b00"), ("12060005", "13"), ("0a0600", "0b05"), ("12060004", "0112060013"), ("120600", "0112060013"),
      ("1206000502", "13"), ("12060005", "0112060013"), ("160600000000", "170600000000"), ("1801", "0118060013"), ("0a0600", "0b0502"),
    ] {
      #expect(two.ask(request) == answer, "\(request)")
    }
    #expect(two.server.clientFeatures == [5, 2] && three.ask("0a0600") == "0b00" && one.server.clientFeatures == nil)
    #expect(store.database[0x06]?.value == [0])
  }

  /// A client that takes nothing gets a limited number of values.
  @Test(.onLoop) @LoopActor func valuesThatNobodyTakes() async throws {
    let fixture = try Fixture()
    #expect(fixture.ask("120c000300") == "13")
    var dropped: [AttributeHandle] = []
    fixture.server.onDropped = { dropped.append($0) }
    let sent = (0..<600).count { _ in fixture.server.indicateWhenFree(0x0B, [1]) != nil }
    #expect(sent == Bearer.answerLimit + 1 && fixture.server.bearer.waitingIndications == Bearer.answerLimit && dropped == [0x0B])
    fixture.channel.deliver("1e")
    #expect(fixture.server.indicateWhenFree(0x0B, [1]) != nil && fixture.server.indicateWhenFree(0x0B, [1]) == nil)
    #expect(dropped == [0x0B, 0x0B] && fixture.server.notify(0x0B, [1]))
    // A device that a person serves tells. Others queue everything.
    fixture.server.onDropped = nil
    #expect(fixture.server.indicateWhenFree(0x0B, [1]) != nil)
  }
}
