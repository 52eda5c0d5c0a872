// SPDX-License-Identifier: Apache-2.0
/// A search for MACs in many advertisements. Returns each MAC once, or once per line of input, and explains a search without a result.
package struct MACSearch {
  package enum Way: Sendable, Equatable {
    /// The search applies these rules.
    case rules([MACRule])
    /// The search finds the places of an address. Nil for the sender's own address.
    case learn(Address? = nil)
  }

  private struct Identity: Hashable {
    let mac: String
    let sender: PeerAddress?
    let rule: String
    let line: Int?
  }

  private let way: Way
  /// The minimum confidence of returned MACs.
  private let leastConfidence: FoundMAC.Confidence
  /// The first of the most reliable MACs below `leastConfidence`. Nil if no MAC is below it.
  private var unsure: FoundMAC?
  /// The first malformed advertisement before any MAC, with its line number from 1. Nil without a malformed advertisement.
  private var malformed: (MalformedPacket, line: Int?)?
  private var known = RecentSet<Identity>(capacity: 50_000)
  private var advertisements = 0
  private var reason: String?
  private var lacksSender = false
  /// The most address bits that the search has found in the data of each sender, to return only better places of a given address.
  private var best: [PeerAddress: Int] = [:]
  /// The last four payloads of each sender. Empty if each line of input is independent.
  private var payloads: [PeerAddress: [[UInt8]]] = [:]
  /// The number of MACs that the search has returned.
  package private(set) var found = 0

  package init(_ way: Way = .rules(MACRule.known), leastConfidence: FoundMAC.Confidence = .low) {
    self.way = way
    self.leastConfidence = leastConfidence
  }

  /// Adds an advertisement or a scan response. Returns the MACs that the search has not returned before.
  /// - Parameters:
  ///   - data: The AD structures.
  ///   - line: The number of the input line, from 1, if each line is independent. Nil for a scan.
  package mutating func add(_ data: [UInt8], sender: PeerAddress?, line: Int? = nil) -> [FoundMAC] {
    advertisements += 1
    let advertisement = Advertisement(data)
    if found == 0, malformed == nil, let error = advertisement.errors.first { malformed = (error, line) }
    switch way {
    case .learn(let label):
      if label == nil, sender == nil {
        lacksSender = true
        return []
      }
      let macs = MACFinder.learn(in: advertisement, sender: sender?.address, label: label)
      guard label != nil, let sender, line == nil else { return macs.filter { take($0, sender: sender, line: line) } }
      if best.count >= 10_000, best[sender] == nil { best = [:] }
      let known = best[sender, default: 0]
      guard let mac = macs.max(by: { $0.knownBits.nonzeroBitCount < $1.knownBits.nonzeroBitCount }),
        mac.knownBits.nonzeroBitCount > known, take(mac, sender: sender)
      else {
        best[sender] = known
        return []
      }
      best[sender] = mac.knownBits.nonzeroBitCount
      return [mac]
    case .rules(let rules):
      let others = line == nil ? heard(beside: data, of: sender) : []
      switch MACFinder.find(in: advertisement, beside: others, sender: sender, rules: rules) {
      case .found(let macs): return macs.filter { take($0, sender: sender, line: line) }
      case .noneInThisFrame(let reason):
        self.reason = self.reason ?? reason
        return []
      case .unknown: return []
      }
    }
  }

  /// Returns the sender's other payloads and remembers `data`. One payload may lack the room for both an iBeacon and its service data.
  private mutating func heard(beside data: [UInt8], of sender: PeerAddress?) -> [Advertisement] {
    guard let sender else { return [] }
    if payloads.count >= 1000, payloads[sender] == nil { payloads = [:] }
    let known = payloads[sender, default: []]
    if !known.contains(data) { payloads[sender] = known.suffix(3) + [data] }
    return known.filter { $0 != data }.map { Advertisement($0) }
  }

  /// Adds a MAC from another source, for example a System ID.
  /// - Returns: False if the search returned the MAC before, or if the MAC is below the minimum confidence.
  package mutating func take(_ mac: FoundMAC, sender: PeerAddress?, line: Int? = nil) -> Bool {
    guard mac.confidence >= leastConfidence else {
      if unsure.map({ $0.confidence < mac.confidence }) ?? true { unsure = mac }
      return false
    }
    guard known.insert(Identity(mac: mac.text, sender: sender, rule: mac.rule, line: line)).isNew else { return false }
    found += 1
    return true
  }

  /// Ends the search.
  /// - Throws: The value of `problem` if the search found no MAC.
  package func finish() throws(MACSearchError) { if let problem { throw problem } }

  /// The reason why the search found no MAC. Nil if the search found a MAC.
  package var problem: MACSearchError? {
    guard found == 0 else { return nil }
    if let unsure { return .notSureEnough(unsure) }
    if lacksSender { return .senderUnknown }
    if let reason { return .noneInThisFrame(reason) }
    if advertisements == 0 { return .nothingHeard }
    if let malformed { return .malformed(malformed.0, line: malformed.line) }
    return switch way {
    case .learn(nil): .senderNotInData(advertisements: advertisements)
    case .learn(let label?): .notInData(label, advertisements: advertisements, devices: best.count)
    case .rules(let rules): .noRuleFits(rules == MACRule.known ? [] : rules.map(\.description), advertisements: advertisements)
    }
  }
}

package enum MACSearchError: Error, Sendable, Equatable {
  case nothingHeard
  /// A known layout applies, but has no address. The text gives the source and the reason, as part of a sentence.
  case noneInThisFrame(String)
  /// No rule matches any of `advertisements` advertisements. The list has the user's rules, or is empty for the known layouts.
  case noRuleFits([String], advertisements: Int)
  /// Every MAC is below the minimum confidence. The value is the most reliable MAC.
  case notSureEnough(FoundMAC)
  /// No rule matches, and an advertisement is not a list of AD structures. The line number counts from 1, and is nil for a scan.
  case malformed(MalformedPacket, line: Int?)
  /// Learning a layout needs the sender's address, which is unknown.
  case senderUnknown
  case senderNotInData(advertisements: Int)
  /// No data has the address that the user named. `devices` is 0 for lines of input, whose senders the search does not count.
  case notInData(Address, advertisements: Int, devices: Int)
  /// The System ID (0x2A23) of the peer has no address.
  case noneInSystemID([UInt8], of: PeerAddress)
}
