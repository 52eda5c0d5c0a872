/// As CheckedContinuation, but without a record of its own on the heap: for what suspends thousands of times a second. Whoever takes one out of the
/// list that it waits in resumes it, and so each is resumed once.
@safe struct LightContinuation<Value: Sendable>: Sendable {
  private let continuation: UnsafeContinuation<Value, Never>

  private init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

  func resume(returning value: Value) { unsafe continuation.resume(returning: value) }

  /// Suspends the calling task until what `body` is given is resumed.
  @LoopActor
  static func suspend(_ body: @LoopActor (Self) -> Void) async -> Value {
    await unsafe withUnsafeContinuation { unsafe body(Self($0)) }
  }
}
