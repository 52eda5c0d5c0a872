import CBluetoothLESystem
import Glibc

/// Calls a handler on the event loop at the first SIGINT, SIGTERM or SIGHUP, and at every SIGCONT.
/// A second signal of the same kind, except SIGCONT, ends the process immediately, even if the event loop is stuck.
@LoopActor
package final class SignalWatch {
  private var readEnd: OwnedDescriptor
  private var writeEnd: OwnedDescriptor
  private var watch: Watch?
  private var signals: [Int32]
  private let handler: @LoopActor (Int32) -> Void

  package nonisolated static let ending = [SIGINT, SIGTERM, SIGHUP]
  package nonisolated static let interrupt = SIGINT
  /// SIGCONT, which a process gets when it continues after a stop (Ctrl-Z).
  package nonisolated static let resumed = SIGCONT
  /// SIGTSTP, which Ctrl-Z sends.
  package nonisolated static let stopping = SIGTSTP
  /// SIGWINCH, which the kernel sends when the terminal changes its size.
  package nonisolated static let resized = SIGWINCH

  /// Starts to watch signals. A process can have one watch at a time.
  /// - Parameter handler: The callback, which gets the signal's number.
  package init(_ signals: [Int32] = ending + [resumed], handler: @escaping @LoopActor (Int32) -> Void) {
    self.signals = signals
    let ends = openPipe()
    readEnd = OwnedDescriptor(ends.read)
    writeEnd = OwnedDescriptor(ends.write)
    self.handler = handler
    watch = EventLoop.shared.watch(readEnd.rawValue, .readable) { [weak self] _ in self?.deliver() }
    for signal in signals where !Self.isIgnored(signal) { _ = shim_watch_signal_once(signal, writeEnd.rawValue) }
  }

  isolated deinit { cancel() }

  /// Passes pending signals to the handler now, not in the loop's next turn.
  package func deliver() {
    while let number = take() {
      if number == Self.resumed { rearm(number) }
      handler(number)
    }
  }

  private func take() -> Int32? {
    var byte: [UInt8] = [0]
    guard let count = try? SystemCall.read(readEnd.rawValue, into: &byte), count == 1 else { return nil }
    return Int32(byte[0])
  }

  /// Calls the handler at the next `signal` once more, for example in a session where Ctrl-C ends only the current command.
  package func rearm(_ signal: Int32) { if watch != nil { _ = shim_watch_signal_once(signal, writeEnd.rawValue) } }

  /// Ignores `signal` until `rearm`.
  /// - Returns: False if this object does not watch the signal or the process already ignores the signal.
  package func ignore(_ signal: Int32) -> Bool {
    guard watch != nil, signals.contains(signal), !Self.isIgnored(signal) else { return false }
    return shim_ignore_signal(signal) == 0
  }

  /// Adds a signal, which calls the handler once after each `rearm`.
  package func add(_ signal: Int32) {
    guard watch != nil, !signals.contains(signal), !Self.isIgnored(signal) else { return }
    signals.append(signal)
    rearm(signal)
  }

  /// Stops the process and its children on the terminal, as Ctrl-Z does by default. Returns when the process continues.
  package func stop() {
    _ = shim_default_signal(Self.stopping)
    _ = kill(0, Self.stopping)
    rearm(Self.stopping)
  }

  /// Restores the default actions of the watched signals. Idempotent.
  package func cancel() {
    guard let watch else { return }
    for signal in signals where !Self.isIgnored(signal) { _ = shim_default_signal(signal) }
    watch.cancel()
    self.watch = nil
    readEnd.close()
    writeEnd.close()
  }

  /// The signals of failed writes. SIGPIPE means a closed pipe, SIGXFSZ a file beyond the size limit (ulimit -f).
  nonisolated static let ofWriting = [SIGPIPE, SIGXFSZ]

  /// Ignores SIGPIPE and SIGXFSZ, so that failed writes return EPIPE or EFBIG.
  package nonisolated static func ignoreFailedWrites() { for signal in ofWriting { _ = shim_ignore_signal(signal) } }

  /// Returns whether the process ignores the signal. `nohup` and shells without job control start programs with ignored signals.
  private nonisolated static func isIgnored(_ signal: Int32) -> Bool { shim_is_ignored(signal) != 0 }
}
