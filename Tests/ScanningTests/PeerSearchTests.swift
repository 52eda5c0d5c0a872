import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct PeerSearchTests {
  /// Two selectors may mean the same device, which is known without a search.
  @Test func twoSelectorsMayMeanOneDevice() throws {
    func selector(_ text: String) throws -> PeerSelector { try #require(PeerSelector(text)) }
    let address = "D1:00:00:00:00:01"
    let same = [
      (address, address + "/random"), (address, address + "/public"), (address + "/random", address + "/random"), ("name:A*", "name:A*"),
    ]
    for (one, other) in same {
      #expect(try selector(one).isSame(as: selector(other)) && selector(other).isSame(as: selector(one)), "\(one) \(other)")
    }
    let others = [
      (address + "/public", address + "/random"), (address, "D1:00:00:00:00:02"), (address, "mac:" + address), ("name:A*", "name:B*"),
    ]
    for (one, other) in others {
      #expect(try !selector(one).isSame(as: selector(other)) && !selector(other).isSame(as: selector(one)), "\(one) \(other)")
    }
    for text in [address, address + "/random", "name:band*"] { #expect(try selector(text).means(peer(1), named: "Band-7"), "\(text)") }
    for text in [address + "/public", "name:x*", "mac:" + address, "service:180d"] {
      #expect(try !selector(text).means(peer(1), named: "Band-7"), "\(text)")
    }
    #expect(try !selector("name:*").means(peer(1), named: nil))
  }

  @LoopActor private func find(_ selector: PeerSelector, first: Bool = false, in central: ScriptedCentral) async throws -> PeerMatch {
    try await central.find(PeerSearch(selector, takesFirst: first, limit: .seconds(5)))
  }

  @Test(.onLoop) @LoopActor func aKnownAddressNeedsNoScan() async throws {
    let central = ScriptedCentral()
    let named = try await self.find(.address(peer(1).address, .random), in: central)
    #expect(named.peer == peer(1))
    central.connected = [peer(2)]
    #expect(try await self.find(.address(peer(2).address, nil), in: central).peer == peer(2))
    #expect(central.scans == 0)
  }

  /// The search selects the strongest device, whatever the order, and reports the others.
  @Test(.onLoop) @LoopActor func theStrongestOfSeveral() async throws {
    let central = ScriptedCentral()
    central.batches = [
      (.milliseconds(100), [report(1, named("Door"), rssi: -80), report(4, named("Window"), rssi: -20)]),
      (.milliseconds(500), [report(2, named("Door"), rssi: -40)]), (.milliseconds(500), [report(3, named("Door"), rssi: -60)]),
      (.milliseconds(500), [report(5, named("Door"), rssi: -10)]),
    ]
    let match = try await self.find(.name("door"), in: central)
    #expect(match.peer == peer(2) && match.name == "Door" && match.rssi == -40)
    #expect(match.others.map(\.peer) == [peer(3), peer(1)])
    #expect(match.payloads == [named("Door")])
    #expect(try await self.find(.name("door"), first: true, in: central).peer == peer(1))
  }

  /// With `isUrgent`, the search immediately selects the strongest device of one event.
  @Test(.onLoop) @LoopActor func aSearchInAHurry() async throws {
    let central = ScriptedCentral()
    central.batches = [
      (.milliseconds(100), [report(4, named("Window"), rssi: -20)]),
      (.milliseconds(500), [report(1, named("Door"), rssi: -80), report(2, named("Door"), rssi: -40)]),
      (.milliseconds(100), [report(3, named("Door"), rssi: -10)]),
    ]
    var search = PeerSearch(.name("door"))
    search.isUrgent = true
    let start = EventLoop.shared.now
    let match = try await central.find(search)
    #expect(start.duration(to: EventLoop.shared.now) == .milliseconds(600))
    #expect(match.peer == peer(2) && match.others.map(\.peer) == [peer(1)])
    let heard = try #require(match.heard)
    #expect(heard.lowerBound == heard.upperBound)
  }

  /// Each match has the time span in which the device was heard.
  @Test(.onLoop) @LoopActor func whenItWasHeard() async throws {
    let central = ScriptedCentral()
    central.batches = [
      (.milliseconds(100), [report(1, named("Door"))]), (.milliseconds(400), [report(2), report(1, named("Door"))]),
      (.milliseconds(500), [report(1, named("Door"))]),
    ]
    let heard = try #require(try await self.find(.name("door"), in: central).heard)
    #expect(heard.upperBound - heard.lowerBound == 900_000_000)
  }

  /// The end of a name that looks like the MAC's end does not match.
  @Test(.onLoop) @LoopActor func aPartOfAMACIsNone() async throws {
    let central = ScriptedCentral()
    let real: [UInt8] = [9, 0xFF, 0x05, 0x03, 0x22, 0x11, 0x00, 0x38, 0xC1, 0xA4]
    central.batches = [(.milliseconds(100), [report(1, named("Fake-1122"))]), (.milliseconds(500), [report(2, real)])]
    let mac = try #require(Address("A4:C1:38:00:11:22"))
    #expect(try await self.find(.mac(mac), in: central).peer == peer(2))
  }

  /// Changing addresses do not fill the memory: the oldest are forgotten.
  @Test func candidatesAreForgotten() {
    var candidates = PeerCandidates(.name("door"))
    _ = candidates.add(report(1, named("Door")), at: 0)
    for number in 2...20_001 { _ = candidates.add(report(UInt64(number)), at: 0) }
    #expect(throws: PeerSearchError.notFound(.name("door"), devices: 20_000, names: [], within: .seconds(1))) {
      try candidates.best(within: .seconds(1))
    }
  }

  /// An address matches only one device, so the search ends immediately.
  @Test(.onLoop) @LoopActor func anAddressEndsTheSearch() async throws {
    let central = ScriptedCentral()
    central.batches = [(.milliseconds(100), [report(1)])]
    let start = EventLoop.shared.now
    let match = try await self.find(.address(peer(1).address, nil), in: central)
    #expect(match.peer == peer(1))
    #expect(start.duration(to: EventLoop.shared.now) == .milliseconds(100))
  }

  @Test(.onLoop) @LoopActor func whyThereIsNone() async throws {
    let central = ScriptedCentral()
    central.batches = [(.milliseconds(100), [report(1, named("Deaf"), .nonConnectable), report(2, named("Other"))])]
    await #expect(throws: PeerSearchError.notFound(.name("nobody"), devices: 2, names: ["Deaf", "Other"], within: .seconds(5))) {
      try await self.find(.name("nobody"), in: central)
    }
    await #expect(throws: PeerSearchError.notConnectable(peer(1), .name("deaf"))) { try await self.find(.name("deaf"), in: central) }
  }
}
