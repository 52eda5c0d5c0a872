package import BluetoothLE
import Glibc

/// A descriptor for output that never blocks the event loop. Bytes that the descriptor does not accept wait in a bounded queue, in order.
@LoopActor
package final class Sink {
  /// The way to write without blocking. A shell may share the descriptor, so the sink must not set O_NONBLOCK on it.
  private enum Way {
    /// A plain write to a file or device, which does not block.
    case atOnce
    /// A write to a pipe or terminal that this process opened a second time with O_NONBLOCK.
    case openedAnew
    /// A send(2) with MSG_DONTWAIT to a socket.
    case socket
    /// A write of at most this many bytes after poll(2) reports room.
    case asked(Int)
  }

  /// The number of queued bytes at which the sink accepts no more output.
  package nonisolated let limit: Int
  /// The error that ended writing. Nil while the descriptor works.
  package private(set) var failure: OutputFailure?

  private nonisolated let descriptor: Int32
  private nonisolated let file: String?
  private nonisolated let isOurs: Bool
  private nonisolated let way: Way
  private var queue: [UInt8] = []
  private var head = 0
  private var watch: Watch?
  /// Whether the descriptor did not take all bytes of the last write.
  private var isBlocked = false
  private var waiting: [Wait<Void>] = []
  /// The line below all other output, where the user types. The sink erases it before other output. Nil if the user types nowhere.
  package weak var bottomLine: (any BottomLine)?
  /// Whether the sink delays small writes to wait for more output.
  package var isHeld = false { didSet { if !isHeld { writeNow() } } }
  /// Whether the last output ended with a line feed.
  package private(set) var isAtLineStart = true

  /// Creates a sink for a descriptor.
  /// - Parameter descriptor: A descriptor that the caller closes.
  /// - Parameter file: The name of the file for errors. Nil for standard output.
  /// - Parameter mayReopen: Whether the sink may open the descriptor again through /proc. False in tests.
  package nonisolated init(_ descriptor: Int32, limit: Int, file: String? = nil, mayReopen: Bool = true) {
    self.file = file
    self.limit = limit
    var status = stat()
    let kind = unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    let isTerminal = kind == S_IFCHR && isatty(descriptor) == 1
    if kind == S_IFSOCK {
      (self.descriptor, isOurs, way) = (descriptor, false, .socket)
    } else if kind == S_IFIFO || isTerminal {
      let anew = !mayReopen ? -1 : unsafe open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      // The /proc of other processes, as in a container or a shared folder, leads to another file.
      var found = stat()
      isOurs = unsafe anew >= 0 && fstat(anew, &found) == 0 && found.st_dev == status.st_dev && found.st_ino == status.st_ino
      if anew >= 0, !isOurs { _ = close(anew) }
      self.descriptor = isOurs ? anew : descriptor
      way = isOurs ? .openedAnew : .asked(isTerminal ? 256 : Int(PIPE_BUF))
    } else {
      (self.descriptor, isOurs, way) = (descriptor, false, .atOnce)
    }
  }

  isolated deinit {
    watch?.cancel()
    if isOurs { _ = close(descriptor) }
  }

  /// The number of bytes that the descriptor has not accepted yet.
  package var queued: Int { queue.count - head }
  package var hasRoom: Bool { queued < limit }
  /// The number of lines that the descriptor has not accepted yet.
  package var queuedLines: Int { queue[head...].count { $0 == UInt8(ascii: "\n") } }

  /// Queues `bytes` as a whole for a source that cannot wait. The event loop writes them.
  /// - Parameter reserve: The number of bytes by which the queue may exceed its limit.
  /// - Returns: False if the queue has no room. Then the sink queues nothing.
  /// - Throws: OutputFailure of an earlier write.
  package func offer(_ bytes: [UInt8], reserve: Int = 0) throws(OutputFailure) -> Bool {
    if let failure { throw failure }
    if queued >= limit, !isBlocked { writeSome() }
    if let failure { throw failure }
    guard queued < limit + reserve else { return false }
    append(bytes)
    // Combine small records into one write, but do not delay them longer than that.
    if queued >= Self.enough, !isBlocked { writeSome() } else { setWatch() }
    return true
  }

  private func append(_ bytes: [UInt8]) {
    if let bottomLine { queue += bottomLine.makeWay() }
    queue += bytes
    // Live views end with the sequence that erases the rest of the screen.
    if let last = bytes.last { isAtLineStart = last == UInt8(ascii: "\n") || bytes.suffix(4).elementsEqual("\n\u{1B}[J".utf8) }
  }

  /// Appends a line feed to an unfinished line.
  func endLine() {
    queue.append(UInt8(ascii: "\n"))
    isAtLineStart = true
  }

  /// Draws the bottom line. Ignores the limit of the queue, because typed text is short.
  package func draw(_ bytes: [UInt8]) {
    guard failure == nil, !bytes.isEmpty else { return }
    queue += bytes
    writeNow()
  }

  /// Waits until the queue has room, then writes as much as possible and queues the remaining bytes.
  /// - Throws: OutputFailure or CancellationError.
  package func write(_ bytes: [UInt8]) async throws {
    if takesAtOnce { EventLoop.shared.spendStep() } else { try await untilRoom() }
    try take(bytes)
  }

  /// Whether `write` can proceed without waiting for room or for the next turn of the event loop.
  var takesAtOnce: Bool { hasRoom && !EventLoop.shared.isShareSpent && failure == nil }

  /// Writes or queues bytes, whatever the length of the queue.
  func take(_ bytes: [UInt8]) throws(OutputFailure) {
    append(bytes)
    if !isBlocked, !isHeld || queued >= Self.enough { writeSome() } else { setWatch() }
    if let failure { throw failure }
  }

  /// Waits until the queue is below its limit and the event loop grants a turn.
  /// - Throws: OutputFailure or CancellationError.
  package func untilRoom() async throws {
    EventLoop.shared.spendStep()
    try await EventLoop.shared.waitForTurn()
    while true {
      if let failure { throw failure }
      if hasRoom { return }
      _ = try await progress(until: nil)
    }
  }

  /// Waits until the descriptor has accepted all output, or until `deadline`. Nil means no time limit.
  /// - Throws: OutputFailure or CancellationError.
  package func flush(until deadline: LoopClock.Instant?) async throws {
    if !isBlocked { writeSome() }
    while true {
      if let failure { throw failure }
      if queued == 0 { return }
      guard try await progress(until: deadline) != nil else { return }
    }
  }

  /// Writes as much as possible immediately, without waiting for the event loop's next turn.
  package func writeNow() { if !isBlocked, !isHeld { writeSome() } }

  private func progress(until deadline: LoopClock.Instant?) async throws -> Void? {
    let wait = Wait<Void>()
    waiting.append(wait)
    return try await wait.value(until: deadline)
  }

  // MARK: Writing

  /// The number of queued bytes that triggers an immediate write, the usual capacity of a pipe.
  private static let enough = 65_536

  private func writeSome() {
    var written = 0
    while failure == nil, queued > 0 {
      if case .asked = way, !isReady { break }
      let count = writeFront()
      if count >= 0 {
        head += count
        written += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        let hint = errno == EFBIG ? ". To see the limit: ulimit -f" : ""
        failure = OutputFailure(file: file, isClosedPipe: errno == EPIPE, reason: unsafe String(cString: strerror(errno)) + hint)
      }
    }
    isBlocked = queued > 0
    if queued == 0 || failure != nil {
      queue.removeAll(keepingCapacity: queue.count <= Self.enough)
      head = 0
    } else if head >= limit / 2 {
      queue.removeFirst(head)
      head = 0
    }
    if isBlocked, written > 0 { EventLoop.shared.virtualTime.waitsForReader = true }
    setWatch()
    guard written > 0 || failure != nil else { return }
    let all = waiting
    waiting = []
    for wait in all { wait.resume(returning: ()) }
  }

  private func writeFront() -> Int {
    let descriptor = descriptor
    let way = way
    return unsafe queue[head...].withUnsafeBytes { bytes in
      switch way {
      case .atOnce, .openedAnew: unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      case .socket: unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      case .asked(let most): unsafe Glibc.write(descriptor, bytes.baseAddress, min(most, bytes.count))
      }
    }
  }

  /// Whether the next write returns immediately, with success or an error.
  private var isReady: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  private func setWatch() {
    let interest: Interest = queued > 0 && (isBlocked || !isHeld) ? .writable : .nothing
    if let watch {
      watch.setInterest(interest)
    } else if interest != .nothing {
      watch = EventLoop.shared.watch(descriptor, interest) { [weak self] _ in
        self?.isBlocked = false
        self?.writeSome()
      }
    }
  }
}

/// The error of a write to stdout or stderr. After a closed pipe (`| head -1`), the program ends without an error message.
package struct OutputFailure: Error {
  /// The file of `--output`. Nil for standard output.
  package let file: String?
  package let isClosedPipe: Bool
  package let reason: String
}

/// The last line of a terminal, where the user types.
@LoopActor
package protocol BottomLine: AnyObject {
  /// Whether the user types now.
  var isActive: Bool { get }
  /// Returns the bytes that erase the line, and schedules a redraw.
  func makeWay() -> [UInt8]
}

/// The stdout and stderr of the process, and the lines of blectl at the bottom of the terminal.
@LoopActor
final class StandardStreams {
  nonisolated let outIsTerminal: Bool
  nonisolated let errIsTerminal: Bool
  /// Whether the locale uses UTF-8. If not, the output writes its own symbols in ASCII.
  nonisolated let isUTF8: Bool
  /// Whether the terminal cannot process escape sequences.
  nonisolated let isDumb: Bool
  /// Whether NO_COLOR is set (no-color.org).
  nonisolated let refusesColor: Bool
  let out: Sink
  /// The sink of stderr. The same object as `out` if stdout and stderr are one pipe or terminal, so that lines keep their order.
  let err: Sink
  /// The commands that messages name without the program. Empty outside a session.
  var promptCommands: [String: Bool] = [:]
  /// The live view at the bottom of stdout. Nil without a live view.
  var live: LiveView?
  /// The escape sequence that erases the progress line of the terminal. Nil without a progress line.
  var eraseTransient: String?
  /// The text of the last progress line.
  var transient = ""
  /// The full-screen program that shows the messages itself. Nil if no such program runs.
  var fullScreen: Output.FullScreen?
  /// The callback before the program draws a live view. It detects a stop, during which another program may have used the terminal.
  var beforeFrame: (@LoopActor () -> Void)?
  /// The number of messages that `message` dropped because the queue was full.
  var lost = 0

  nonisolated init(out: Int32, file: String?, err: Int32, limit: Int, environment: (String) -> String?) {
    outIsTerminal = isatty(out) == 1
    errIsTerminal = isatty(err) == 1
    isDumb = environment("TERM") == "dumb"
    refusesColor = !(environment("NO_COLOR")?.isEmpty ?? true)
    // The first of these that is not empty decides (locale(7)).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    // No locale says nothing about the terminal: containers and services have none.
    isUTF8 = locale.map(Self.namesUTF8) ?? true
    self.out = Sink(out, limit: limit, file: file)
    self.err = Self.isOne(out, err) ? self.out : Sink(err, limit: limit)
  }

  /// Returns whether the name of a locale says UTF-8, such as `de_DE.UTF-8` or `C.utf8`.
  private nonisolated static func namesUTF8(_ locale: String) -> Bool {
    let letters = locale.utf8.map { $0 | 0x20 }.filter { $0 != UInt8(ascii: "-") }
    let wanted = Array("utf8".utf8)
    return letters.indices.contains { letters[$0...].starts(with: wanted) }
  }

  /// Returns whether two descriptors are the same pipe, terminal or socket. False for a file, because each opening has its own position.
  private nonisolated static func isOne(_ one: Int32, _ other: Int32) -> Bool {
    var (a, b) = (stat(), stat())
    guard unsafe fstat(one, &a) == 0, unsafe fstat(other, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino else { return false }
    return [S_IFIFO, S_IFSOCK].contains(a.st_mode & S_IFMT) || isatty(one) == 1
  }

  nonisolated var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }

  /// Writes a line to stderr. Ignores write errors, and counts lines that do not fit into the queue.
  func message(_ text: String) {
    clearTransient()
    // The view is redrawn below the message. On different terminals they do not collide.
    if out === err, let live { _ = emit(live.wipe(width: size.columns)) }
    if !emit(text + "\n") { lost += 1 }
  }

  /// Erases the progress line and the live view, so that a result on the terminal does not continue their last line.
  func makeWay() throws(OutputFailure) {
    guard eraseTransient != nil || live != nil, outIsTerminal else { return }
    clearTransient()
    if let live { try out.take(Array(live.wipe(width: size.columns).utf8)) }
  }

  func clearTransient() {
    guard let erase = eraseTransient else { return }
    eraseTransient = nil
    _ = emit(erase)
  }

  /// Queues text for stderr and tries to write it.
  /// - Returns: False if the queue has no room. True after a write error.
  func emit(_ text: String) -> Bool {
    // Keep the order of output, even if both lead to the same file.
    out.writeNow()
    defer { err.writeNow() }
    return (try? err.offer(Array(text.utf8), reserve: Output.reserve)) ?? true
  }
}
