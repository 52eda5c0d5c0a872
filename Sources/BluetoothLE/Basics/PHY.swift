/// An LE physical layer. The raw value is the number in HCI reports and LE Read PHY (Vol 4 Part E §7.7.65.12).
package enum PHY: UInt8, Sendable, Hashable, CaseIterable {
  case le1M = 1
  case le2M = 2
  case coded = 3

  /// The name of the PHY for users and JSON: `1m`, `2m`, `coded`.
  package var name: String {
    switch self {
    case .le1M: "1m"
    case .le2M: "2m"
    case .coded: "coded"
    }
  }

  package init?(name: some StringProtocol) {
    guard let phy = Self.allCases.first(where: { $0.name == name.lowercased() }) else { return nil }
    self = phy
  }
}
