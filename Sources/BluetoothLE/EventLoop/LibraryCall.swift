// SPDX-License-Identifier: Apache-2.0
/// The entry points of the library: code of any thread and actor calls them, and their bodies run on the event loop.
extension EventLoop {
  /// Runs `body` on the loop and waits for it. A cancellation of the calling task cancels `body`.
  /// - Parameter scope: The object that the caller uses, such as an adapter. See `Holds` for what it means to virtual time.
  /// - Throws: The error of `body`.
  package func call<T: Sendable>(
    for scope: (any AnyObject & Sendable)? = nil, _ body: @escaping @LoopActor @Sendable () async throws -> T
  ) async throws -> T {
    let caller = CallScope.caller(scope)
    return try await runOnLoop { () async -> Result<T, any Error> in
      let call = self.holds.beginCall(by: caller)
      defer { self.holds.end(call) }
      return await Result(of: body)
    }.get()
  }

  /// Opens something for the user's code, runs this code, and closes it on every path. Virtual time stands still while `body` computes.
  ///
  /// A cancellation of the calling task cancels `opening` and `body`, but not `closing`, which must limit its own time.
  /// - Parameter scope: The object that the caller uses, such as an adapter. See `Holds` for what it means to virtual time.
  /// - Parameter opening: Runs on the loop. If it throws, neither `body` nor `closing` runs.
  /// - Parameter closing: Runs on the loop with the value of `opening`, after `body` has returned or thrown.
  /// - Parameter body: Runs on the caller's actor with the value of `opening`.
  /// - Throws: The error of `opening` or `body`.
  package func call<T: Sendable, Value>(
    for scope: (any AnyObject & Sendable)? = nil, opening: @escaping @LoopActor @Sendable () async throws -> T,
    closing: @escaping @LoopActor @Sendable (T) async -> Void, body: (T) async throws -> Value
  ) async throws -> Value {
    let caller = CallScope.caller(scope)
    let inner = CallScope(inside: CallScope.current, on: scope)
    let (resource, call) = try await runOnLoop { () async -> Result<(T, Holds.Call), any Error> in
      let call = self.holds.beginCall(by: caller)
      let opened = await Result(of: opening)
      if case .failure = opened { self.holds.end(call) } else { self.holds.beginBody(inner.identifier) }
      return opened.map { ($0, call) }
    }.get()
    let outcome: Result<Value, any Error>
    do { outcome = .success(try await inner.run { try await body(resource) }) } catch { outcome = .failure(error) }
    await spawn {
      self.holds.endBody(inner.identifier)
      defer { self.holds.end(call) }
      await closing(resource)
    }.value
    return try outcome.get()
  }

  /// Runs the user's code, such as a delegate, off the loop and waits for it. Virtual time stands still while it computes.
  ///
  /// The code may block its thread and make library calls. A cancellation of the calling task cancels `operation`, and still waits for it.
  /// - Throws: The error of `operation`.
  @LoopActor
  package func callOut<T: Sendable>(_ operation: @escaping @Sendable () async throws -> T) async throws -> T {
    let inner = CallScope(inside: CallScope.current)
    holds.beginBody(inner.identifier)
    defer { holds.endBody(inner.identifier) }
    // Without `@concurrent`, the task would run on the loop.
    let task = Task { @concurrent in try await inner.run(operation) }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Runs `body` in a task on the loop, waits for it, and forwards a cancellation to it.
  func runOnLoop<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> T) async -> T {
    let task = spawn(body)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

extension Result where Failure == any Error {
  /// The outcome of a body on the loop.
  @LoopActor package init(of body: @LoopActor () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// The scope of a body: its child tasks inherit it, so that their calls suspend the hold of the body.
///
/// A task may outlive the bodies around it. Its calls must not suspend the hold of a later scope at the same address, so a scope keeps the
/// scopes around it. It does not keep the object, because tasks of an adapter inherit the scope that opened the adapter.
// Unchecked because of the weak reference, which only the end of the object changes.
final class CallScope: @unchecked Sendable {
  @TaskLocal static var current: CallScope?

  private let outer: CallScope?
  private weak var object: (any AnyObject & Sendable)?

  /// - Parameter outer: The scope of the code that makes the call.
  /// - Parameter object: The object that the call is made on.
  init(inside outer: CallScope?, on object: (any AnyObject & Sendable)? = nil) { (self.outer, self.object) = (outer, object) }

  var identifier: ObjectIdentifier { ObjectIdentifier(self) }
  /// This scope, and the scopes and objects around it, the innermost first.
  var all: [ObjectIdentifier] { [identifier] + (outer?.all ?? []) + (object.map { [ObjectIdentifier($0)] } ?? []) }

  /// Runs `body` in this scope, on the caller's actor.
  func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await Self.$current.withValue(self) { try await body() }
  }

  /// The code that makes a call now.
  /// - Parameter object: The object that the call is made on.
  static func caller(_ object: (any AnyObject & Sendable)?) -> Holds.Caller {
    let task = unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
    return Holds.Caller(task: task, scopes: (current?.all ?? []) + (object.map { [ObjectIdentifier($0)] } ?? []))
  }
}
