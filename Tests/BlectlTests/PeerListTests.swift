import TestSupport

@testable import BluetoothLELinux
@testable import Program

/// Links, earlier connections and aliases are merged into one list.
@Suite(.timeLimit(.minutes(15))) struct PeerListTests {
  private func address(_ number: UInt64) -> Address { Address(rawValue: 0xD1_00_00_00_00_00 + number) }

  private func device(_ number: UInt64, _ name: UntrustedText?, selector: PeerSelector? = nil) -> KnownDevices.Device {
    KnownDevices.Device(PeerAddress(address(number), .random), name: name, selector: selector, time: "2026-01-0\(number)T00:00:00.000Z")
  }

  @Test func linksComeFirst() {
    let own = PeerList.Peer(address: address(1), type: .random, name: "Own", selector: .name("own"))
    let types: [(UInt64, AddressType?)] = [(1, .random), (2, .public), (3, nil)]
    let links = types.map { AdapterLink(address: address($0), type: $1) }
    let list = PeerList(
      own: [own], links: links, devices: [device(4, "Four"), device(3, "Three"), device(2, "Two"), device(1, nil)],
      aliases: ["a": .name("own")]
    ).peers
    #expect(list.map(\.address) == [address(1), address(2), address(3), address(2), address(4)])
    #expect(list.map(\.type) == [.random, .public, .random, .random, .random])
    #expect(list.map(\.isConnected) == [true, true, true, false, false] && list.map(\.isOurs) == [true, false, false, false, false])
    #expect(list.map(\.name) == ["Own", nil, "Three", "Two", "Four"])
    #expect(list.map(\.lastConnected) == ["2026-01-01T00:00:00.000Z", nil] + [3, 2, 4].map { "2026-01-0\($0)T00:00:00.000Z" })
    #expect(list[0].aliases == ["a"])
  }

  @Test func nobodyKnows() {
    let list = PeerList(
      own: [], links: nil, devices: [device(1, nil)],
      aliases: ["a": .address(address(1), nil), "b": .address(address(2), .public), "c": .name("x")]
    ).peers
    #expect(list.map(\.isConnected) == [nil, nil, nil] && list.map(\.aliases) == [["a"], ["b"], ["c"]])
    #expect(list.map(\.text) == ["D1:00:00:00:00:01/random", "D1:00:00:00:00:02/public", "name:x"])
  }
}
