import Testing

@testable import BluetoothLE

/// Tests discovery with contradictory answers.
@Suite(.timeLimit(.minutes(15))) struct DatabaseDiscoveryTests {
  private static let service = HandleGroup(1, 9, [0xF0, 0xFF])
  private static let characteristic = HandleValue(2, [0x02, 3, 0, 0xF1, 0xFF])

  /// An entry that an answer lists twice is kept once, with a note.
  @Test func repeatedEntries() {
    var discovery = DatabaseDiscovery()
    #expect(discovery.take([Self.service, Self.service], of: .primaryService, in: .all, mtu: 64).count == 1)
    #expect(discovery.take([Self.characteristic, Self.characteristic], characteristicsIn: .all, mtu: 64).count == 1)
    #expect(discovery.takeIrregular().map(\.fault) == [.repeated, .repeated])
    let services = discovery.assemble([])
    #expect(services.map(\.handle) == [1] && services.first?.characteristics.map(\.handle) == [2])
  }

  /// A handle with two types is shown with both.
  @Test func conflictingTypes() {
    var discovery = DatabaseDiscovery()
    discovery.take([Self.service], of: .primaryService, in: .all, mtu: 64)
    discovery.take([Self.characteristic], characteristicsIn: .all, mtu: 64)
    discovery.take([HandleType(4, UUID(0x2902)), HandleType(4, UUID(0x2901))], in: .all)
    #expect(!discovery.takeIrregular().isEmpty)
    let descriptors = discovery.assemble([]).first?.characteristics.first?.descriptors ?? []
    #expect(Set(descriptors) == [Descriptor(uuid: UUID(0x2902), handle: 4), Descriptor(uuid: UUID(0x2901), handle: 4)])
  }
}
