import CLinux
package import EventLoop
import Glibc

/// Turns the first SIGINT, SIGTERM or SIGHUP into a call on the loop. A second one of the same kind ends the process at once, by the
/// kernel's default and so even when the loop is stuck: the handler is taken off as it starts. Every SIGCONT is a call too.
@LoopActor
package final class SignalWatch {
  private var readEnd: OwnedDescriptor
  private var writeEnd: OwnedDescriptor
  private var watch: Watch?
  private var signals: [Int32]
  private let handler: @LoopActor (Int32) -> Void

  package nonisolated static let ending = [SIGINT, SIGTERM, SIGHUP]
  package nonisolated static let interrupt = SIGINT
  /// The process was stopped (Ctrl-Z) and goes on.
  package nonisolated static let resumed = SIGCONT
  /// Ctrl-Z.
  package nonisolated static let stopping = SIGTSTP
  /// The terminal has another size.
  package nonisolated static let resized = SIGWINCH

  /// One watch at a time in a process: the handler knows one pipe.
  /// - Parameter handler: gets the signal's number.
  package init(_ signals: [Int32] = ending + [resumed], handler: @escaping @LoopActor (Int32) -> Void) {
    self.signals = signals
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    readEnd = OwnedDescriptor(ends[0])
    writeEnd = OwnedDescriptor(ends[1])
    self.handler = handler
    watch = EventLoop.shared.watch(readEnd.rawValue, .readable) { [weak self] _ in self?.deliver() }
    for signal in signals where !Self.isIgnored(signal) { _ = shim_watch_signal_once(signal, writeEnd.rawValue) }
  }

  isolated deinit { cancel() }

  /// Hands over what has come, which the loop would do in its next turn: for who must know now.
  package func deliver() {
    while let number = take() {
      if number == Self.resumed { rearm(number) }
      handler(number)
    }
  }

  private func take() -> Int32? {
    var octet: [UInt8] = [0]
    guard let count = try? SystemCall.read(readEnd.rawValue, into: &octet), count == 1 else { return nil }
    return Int32(octet[0])
  }

  /// Watches for `signal` once more: a session in which Ctrl-C ends the current command only.
  package func rearm(_ signal: Int32) {
    if watch != nil { _ = shim_watch_signal_once(signal, writeEnd.rawValue) }
  }

  /// Ignores `signal` until `rearm`.
  /// - Returns: false for one that is not watched for, or was ignored before.
  package func ignore(_ signal: Int32) -> Bool {
    guard watch != nil, signals.contains(signal), !Self.isIgnored(signal) else { return false }
    return shim_ignore_signal(signal) == 0
  }

  /// Another one, which is a call each time that it comes after `rearm`.
  package func add(_ signal: Int32) {
    guard watch != nil, !signals.contains(signal), !Self.isIgnored(signal) else { return }
    signals.append(signal)
    rearm(signal)
  }

  /// Stops the process, and with it what it has started on its terminal, as Ctrl-Z does by default. Returns when it goes on.
  package func stop() {
    _ = shim_default_signal(Self.stopping)
    _ = kill(0, Self.stopping)
    rearm(Self.stopping)
  }

  /// Default dispositions again. Idempotent.
  package func cancel() {
    guard let watch else { return }
    for signal in signals where !Self.isIgnored(signal) { _ = shim_default_signal(signal) }
    watch.cancel()
    self.watch = nil
    readEnd.close()
    writeEnd.close()
  }

  /// Sent for what cannot be written: to a closed pipe, or beyond the size that files may have (ulimit -f).
  nonisolated static let ofWriting = [SIGPIPE, SIGXFSZ]

  /// A failed write is an error like any other then (EPIPE, EFBIG), not the end of the process before the radio is tidied up.
  package nonisolated static func ignoreFailedWrites() { for signal in ofWriting { _ = shim_ignore_signal(signal) } }

  /// `nohup` and shells without job control start programs with signals ignored, and mean it.
  private nonisolated static func isIgnored(_ signal: Int32) -> Bool { shim_is_ignored(signal) != 0 }
}
