// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value that any thread may use, one at a time.
///
/// A mutex of the system guards it. The thread sanitizer does not know `Synchronization.Mutex` on Linux (Swift 6.3), and would report races
/// in each app that uses the library.
@safe package final class Guarded<Value>: @unchecked Sendable {
  // The mutex keeps accesses apart, so checks at run time would only cost time.
  @exclusivity(unchecked) private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: sending Value) {
    unsafe self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Calls `body` with the value while no other thread uses it. `body` must not use the same value again.
  package func withLock<Result, Problem>(_ body: (inout Value) throws(Problem) -> sending Result) throws(Problem) -> sending Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value)
  }
}
