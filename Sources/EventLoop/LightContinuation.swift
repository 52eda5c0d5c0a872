/// A continuation without a heap record of its own, unlike CheckedContinuation: for waits that happen thousands of times a second. The code that takes
/// one out of its waiting list resumes it, so each is resumed once.
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
