import Bluetooth
import EventLoop
import GAP
import Operations
import Text

/// The devices that were heard in this session, whatever for: to be named without looking for them again.
@LoopActor
final class SeenDevices {
  private var order = RecentSet<PeerAddress>(capacity: 1000)
  private var facts: [PeerAddress: (name: String?, rssi: Int8?)] = [:]

  func add(_ report: AdvertisingReport) {
    guard let peer = report.peer else { return }
    if let forgotten = order.insert(peer).forgotten { facts[forgotten] = nil }
    let name = facts[peer]?.name ?? Advertisement(report.data).displayName
    facts[peer] = (name, report.rssi ?? facts[peer]?.rssi)
  }

  /// The strongest first.
  var devices: [CompletionModel.Device] {
    order.elements.sorted { (facts[$0]?.rssi ?? -128, "\($1)") > (facts[$1]?.rssi ?? -128, "\($0)") }.map { peer in
      let fact = facts[peer]
      return CompletionModel.Device(address: "\(peer)", name: fact?.name, hint: fact?.rssi.map { "\($0) dBm" } ?? "")
    }
  }
}

/// An adapter whose reports somebody else hears as well.
@LoopActor
final class OverheardCentral: Central {
  let central: any Central
  private let seen: SeenDevices

  init(_ central: any Central, _ seen: SeenDevices) {
    self.central = central
    self.seen = seen
  }

  var onNote: (@LoopActor (GAPNote) -> Void)? {
    get { central.onNote }
    set { central.onNote = newValue }
  }

  var failure: (any Error)? { central.failure }

  func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    try await central.scan(parameters, started: started) { [seen] in
      seen.add($0)
      report($0)
    }
  }

  func connect(_ peer: PeerAddress, timeout: Duration, retries: Int) async throws -> any Link {
    try await central.connect(peer, timeout: timeout, retries: retries)
  }

  func connectedPeer(_ address: Address) -> PeerAddress? { central.connectedPeer(address) }

  func close() async { await central.close() }
}
