// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The number of a user, as this process sees it.
///
/// In a user namespace of its own (container), the process sees all users of other namespaces as 65534 (user_namespaces(7)).
package struct UserNumber: Equatable, Sendable, CustomStringConvertible {
  package let rawValue: UInt32
  /// Whether the number may stand for any user outside the user namespace of this process.
  package let isAmbiguous: Bool

  /// - Parameter isNamespaceInitial: Whether this process is in the user namespace of the machine, where 65534 is one user like all others.
  package init(_ number: UInt32, isNamespaceInitial: @autoclosure () -> Bool = Self.isNamespaceInitial) {
    rawValue = number
    isAmbiguous = number == 65_534 && !isNamespaceInitial()
  }

  /// PROC_USER_INIT_INO of linux/proc_ns.h: the initial user namespace.
  package static var isNamespaceInitial: Bool { SystemCall.status(of: "/proc/self/ns/user")?.st_ino == 0xEFFF_FFFD }

  package var description: String { isAmbiguous ? "a user outside this user namespace (\(rawValue))" : "user \(rawValue)" }

  /// Whether the user may see the secrets of our user: the same user, root, or the user who runs this process through sudo.
  /// - Parameters:
  ///   - user: The number of our user.
  ///   - sudo: The value of SUDO_UID, which counts only for root. Other users can set it.
  package func isTrusted(by user: UInt32 = geteuid(), sudo: String?) -> Bool {
    !isAmbiguous && (rawValue == user || rawValue == 0 || user == 0 && sudo == "\(rawValue)")
  }
}
