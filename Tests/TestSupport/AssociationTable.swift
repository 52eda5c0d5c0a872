package import BluetoothLE

/// The methods of Vol 3 Part H Table 2.8, as the specification prints them.
package enum AssociationTable {
  /// A row for each responder, a column for each initiator, both in the order of the numbers of IO capabilities.
  /// J: Just Works. N: Numeric Comparison. i, r: the initiator or the responder displays the passkey. b: the user enters it on both.
  private static let legacy = ["JJrJr", "JJrJr", "iibJi", "JJJJJ", "iirJi"].map(Array.init)
  private static let secure = ["JJrJr", "JNrJN", "iibJi", "JJJJJ", "iNrJN"].map(Array.init)

  /// Returns the method for the numbers of two IO capabilities.
  /// - Parameter mitm: Whether one of the devices requests protection against an attacker in the middle.
  package static func method(initiator: Int, responder: Int, mitm: Bool, isSecure: Bool) -> PairingMethod {
    guard mitm else { return .justWorks }
    switch (isSecure ? secure : legacy)[responder][initiator] {
    case "N": return .numericComparison
    case "i": return .passkeyEntry(displayedBy: .central)
    case "r": return .passkeyEntry(displayedBy: .peripheral)
    case "b": return .passkeyEntry(displayedBy: nil)
    default: return .justWorks
    }
  }
}
