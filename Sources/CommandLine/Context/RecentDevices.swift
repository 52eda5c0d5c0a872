/// The devices that this process heard or connected, which the user can name without another scan.
@LoopActor
package final class RecentDevices {
  private var order = RecentSet<PeerAddress>(capacity: 1000)
  private var facts: [PeerAddress: (name: UntrustedText?, rssi: Int8?)] = [:]

  package func add(_ report: AdvertisingReport) {
    guard let peer = report.identity?.address ?? report.peer else { return }
    add(peer, name: Advertisement(report.data).displayName, rssi: report.rssi)
  }

  /// Adds a device, or updates the signal strength (dBm) of a known device. Keeps the name of a known device.
  package func add(_ peer: PeerAddress, name: @autoclosure () -> UntrustedText?, rssi: Int8?) {
    if let forgotten = order.insert(peer).forgotten { facts[forgotten] = nil }
    facts[peer] = (facts[peer]?.name ?? name(), rssi ?? facts[peer]?.rssi)
  }

  /// The devices to store for later commands.
  var heard: [HeardDevices.Device] { order.elements.map { .init($0, name: facts[$0]?.name, rssi: facts[$0]?.rssi) } }

  package init() {}

  /// The devices, with the strongest signal (dBm) first. Devices without a signal strength come last.
  package var devices: [(peer: PeerAddress, name: UntrustedText?, rssi: Int8?)] {
    order.elements.sorted { (facts[$0]?.rssi ?? -128, "\($1)") > (facts[$1]?.rssi ?? -128, "\($0)") }
      .map { ($0, facts[$0]?.name, facts[$0]?.rssi) }
  }
}
