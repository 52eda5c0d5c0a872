package import Bluetooth
import GAP

/// Searches advertisements for MACs. Returns each MAC once, or once per line of input, and knows the reason if there is none.
package struct MACSearch {
  package enum Way: Sendable, Equatable {
    /// Applies these rules.
    case rules([MACRule])
    /// Finds the places where the sender's own address occurs.
    case learn
  }

  private struct Identity: Hashable {
    let mac: String
    let sender: PeerAddress?
    let rule: String
    let line: Int?
  }

  private let way: Way
  /// The lowest confidence of returned MACs.
  private let leastConfidence: FoundMAC.Confidence
  /// The most reliable MAC below `leastConfidence`, the first of several.
  private var unsure: FoundMAC?
  /// The first malformed advertisement, and its line.
  private var malformed: (MalformedPacket, line: Int?)?
  private var known = RecentSet<Identity>(capacity: 50_000)
  private var advertisements = 0
  private var reason: String?
  private var lacksSender = false
  /// The last payloads of each sender, unless each line of input is independent.
  private var payloads: [PeerAddress: [[UInt8]]] = [:]
  /// The number of returned MACs.
  package private(set) var found = 0

  package init(_ way: Way = .rules(MACRule.known), leastConfidence: FoundMAC.Confidence = .low) {
    self.way = way
    self.leastConfidence = leastConfidence
  }

  /// Adds an advertisement or a scan response. Returns the MACs that the search has not returned before.
  /// - Parameters:
  ///   - data: The AD structures.
  ///   - line: The line of the input if each line is independent.
  package mutating func add(_ data: [UInt8], sender: PeerAddress?, line: Int? = nil) -> [FoundMAC] {
    advertisements += 1
    let advertisement = Advertisement(data)
    if found == 0, malformed == nil, let error = advertisement.errors.first { malformed = (error, line) }
    switch way {
    case .learn:
      guard let sender else {
        lacksSender = true
        return []
      }
      return MACFinder.learn(in: advertisement, sender: sender.address).filter { take($0, sender: sender, line: line) }
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

  /// Returns the sender's other payloads: an iBeacon, for example, leaves no room for its service data.
  private mutating func heard(beside data: [UInt8], of sender: PeerAddress?) -> [Advertisement] {
    guard let sender else { return [] }
    if payloads.count >= 1000, payloads[sender] == nil { payloads = [:] }
    let known = payloads[sender, default: []]
    if !known.contains(data) { payloads[sender] = known.suffix(3) + [data] }
    return known.filter { $0 != data }.map { Advertisement($0) }
  }

  /// Adds a MAC from elsewhere, for example a System ID.
  /// - Returns: False if the search returned it before, or if it is not reliable enough.
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
  /// - Throws: The reason if the search found no MAC.
  package func finish() throws(MACSearchError) { if let problem { throw problem } }

  /// The reason why the search found no MAC. Nil if it found one.
  package var problem: MACSearchError? {
    guard found == 0 else { return nil }
    if let unsure { return .notSureEnough(unsure) }
    if lacksSender { return .senderUnknown }
    if let reason { return .noneInThisFrame(reason) }
    if advertisements == 0 { return .nothingHeard }
    if let malformed { return .malformed(malformed.0, line: malformed.line) }
    return switch way {
    case .learn: .senderNotInData(advertisements: advertisements)
    case .rules(let rules): .noRuleFits(rules == MACRule.known ? [] : rules.map(\.description), advertisements: advertisements)
    }
  }
}

package enum MACSearchError: Error, Sendable, Equatable {
  case nothingHeard
  /// The layout itself excludes an address. Holds the reason with its source, as part of a sentence.
  case noneInThisFrame(String)
  /// No rule matches. Holds the user's rules, or nothing for the known layouts.
  case noRuleFits([String], advertisements: Int)
  /// Every MAC was less reliable than requested. Holds the best one.
  case notSureEnough(FoundMAC)
  /// No rule matches, and some data is not a list of AD structures.
  case malformed(MalformedPacket, line: Int?)
  /// Learning a layout needs the sender's address, which is unknown.
  case senderUnknown
  case senderNotInData(advertisements: Int)
  /// The System ID (0x2A23) of the peer has no address.
  case noneInSystemID([UInt8], of: PeerAddress)
}
