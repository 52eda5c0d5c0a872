package import Bluetooth
package import EventLoop
package import GAP
import GATT
import Text

/// Finds the device that a selector means by scanning.
@LoopActor
package struct PeerFinder {
  package let central: any Central
  package let note: (String) -> Void

  package init(central: any Central, note: @escaping (String) -> Void) {
    self.central = central
    self.note = note
  }

  /// How long a stronger match may still turn up after the first one: longer than the usual slow advertising interval.
  private static let settling = Duration.milliseconds(1300)

  package struct Match {
    package let peer: PeerAddress
    package let name: String?
  }

  /// - Throws: `.notFound` when nothing matches within `limit`.
  package func find(_ selector: PeerSelector, first: Bool, within limit: Duration) async throws -> Match {
    switch selector {
    case .address(let address, let type?): return Match(peer: PeerAddress(address, type), name: nil)
    case .address(let address, nil):
      if let peer = central.connectedPeer(address) { return Match(peer: peer, name: nil) }
    default: break
    }
    let heard = Heard(selector: selector)
    let done = Wait<Void>()
    let deadline = EventLoop.shared.now.advanced(by: limit)
    let scanning = EventLoop.shared.spawn {
      do {
        try await central.scan(ScanParameters(), started: {}) { report in
          guard heard.add(report) else { return }
          if first || selector.isUnique {
            done.resume(returning: ())
          } else {
            EventLoop.shared.schedule(after: Self.settling) { done.resume(returning: ()) }
          }
        }
      } catch { done.resume(throwing: error) }
    }
    let outcome: Result<Void?, any Error>
    do { outcome = .success(try await done.value(until: deadline)) } catch { outcome = .failure(error) }
    scanning.cancel()
    await scanning.value
    _ = try outcome.get()
    return try choose(heard, selector, limit)
  }

  private func choose(_ heard: Heard, _ selector: PeerSelector, _ limit: Duration) throws -> Match {
    let matches = heard.matches.sorted { ($0.rssi ?? -128) > ($1.rssi ?? -128) }
    let connectable = matches.filter(\.isConnectable)
    guard let best = connectable.first else {
      if let deaf = matches.first {
        throw BluetoothError(
          .notFound,
          "\(deaf.peer) matches \(selector) but does not accept connections now; make it connectable (press its button) and try again")
      }
      throw BluetoothError(
        .notFound,
        "no device matches \(selector): \(heard.devices.count) other device(s) heard in \(seconds(limit)) s; is it in range, switched on and not connected "
          + "to something else? `blectl scan` shows what is there")
    }
    if connectable.count > 1 {
      let others = connectable.dropFirst().map { "\($0.peer) (\(rssi($0)))" }.joined(separator: ", ")
      note("\(connectable.count) devices match \(selector); taking the strongest, \(best.peer) (\(rssi(best))), not \(others)")
    }
    return Match(peer: best.peer, name: best.name)
  }

  private func rssi(_ device: DeviceView) -> String { device.rssi.map { "\($0) dBm" } ?? "strength unknown" }

  private func seconds(_ duration: Duration) -> String {
    let value = duration.inSeconds
    return value == value.rounded() ? String(Int(value)) : String(value)
  }

  @LoopActor private final class Heard {
    let selector: PeerSelector
    var devices: [PeerAddress: DeviceView] = [:]
    private var matching: Set<PeerAddress> = []

    init(selector: PeerSelector) { self.selector = selector }

    var matches: [DeviceView] { matching.compactMap { devices[$0] } }

    /// True when the report completes a new connectable match.
    func add(_ report: AdvertisingReport) -> Bool {
      guard let peer = report.peer else { return false }
      var device = devices[peer] ?? DeviceView(peer)
      let known = device.payloads[report.pdu] == report.data && device.isConnectable
      device.add(report, Advertisement(report.data))
      devices[peer] = device
      if known, matching.contains(peer) { return false }
      guard isMatch(device) else { return false }
      let isNew = matching.insert(peer).inserted
      return device.isConnectable && (isNew || !known)
    }

    private func isMatch(_ device: DeviceView) -> Bool {
      switch selector {
      case .address(let address, let type): device.peer.address == address && (type == nil || type == device.peer.type)
      case .name(let pattern): device.name.map { Glob.matches(pattern, $0) } ?? false
      case .mac(let address): device.carries(address)
      case .service(let uuid): device.services.contains(uuid)
      case .last, .alias: false
      }
    }
  }
}
