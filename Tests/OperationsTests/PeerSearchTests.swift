import Bluetooth
import EventLoop
import GAP
import TestSupport
import Testing

@testable import Operations

@Suite struct PeerSearchTests {
  @LoopActor private func find(_ selector: PeerSelector, first: Bool = false, in central: ScriptedCentral) async throws -> PeerMatch {
    try await central.find(PeerSearch(selector, takesFirst: first, limit: .seconds(5)))
  }

  @Test func aKnownAddressNeedsNoScan() async throws {
    try await onLoop {
      let central = ScriptedCentral()
      let named = try await self.find(.address(peer(1).address, .random), in: central)
      #expect(named.peer == peer(1))
      central.connected = [peer(2)]
      #expect(try await self.find(.address(peer(2).address, nil), in: central).peer == peer(2))
      #expect(central.scans == 0)
    }
  }

  /// Whoever is heard first, the strongest is taken, and the others are told.
  @Test func theStrongestOfSeveral() async throws {
    try await onLoop {
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
  }

  /// An address can match once only: nobody else is waited for.
  @Test func anAddressEndsTheSearch() async throws {
    try await onLoop {
      let central = ScriptedCentral()
      central.batches = [(.milliseconds(100), [report(1)])]
      let start = EventLoop.shared.now
      let match = try await self.find(.address(peer(1).address, nil), in: central)
      #expect(match.peer == peer(1))
      #expect(start.duration(to: EventLoop.shared.now) == .milliseconds(100))
    }
  }

  @Test func whyThereIsNone() async throws {
    try await onLoop {
      let central = ScriptedCentral()
      central.batches = [(.milliseconds(100), [report(1, named("Deaf"), .nonConnectable), report(2, named("Other"))])]
      await #expect(throws: PeerSearchError.notFound(.name("nobody"), devices: 2, names: ["Deaf", "Other"], within: .seconds(5))) {
        try await self.find(.name("nobody"), in: central)
      }
      await #expect(throws: PeerSearchError.notConnectable(peer(1), .name("deaf"))) { try await self.find(.name("deaf"), in: central) }
    }
  }
}
