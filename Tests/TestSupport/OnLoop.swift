import BluetoothLE
import Foundation
import Glibc
package import Testing

/// Runs a test's body on the event loop in virtual time. Tests share its thread, but each sees only its own timers.
/// They never sleep for real and must not use absolute times.
/// With `BLECTL_CLOCK=real`, for tests with a kernel, time is real.
package func onLoop<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async throws -> T) async throws -> T {
  startLoop()
  return try await EventLoop.shared.spawn { () async -> Result<T, any Error> in
    do { return .success(try await body()) } catch { return .failure(error) }
  }.value.get()
}

/// Runs a test's body on the event loop, with a fixture that is made there.
package func onLoop<Fixture, T: Sendable>(
  with make: @autoclosure @escaping @LoopActor @Sendable () async throws -> Fixture,
  _ body: @escaping @LoopActor @Sendable (Fixture) async throws -> T
) async throws -> T {
  try await onLoop { try await body(make()) }
}

/// Starts the event loop for tests that make library calls outside of `onLoop`. Idempotent.
package func startLoop() { _ = pump }

private let pump: Void = {
  if ProcessInfo.processInfo.environment["BLECTL_CLOCK"] != "real" { EventLoop.shared.useVirtualTime() }
  // The program ignores it too: a closed pipe is an error of a write, not the end of the process.
  _ = signal(SIGPIPE, SIG_IGN)
  try? EventLoop.shared.startForTests()
}()

/// Runs a test that is isolated to `LoopActor` as `onLoop` runs a body.
package struct OnLoopTrait: TestTrait, TestScoping {
  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    startLoop()
    try await withTaskExecutorPreference(EventLoop.shared) { try await function() }
  }
}

extension Trait where Self == OnLoopTrait {
  package static var onLoop: Self { Self() }
}
