// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc

/// Raises and drops CAP_NET_ADMIN and CAP_NET_RAW, the capabilities of the program's file (capabilities(7)).
///
/// The file has both capabilities as permitted only (`=p`). If they were effective, the kernel would refuse to start the program where
/// the bounding set lacks them, as in most containers (EPERM). Root keeps its capabilities.
package enum Capabilities {
  /// A Linux capability. The raw value is its bit number in the masks.
  package enum Capability: Int, Sendable {
    case netAdmin = 12
    case netRaw = 13
  }

  private static let ours = bit(.netAdmin) | bit(.netRaw)

  /// Runs `body` with a capability effective, if the process has it as permitted. Only the calling thread gets the capability.
  package static func raised<T: ~Copyable, E: Error>(_ capability: Capability, _ body: () throws(E) -> T) throws(E) -> T {
    let bit = bit(capability)
    let isRaised = change { $0.effective |= $0.permitted & bit }
    defer { if isRaised { change { $0.effective &= ~bit } } }
    return try body()
  }

  /// Clears CAP_NET_ADMIN and CAP_NET_RAW in the effective and inheritable sets, so that child processes do not get them.
  package static func lower() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
    }
  }

  /// Drops CAP_NET_ADMIN and CAP_NET_RAW permanently for the calling thread. Call this function before there is a second thread.
  package static func drop() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
      $0.permitted &= ~ours
    }
  }

  /// Whether this thread has a capability from the program's file, which the user who started the program may lack.
  package static var areHeld: Bool {
    var sets = shim_capabilities()
    return unsafe shim_is_secure() != 0 && shim_get_capabilities(&sets) == 0 && sets.first.permitted & ours != 0
  }

  private static func bit(_ capability: Capability) -> UInt32 { 1 << UInt32(capability.rawValue) }

  /// Changes this thread's capability sets. Returns whether they changed.
  @discardableResult
  private static func change(_ change: (inout __user_cap_data_struct) -> Void) -> Bool {
    var sets = shim_capabilities()
    guard unsafe shim_get_capabilities(&sets) == 0 else { return false }
    let before = sets.first
    change(&sets.first)
    let now = sets.first
    if now.effective == before.effective, now.permitted == before.permitted, now.inheritable == before.inheritable { return false }
    return unsafe shim_set_capabilities(&sets) == 0
  }
}
