// SPDX-License-Identifier: Apache-2.0
/// An LE physical layer. The raw value is the number in HCI reports and LE Read PHY (Vol 4 Part E §7.7.65.12).
public enum PHY: UInt8, Sendable, Hashable, CaseIterable {
  /// LE 1M, which every device supports.
  case le1M = 1
  /// LE 2M: twice the rate.
  case le2M = 2
  /// LE Coded: about four times the range.
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
