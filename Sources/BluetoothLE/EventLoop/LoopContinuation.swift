// SPDX-License-Identifier: Apache-2.0
/// A continuation without an object on the heap, for code that suspends thousands of times a second.
///
/// The code that removes a continuation from its list must resume it, so that each continuation resumes once.
@safe struct LoopContinuation<Value: Sendable>: Sendable {
  private let continuation: UnsafeContinuation<Value, Never>

  private init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

  func resume(returning value: Value) { unsafe continuation.resume(returning: value) }

  /// Suspends the calling task until other code resumes the continuation that `body` receives.
  @LoopActor
  static func suspend(_ body: @LoopActor (Self) -> Void) async -> Value {
    await unsafe withUnsafeContinuation { unsafe body(Self($0)) }
  }
}
