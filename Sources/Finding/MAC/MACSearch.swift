package import Bluetooth
import GAP

/// Looks for MACs in one advertisement after the other, gives out each once (of every line of input, where they come from lines), and knows
/// why there was none.
package struct MACSearch {
  package enum Way: Sendable, Equatable {
    /// By these rules.
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
  /// What is less sure is not given out.
  private let leastConfidence: FoundMAC.Confidence
  /// The surest of what was not sure enough; of several the first.
  private var unsure: FoundMAC?
  /// The first advertisement that cannot be read to its end, and the line that it stood on.
  private var malformed: (MalformedPacket, line: Int?)?
  private var known = RecentSet<Identity>(capacity: 50_000)
  private var advertisements = 0
  private var reason: String?
  private var lacksSender = false
  /// The last payloads of each sender, where one line of input does not stand for itself.
  private var payloads: [PeerAddress: [[UInt8]]] = [:]
  /// How many were given out.
  package private(set) var found = 0

  package init(_ way: Way = .rules(MACRule.known), leastConfidence: FoundMAC.Confidence = .low) {
    self.way = way
    self.leastConfidence = leastConfidence
  }

  /// - Parameters:
  ///   - data: of one advertisement or scan response, AD structures.
  ///   - line: of the input, where each line stands for itself.
  /// - Returns: the MACs that were not given out before.
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

  /// What else the sender sent: an iBeacon leaves no room for the service data that belong to it.
  private mutating func heard(beside data: [UInt8], of sender: PeerAddress?) -> [Advertisement] {
    guard let sender else { return [] }
    if payloads.count >= 1000, payloads[sender] == nil { payloads = [:] }
    let known = payloads[sender, default: []]
    if !known.contains(data) { payloads[sender] = known.suffix(3) + [data] }
    return known.filter { $0 != data }.map { Advertisement($0) }
  }

  /// One that came from elsewhere, a System ID for example.
  /// - Returns: false when it was given out before, or is not sure enough.
  package mutating func take(_ mac: FoundMAC, sender: PeerAddress?, line: Int? = nil) -> Bool {
    guard mac.confidence >= leastConfidence else {
      if unsure.map({ $0.confidence < mac.confidence }) ?? true { unsure = mac }
      return false
    }
    guard known.insert(Identity(mac: mac.text, sender: sender, rule: mac.rule, line: line)).isNew else { return false }
    found += 1
    return true
  }

  /// - Throws: why there was none.
  package func finish() throws(MACSearchError) { if let problem { throw problem } }

  /// Why there was none; nil when there was one.
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
  /// The layout says itself that there is none: why, as half a sentence with its source.
  case noneInThisFrame(String)
  /// The user's rules; none for the known layouts.
  case noRuleFits([String], advertisements: Int)
  /// There was one, and less sure than was asked for; of several the surest.
  case notSureEnough(FoundMAC)
  /// No rule fits, and here is data that is no list of AD structures.
  case malformed(MalformedPacket, line: Int?)
  /// To learn where an address is one has to know it.
  case senderUnknown
  case senderNotInData(advertisements: Int)
  /// The System ID (0x2A23) of the peer.
  case noneInSystemID([UInt8], of: PeerAddress)
}
