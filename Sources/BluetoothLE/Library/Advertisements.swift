// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// An advertisement or scan response that a scan heard (Vol 6 Part B §4.4.2).
public struct Discovery: Sendable, CustomStringConvertible {
  let report: AdvertisingReport
  /// The name of the device, from this or an earlier advertisement of the scan. Nil if no advertisement had a name.
  public let name: String?
  /// The device that advertises.
  public let peripheral: Peripheral
  /// The time of arrival since 1970-01-01T00:00:00Z. In virtual time, the clock starts at 2026-01-01T00:00:00Z.
  public let time: Duration
  /// The number of advertisements that the scan has lost before this one, because the caller was too slow.
  public let missed: Int

  private var advertisement: Advertisement { Advertisement(report.data) }

  /// The strength of the signal in dBm, −127…20. Nil if the controller does not know it.
  public var rssi: Int? { report.rssi.map(Int.init) }

  /// Whether the device accepts connections.
  public var isConnectable: Bool { report.isConnectable }

  /// The AD structures as received, at most 1,650 bytes (Vol 3 Part C §11).
  public var bytes: [UInt8] { report.data }

  /// The UUIDs of the offered services, as lowercase text: four, eight or 36 characters.
  public var services: [String] { advertisement.serviceUUIDs.map(\.description) }

  /// The manufacturer data: company identifiers (Assigned Numbers §7.1) and the bytes after them. A company may occur repeatedly.
  public var manufacturerData: [(company: UInt16, bytes: [UInt8])] { advertisement.manufacturerData.map { ($0.company, $0.data) } }

  /// The service data: UUIDs as text, and the bytes after them.
  public var serviceData: [(service: String, bytes: [UInt8])] { advertisement.serviceData.map { ($0.uuid.description, $0.data) } }

  /// The transmit power in dBm, −127…127. Nil if the advertisement does not tell.
  public var txPower: Int? { (report.txPower ?? advertisement.txPower).map(Int.init) }

  /// The address and the name, with bytes of the name that a terminal may not show as escapes.
  public var description: String { "\(peripheral)" + (name.map { " \(UntrustedText($0))" } ?? "") }
}

/// The advertisements of a scan. Each iteration is a scan of its own, which ends with the iteration. Scans of one adapter run side by side.
///
/// A scan has no end: leave the loop with `break`, or cancel the task. It reports each advertisement, also the repetitions of one device.
public struct Advertisements: AsyncSequence, Sendable {
  /// Whether a scan asks devices for their scan responses.
  public enum Mode: Sendable {
    /// The scan only listens.
    case passive
    /// The scan sends scan requests, which tells devices that somebody scans.
    case active
  }

  let adapter: Adapter
  let parameters: ScanParameters

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// One scan.
  public struct Iterator: AsyncIteratorProtocol {
    private let reports: CallQueue<Discovery>.Reader

    init(_ scan: Advertisements) {
      let adapter = scan.adapter
      let queue = CallQueue<Discovery>(of: adapter, Endings()) { queue in
        let central = try await adapter.session.central()
        let resolver = try await adapter.session.resolver()
        var names = HeardNames()
        try await central.listen(scan.parameters, for: nil, resolving: resolver) { report, time in
          guard let peer = report.peer else { return .goOn }
          let name = names.name(of: peer, Advertisement(report.data))
          queue.add(
            Discovery(
              report: report, name: name?.raw, peripheral: Peripheral(peer, name: name), time: .nanoseconds(time), missed: queue.dropped))
          return .goOn
        }
      }
      reports = CallQueue.Reader(queue)
    }

    /// Waits for the next advertisement. Advertisements wait while the caller works: up to 16,384 of them. ``Discovery/missed`` counts the
    /// others.
    /// - Throws: ``BluetoothError``, CancellationError.
    public mutating func next() async throws -> Discovery? { try await reports.next() }
  }
}

/// The names of the devices that a scan heard, because an advertisement without a name may follow one with a name.
private struct HeardNames {
  private var names: [PeerAddress: UntrustedText] = [:]
  /// The limit bounds the memory of a scan of days.
  private var order = RecentSet<PeerAddress>(capacity: 4096)

  mutating func name(of peer: PeerAddress, _ advertisement: Advertisement) -> UntrustedText? {
    guard let name = advertisement.displayName else { return names[peer] }
    if let forgotten = order.insert(peer).forgotten { names[forgotten] = nil }
    names[peer] = name
    return name
  }
}
