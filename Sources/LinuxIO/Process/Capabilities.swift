import CLinux
import Glibc

/// Raises and drops the capabilities of this program's file (capabilities(7)): CAP_NET_ADMIN and CAP_NET_RAW.
///
/// The file has them as permitted only (`=p`). If they were effective, the kernel would refuse to start the program (EPERM) without them
/// in the bounding set, as in most containers. Root keeps its capabilities: it has all others too, and could take these back.
package enum Capabilities {
  private static let ours = bit(.netAdmin) | bit(.netRaw)

  /// Runs `body` with a capability effective, if the process has it as permitted. Only the calling thread gets the capability.
  package static func raised<T: ~Copyable, E: Error>(_ capability: ProcessCapabilities.Capability, _ body: () throws(E) -> T) throws(E) -> T
  {
    let bit = bit(capability)
    let isRaised = change { $0.effective |= $0.permitted & bit }
    defer { if isRaised { change { $0.effective &= ~bit } } }
    return try body()
  }

  /// Clears the effective and inheritable sets, so that child processes get no capabilities.
  static func lower() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
    }
  }

  /// Drops the capabilities permanently. Call it before there is a second thread, because each thread has its own.
  package static func drop() {
    guard geteuid() != 0 else { return }
    change {
      $0.effective &= ~ours
      $0.inheritable &= ~ours
      $0.permitted &= ~ours
    }
  }

  /// Whether this thread has a capability that its caller may lack.
  static var areHeld: Bool {
    var sets = shim_capabilities()
    return unsafe shim_is_secure() != 0 && shim_get_capabilities(&sets) == 0 && sets.first.permitted & ours != 0
  }

  private static func bit(_ capability: ProcessCapabilities.Capability) -> UInt32 { 1 << UInt32(capability.rawValue) }

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
