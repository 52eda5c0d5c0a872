/// Everything with state in blectl is isolated to this actor, and so runs on the event loop's one thread: packets, timers and descriptors
/// call each other directly, without hops or locks. (A global actor, because actors of their own would make every call between layers
/// a suspension point, with other packets arriving in between.)
@globalActor
// Public because that is what functions must be isolated to that other modules specialise.
public actor LoopActor {
  public static let shared = LoopActor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe EventLoop.shared.asUnownedSerialExecutor() }

  /// Wraps a handler that is called often. `assumeIsolated` allocates at each call; this function allocates once.
  static func assumingIsolated<Value>(_ handler: @escaping @LoopActor (Value) -> Void) -> (Value) -> Void {
    let plain = unsafe unsafeBitCast(handler, to: ((Value) -> Void).self)
    return {
      EventLoop.shared.checkIsolated()
      plain($0)
    }
  }

  /// Runs `operation` at once; the caller must be on the loop's thread, as handlers of descriptors and timers are.
  package static func assumeIsolated<T>(_ operation: @LoopActor () throws -> T) rethrows -> T {
    EventLoop.shared.checkIsolated()
    return try withoutActuallyEscaping(operation) { escaping in
      // The same step as in MainActor.assumeIsolated: the closure's isolation is proven by the check above.
      let plain = unsafe unsafeBitCast(escaping, to: (() throws -> T).self)
      return try plain()
    }
  }
}
