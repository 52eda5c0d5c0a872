import Glibc

/// A file descriptor with one owner, closed exactly once: by `close()` or with its owner.
package struct OwnedDescriptor: ~Copyable {
  /// −1 once closed.
  package private(set) var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }

  deinit {
    // Not retried on EINTR: Linux has closed the descriptor by then.
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
  }

  /// Idempotent.
  package mutating func close() {
    if rawValue >= 0 { _ = Glibc.close(rawValue) }
    rawValue = -1
  }
}
