// SPDX-License-Identifier: Apache-2.0
/// The global actor of all state in blectl. It runs on the event loop's only thread, so that the handlers of packets, timers and
/// descriptors call each other directly.
@globalActor
@_documentation(visibility: internal)
// Public, because functions that other modules specialize must be isolated to a public actor.
public actor LoopActor {
  public static let shared = LoopActor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe EventLoop.shared.asUnownedSerialExecutor() }

  /// Returns a function that calls an isolated handler on the loop's thread. Its calls allocate no memory, unlike `assumeIsolated`.
  static func assumingIsolated<Value>(_ handler: @escaping @LoopActor (Value) -> Void) -> (Value) -> Void {
    let plain = unsafe unsafeBitCast(handler, to: ((Value) -> Void).self)
    return {
      EventLoop.shared.checkIsolated()
      plain($0)
    }
  }

  /// Runs `operation` immediately. The caller must be on the loop's thread, like handlers of descriptors and timers.
  package static func assumeIsolated<T>(_ operation: @LoopActor () throws -> T) rethrows -> T {
    EventLoop.shared.checkIsolated()
    return try withoutActuallyEscaping(operation) { escaping in
      // The same step as in MainActor.assumeIsolated: the closure's isolation is proven by the check above.
      let plain = unsafe unsafeBitCast(escaping, to: (() throws -> T).self)
      return try plain()
    }
  }
}
