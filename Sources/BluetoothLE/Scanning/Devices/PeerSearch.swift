// SPDX-License-Identifier: Apache-2.0
/// The device that a search looks for, and the rules for choosing among several matches.
package struct PeerSearch: Sendable, Equatable {
  package var selector: PeerSelector
  /// Whether to take the first match instead of waiting for a stronger match.
  package var takesFirst = false
  /// Whether to fail if several devices match. The search waits for a second match as long as for a stronger match.
  package var demandsOne = false
  /// Whether to stop at the first match and take the strongest match so far. A device may advertise for less than a second.
  package var isUrgent = false
  /// The device to take immediately if it matches. Nil if no device is preferred.
  package var preferred: PeerAddress?
  /// The bonds of the adapter. The plain name of one means the bonded device, which the search also finds without an advertised name.
  package var bonds: [StoredBond] = []
  /// The maximum duration of the search, from the moment at which the controller starts to listen.
  package var limit: Duration

  package init(_ selector: PeerSelector, takesFirst: Bool = false, demandsOne: Bool = false, limit: Duration = PeerSearch.usualLimit) {
    (self.selector, self.takesFirst, self.demandsOne, self.limit) = (selector, takesFirst, demandsOne, limit)
  }

  /// The default time limit. It exceeds the longest legal advertising interval (Vol 6 Part B §4.4.2.2), 10.24 s and 10 ms of advDelay.
  package static let usualLimit = Duration.seconds(11)

  /// The time to wait for a stronger match after the first match. It exceeds the usual slow advertising interval.
  static let settling = Duration.milliseconds(1300)

  /// The time to wait for a bonded device after another device of its name.
  static let patience = Duration.seconds(3)
}

/// A device that has the name of a bonded device, but not its address.
package struct Namesake: Sendable, Equatable {
  package let peer: PeerAddress
  /// The identity addresses of the bonded devices with the name. Never empty.
  package let bonded: [PeerAddress]
  /// Whether the device may be a bonded one with a new address: no key (IRK) of the bond recognizes it.
  package let mayBeBonded: Bool

  /// Creates the namesake of the bonded devices. Nil if the device is one of them, or if there is none.
  init?(_ device: DeviceView, of bonds: [StoredBond]) {
    guard !bonds.isEmpty, !bonds.contains(where: { $0.bond.identity == device.identityAddress }) else { return nil }
    peer = device.peer
    bonded = bonds.map(\.bond.identity)
    mayBeBonded = bonds.contains { $0.bond.irk == nil && !($0.bond.identity.isIdentity && device.peer.isIdentity) }
  }
}

/// The device that a search found, and the weaker devices that also match.
package struct PeerMatch: Sendable, Equatable {
  package struct Candidate: Sendable, Equatable {
    package let peer: PeerAddress
    /// The RSSI of the device's last report in dBm. Nil if no report had an RSSI.
    package let rssi: Int8?

    package init(peer: PeerAddress, rssi: Int8?) { (self.peer, self.rssi) = (peer, rssi) }
  }

  package let peer: PeerAddress
  /// The identity address if a bond resolves the device's address. Otherwise, the device's address.
  package let identity: PeerAddress
  /// The advertised name, else the name in the bond with the device. Nil if there is neither.
  package let name: UntrustedText?
  /// The bonded devices whose name the device has. Nil if it has no such name, or is one of them.
  package let namesake: Namesake?
  /// The RSSI of the device's last report in dBm. Nil if no report had an RSSI.
  package let rssi: Int8?
  /// The weaker devices that also match, the strongest first.
  package let others: [Candidate]
  /// The last advertising data of each PDU type, advertisements before scan responses.
  package let payloads: [[UInt8]]
  /// The times of the first matching and the last report, in nanoseconds since 1970-01-01T00:00:00Z. Nil without a scan.
  package let heard: ClosedRange<Int64>?
}

package enum PeerSearchError: Error, Sendable, Equatable {
  /// No device matched in the time `within`. `devices` is the number of heard devices, and `names` has each of their names once.
  /// `bonded` has the identity addresses of the bonded devices that the selector means.
  case notFound(PeerSelector, devices: Int, names: [UntrustedText], within: Duration, bonded: [PeerAddress] = [])
  /// The selector means a bonded device, but only another device of its name advertised.
  case namesake(Namesake, PeerSelector)
  /// Several devices match, but the search demands a single match. The strongest device comes first.
  case several([PeerMatch.Candidate], PeerSelector)
  /// The matching device advertises, but accepts no connections.
  case notConnectable(PeerAddress, PeerSelector)
}

extension PeerSearchError: PassingError { package var mayPass: Bool { true } }

extension Central {
  /// Finds the device that a search selects. Scans, unless the address type is known or the adapter is already connected to the address.
  /// - Parameters:
  ///   - onDevice: Receives the number of devices heard so far, after each report.
  ///   - onNamesake: Receives another device of the bonded device's name if the search goes on nevertheless.
  ///   - heard: Receives all heard devices at the end of the search, also if no device matches.
  /// - Throws: `PeerSearchError`, the error of the scan, or `CancellationError`.
  package func find(
    _ search: PeerSearch, onDevice: (@LoopActor (Int) -> Void)? = nil, onNamesake: (@LoopActor (Namesake) -> Void)? = nil,
    heard: (@LoopActor ([DeviceView]) -> Void)? = nil
  ) async throws -> PeerMatch {
    let keys = search.bonds.identityKeys
    let resolver = keys.isEmpty ? nil : IdentityResolver(keys)
    // An earlier private address of a bonded device means the device.
    let selector = search.selector.identified { resolver?.identity(of: $0)?.address }
    if case .address(let address, let type) = selector {
      let isChanging = resolver?.mayHide(address) ?? false
      if let peer = isChanging ? connectedPeer(address) : type.map({ PeerAddress(address, $0) }) ?? connectedPeer(address) {
        return PeerMatch(peer: peer, identity: peer, name: nil, namesake: nil, rssi: nil, others: [], payloads: [], heard: nil)
      }
    }
    var candidates = PeerCandidates(selector, search.bonds, takesFirst: search.takesFirst)
    var namesake: Namesake?
    defer { heard?(Array(candidates.devices.values)) }
    try await listen(ScanParameters(), for: search.limit, resolving: resolver) { report, time in
      let isMatch = candidates.add(report, at: time)
      onDevice?(candidates.devices.count)
      guard isMatch else { return .goOn }
      if let peer = report.peer, peer == search.preferred { return .end }
      if let other = candidates.namesake(report) {
        guard search.isUrgent else { return .endAfter(PeerSearch.patience) }
        if namesake == nil { onNamesake?(other) }
        namesake = other
        return .goOn
      }
      // Not inside `||`: release builds of Swift 6.3 take its right side for a concurrent use.
      let isUnique = candidates.isUnique
      return search.takesFirst || isUnique && !search.demandsOne
        ? .end
        : .endAfter(search.isUrgent && !search.demandsOne ? .zero : PeerSearch.settling)
    }
    let match = try candidates.best(within: search.limit, preferring: search.preferred)
    guard !search.demandsOne || match.others.isEmpty || match.peer == search.preferred else {
      throw PeerSearchError.several([PeerMatch.Candidate(peer: match.peer, rssi: match.rssi)] + match.others, search.selector)
    }
    return match
  }
}

/// The devices that a search has heard, and the matches among them.
struct PeerCandidates {
  private let selector: PeerSelector
  private let bonds: [StoredBond]
  /// The bonds with the devices that a plain name means. Empty for another selector.
  private let meant: [StoredBond]
  /// All heard devices, including devices that do not match.
  private(set) var devices: [PeerAddress: DeviceView] = [:]
  private var matching: [PeerAddress: ClosedRange<Int64>] = [:]
  /// The addresses in the order of their first reports. The limit bounds the memory of a search that lasts for hours.
  private var order = RecentSet<PeerAddress>(capacity: 20_000)

  init(_ selector: PeerSelector, _ bonds: [StoredBond] = [], takesFirst: Bool = false) {
    (self.selector, self.bonds) = (selector, bonds)
    meant = takesFirst ? [] : bonds.filter { selector.isName(of: $0) }
  }

  /// Whether a single device can match. The name of one bond means its device.
  var isUnique: Bool { selector.isUnique || meant.count == 1 }

  /// Returns the device of a report, if the selector means bonded devices of its name instead.
  func namesake(_ report: AdvertisingReport) -> Namesake? {
    report.peer.flatMap { devices[$0] }.flatMap { Namesake($0, of: meant) }
  }

  private func bondedName(of device: DeviceView) -> UntrustedText? {
    bonds.first { $0.bond.identity == device.identityAddress }?.name.map { UntrustedText($0) }
  }

  /// Adds a report. Returns whether the report completes a new match that accepts connections.
  /// - Parameter time: The arrival time in nanoseconds since 1970-01-01T00:00:00Z.
  mutating func add(_ report: AdvertisingReport, at time: Int64) -> Bool {
    guard let peer = report.peer else { return false }
    if let forgotten = order.insert(peer).forgotten {
      devices[forgotten] = nil
      matching[forgotten] = nil
    }
    var device = devices[peer] ?? DeviceView(peer)
    let known = device.payloads[report.pdu] == report.data && device.isConnectable
    device.add(report, Advertisement(report.data))
    devices[peer] = device
    let first = matching[peer]?.lowerBound
    if let first { matching[peer] = first...max(first, time) }
    if known, first != nil { return false }
    guard selector.matches(device) || selector.means(peer, named: bondedName(of: device)) else { return false }
    if first == nil { matching[peer] = time...time }
    return device.isConnectable && (first == nil || !known)
  }

  func best(within limit: Duration, preferring preferred: PeerAddress? = nil) throws(PeerSearchError) -> PeerMatch {
    var matches = matching.keys.compactMap { devices[$0] }.sorted {
      if ($0.peer == preferred) != ($1.peer == preferred) { return $0.peer == preferred }
      let (left, right) = ($0.rssi ?? -128, $1.rssi ?? -128)
      return left == right ? $0.peer.address.rawValue < $1.peer.address.rawValue : left > right
    }
    if let other = matches.lazy.compactMap({ Namesake($0, of: meant) }).first {
      matches.removeAll { Namesake($0, of: meant) != nil }
      if matches.isEmpty { throw .namesake(other, selector) }
    }
    let connectable = matches.filter(\.isConnectable)
    guard let best = connectable.first else {
      if let deaf = matches.first { throw .notConnectable(deaf.peer, selector) }
      let names = Set(devices.values.compactMap(\.name)).sorted { $0.raw < $1.raw }
      throw .notFound(selector, devices: devices.count, names: names, within: limit, bonded: meant.map(\.bond.identity))
    }
    let named = best.name.map { PeerSelector.name(Glob.literal($0.raw)) }
    return PeerMatch(
      peer: best.peer, identity: best.identityAddress, name: best.name ?? bondedName(of: best),
      namesake: Namesake(best, of: bonds.filter { named?.isName(of: $0) ?? false }), rssi: best.rssi,
      others: connectable.dropFirst().map { PeerMatch.Candidate(peer: $0.peer, rssi: $0.rssi) },
      payloads: best.payloadsInOrder.map(\.data), heard: matching[best.peer])
  }
}
