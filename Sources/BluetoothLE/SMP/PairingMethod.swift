// SPDX-License-Identifier: Apache-2.0
/// The role of a device on a link. The central is the initiator of a pairing, the peripheral is the responder (Vol 3 Part H §2.3).
package enum LinkRole: Sendable, CaseIterable {
  case central, peripheral

  package var other: LinkRole { self == .central ? .peripheral : .central }
}

/// The method with which two devices authenticate each other (Vol 3 Part H §2.3.5.1).
package enum PairingMethod: Hashable, Sendable {
  /// A pairing without a check. An attacker in the middle remains unnoticed.
  case justWorks
  /// Users check that both devices display the same number. LE Secure Connections only.
  case numericComparison
  /// One device displays a passkey, and the user enters it on the other. Nil: the user enters the same passkey on both.
  case passkeyEntry(displayedBy: LinkRole?)

  /// Whether the method detects an attacker in the middle.
  package var isAuthenticated: Bool { self != .justWorks }

  /// Whether a passkey is used. The method then fails for a wrong passkey.
  package var usesPasskey: Bool { if case .passkeyEntry = self { true } else { false } }

  /// The name of the method in JSON: `just_works`, `numeric_comparison` or `passkey`.
  package var snakeName: String {
    switch self {
    case .justWorks: "just_works"
    case .numericComparison: "numeric_comparison"
    case .passkeyEntry: "passkey"
    }
  }

  /// Selects the method from the capabilities of both devices (Vol 3 Part H Table 2.8).
  /// - Parameter mitm: Whether one of the devices requests protection against an attacker in the middle.
  package init(initiator: IOCapability, responder: IOCapability, mitm: Bool, secureConnections: Bool) {
    guard mitm else {
      self = .justWorks
      return
    }
    switch (initiator, responder) {
    case (.noInputNoOutput, _), (_, .noInputNoOutput): self = .justWorks
    case (.keyboardOnly, .keyboardOnly): self = .passkeyEntry(displayedBy: nil)
    case (.keyboardOnly, _): self = .passkeyEntry(displayedBy: .peripheral)
    case (_, .keyboardOnly): self = .passkeyEntry(displayedBy: .central)
    case _ where secureConnections && initiator != .displayOnly && responder != .displayOnly: self = .numericComparison
    case (_, .keyboardDisplay): self = .passkeyEntry(displayedBy: .central)
    case (.keyboardDisplay, _): self = .passkeyEntry(displayedBy: .peripheral)
    default: self = .justWorks
    }
  }
}

extension IOCapability {
  /// Returns whether an initiator with this capability may pair by a method that fits, with some responder.
  package func mayLead(to fits: (PairingMethod) -> Bool) -> Bool {
    Self.allCases.contains { responder in
      [true, false].contains { fits(PairingMethod(initiator: self, responder: responder, mitm: true, secureConnections: $0)) }
    }
  }
}

/// A passkey, or a number that users compare: six decimal digits.
package struct SixDigits: Hashable, Sendable, CustomStringConvertible {
  package let number: UInt32

  /// Creates a number of six digits. Nil above 999,999.
  package init?(_ number: UInt32) {
    guard number < 1_000_000 else { return nil }
    self.number = number
  }

  /// Parses exactly six digits.
  package init?(_ text: String) {
    guard text.utf8.count == 6, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt32(text)
    else { return nil }
    self.number = number
  }

  /// Creates a number from the last six digits of a longer one.
  package init(lastOf number: UInt32) { self.number = number % 1_000_000 }

  /// The six digits, with leading zeros.
  package var description: String { String("000000\(number)".suffix(6)) }
}
