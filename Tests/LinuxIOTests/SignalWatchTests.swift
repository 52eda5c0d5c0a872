import BluetoothLELinux
import Glibc
import TestSupport

@Suite(.serialized, .timeLimit(.minutes(15))) struct SignalWatchTests {
  /// SIGUSR1 replaces SIGINT here, because a failing test must not end its own process.
  @Test(.onLoop) @LoopActor func theFirstSignalIsACallOnTheLoop() async throws {
    var seen: [Int32] = []
    let watch = SignalWatch([SIGUSR1, SIGUSR2]) { seen.append($0) }
    defer { watch.cancel() }
    #expect(disposition(SIGUSR1) == .watched)
    kill(getpid(), SIGUSR1)
    while seen.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(seen == [SIGUSR1])
    // A second signal of the same kind would end the process. The other kind is still watched.
    #expect(disposition(SIGUSR1) == .byDefault)
    #expect(disposition(SIGUSR2) == .watched)
    watch.rearm(SIGUSR1)
    kill(getpid(), SIGUSR1)
    while seen.count < 2 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    watch.cancel()
    #expect(disposition(SIGUSR2) == .byDefault)
  }

  @Test(.onLoop) @LoopActor func aSignalComesThroughAlthoughAJobIsAlwaysReady() async throws {
    var seen: [Int32] = []
    let watch = SignalWatch([SIGUSR1]) { seen.append($0) }
    defer { watch.cancel() }
    kill(getpid(), SIGUSR1)
    var turns = 0
    while seen.isEmpty, turns < 1_000_000 {
      turns += 1
      await Task.yield()
    }
    #expect(seen == [SIGUSR1])
  }

  @Test(.onLoop) @LoopActor func whatIsIgnoredStaysIgnored() async throws {
    _ = signal(SIGUSR1, SIG_IGN)
    defer { _ = signal(SIGUSR1, SIG_DFL) }
    let watch = SignalWatch([SIGUSR1]) { _ in }
    #expect(disposition(SIGUSR1) == .ignored)
    watch.cancel()
    #expect(disposition(SIGUSR1) == .ignored)
  }

  @Test(.onLoop) @LoopActor func oneIsIgnoredUntilItIsWatchedForAgain() async throws {
    var seen: [Int32] = []
    let watch = SignalWatch([SIGUSR1]) { seen.append($0) }
    defer { watch.cancel() }
    let (isIgnored, isOther) = (watch.ignore(SIGUSR1), watch.ignore(SIGUSR2))
    #expect(isIgnored && !isOther && disposition(SIGUSR1) == .ignored && disposition(SIGUSR2) == .byDefault)
    kill(getpid(), SIGUSR1)
    #expect(!watch.ignore(SIGUSR1))
    watch.rearm(SIGUSR1)
    kill(getpid(), SIGUSR1)
    while seen.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(seen == [SIGUSR1])
  }

  private enum Disposition { case byDefault, ignored, watched }

  private func disposition(_ number: Int32) -> Disposition {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return handler == 0 ? .byDefault : handler == 1 ? .ignored : .watched
  }
}
