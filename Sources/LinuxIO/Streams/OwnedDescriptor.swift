import Glibc

/// A file descriptor with one owner. `close()` closes it, or else the end of its owner.
package struct OwnedDescriptor: ~Copyable {
  /// The descriptor, or −1 after closing.
  package private(set) var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // Not retried on EINTR: Linux has closed the descriptor by then.
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
  }

  /// Closes the descriptor. Idempotent.
  package mutating func close() {
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
    rawValue = -1
  }
}
