package import Bluetooth
import GAP

/// Looks for MACs in one advertisement after the other, gives out each once, and knows why there was none.
package struct MACSearch {
  package enum Way: Sendable, Equatable {
    /// By these rules.
    case rules([MACRule])
    /// Where the sender's own address occurs.
    case learn
  }

  private struct Identity: Hashable {
    let mac: String
    let sender: PeerAddress?
    let rule: String
  }

  private let way: Way
  private var known = RecentSet<Identity>(capacity: 50_000)
  private var advertisements = 0
  private var reason: String?
  private var lacksSender = false
  /// How many were given out.
  package private(set) var found = 0

  package init(_ way: Way = .rules(MACRule.known)) { self.way = way }

  /// - Parameter data: of one advertisement or scan response, AD structures.
  /// - Returns: the MACs that were not given out before.
  package mutating func add(_ data: [UInt8], sender: PeerAddress?) -> [FoundMAC] {
    advertisements += 1
    let advertisement = Advertisement(data)
    switch way {
    case .learn:
      guard let sender else {
        lacksSender = true
        return []
      }
      return MACFinder.learn(in: advertisement, sender: sender.address).filter { take($0, sender: sender) }
    case .rules(let rules):
      switch MACFinder.find(in: advertisement, sender: sender, rules: rules) {
      case .found(let macs): return macs.filter { take($0, sender: sender) }
      case .noneInThisFrame(let reason):
        self.reason = self.reason ?? reason
        return []
      case .unknown: return []
      }
    }
  }

  /// One that came from elsewhere, a System ID for example. - Returns: false when it was given out before.
  package mutating func take(_ mac: FoundMAC, sender: PeerAddress?) -> Bool {
    guard known.insert(Identity(mac: mac.text, sender: sender, rule: mac.rule)).isNew else { return false }
    found += 1
    return true
  }

  /// Why there was none.
  /// - Throws: MACSearchError when nothing was found.
  package func finish() throws(MACSearchError) {
    guard found == 0 else { return }
    if lacksSender { throw .senderUnknown }
    if let reason { throw .noneInThisFrame(reason) }
    if advertisements == 0 { throw .nothingHeard }
    throw way == .learn ? .senderNotInData(advertisements: advertisements) : .noRuleFits(advertisements: advertisements)
  }
}

package enum MACSearchError: Error, Sendable, Equatable {
  case nothingHeard
  /// The layout says itself that there is none: why, as half a sentence with its source.
  case noneInThisFrame(String)
  case noRuleFits(advertisements: Int)
  /// To learn where an address is one has to know it.
  case senderUnknown
  case senderNotInData(advertisements: Int)
  /// The System ID (0x2A23) of the peer.
  case noneInSystemID([UInt8], of: PeerAddress)
}
