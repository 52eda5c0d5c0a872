import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// A raw HCI socket next to the kernel's own stack. It sends commands of this process and receives the answers and other events.
/// LE commands and most events need CAP_NET_RAW.
/// With CAP_NET_RAW, the socket also receives commands of the kernel and of other programs, but not the commands of this process.
@LoopActor
final class HCISocket {
  /// A command that the kernel or another program sent to the controller.
  enum OthersCommand {
    case sent(CommandPacket)
    /// The controller answered the command with the status in Command Complete or Command Status.
    case answered(CommandPacket, ControllerErrorCode)
  }

  let name: String
  var onOthersCommand: (@LoopActor (OthersCommand) -> Void)?
  private let socket: PacketSocket
  let trace: KernelTrace?
  private var observers: [Int: @LoopActor (Event) -> Void] = [:]
  private var nextObserver = 0
  private var pending: [Pending] = []
  /// The error that ended the socket. No events arrive after it. Nil while the socket works.
  private(set) var failure: (any Error)?
  private var onEnd: [Int: @LoopActor (any Error) -> Void] = [:]
  /// The last command of another program or the kernel. Nil after the command's answer. Until `deadline`, the next answer with the same
  /// opcode belongs to this command, because the kernel sends the controller one command at a time.
  private var others: (command: CommandPacket, deadline: LoopClock.Instant, isTraced: Bool)?

  private struct Pending {
    let command: CommandPacket
    let answeringEvent: AnsweringEvent
    let use: AdapterUse
    /// The answer's return parameters in bytes, starting with the status.
    let answer: Wait<[UInt8]>
    let onAnswer: (@LoopActor (ControllerErrorCode) -> Void)?
    /// The timer for the answer. Nil until the socket sends the command.
    var timer: LoopTimer?
  }

  /// The time limit for an answer. It exceeds the kernel's limit of 2 s (HCI_CMD_TIMEOUT), so that the kernel resets a hanging controller.
  static let commandLimit: Duration = .seconds(3)
  /// The time after which the kernel stops waiting for an answer and sends the next command.
  private static let kernelCommandLimit: Duration = .seconds(2)

  /// Opens a raw HCI socket for an adapter, which needs no capability.
  convenience init(adapter index: Int, tap: (any Tap)?) throws(AdapterProblem) {
    let name = "hci\(index)"
    do throws(Errno) {
      let descriptor = try SystemCall.hciSocket()
      // The kernel drops events silently when the buffer is full: a busy scan causes thousands per second.
      SystemCall.raiseReceiveBuffer(descriptor.rawValue, to: 2 << 20)
      let (number, filter) = (descriptor.rawValue, tap == nil ? HCIFilter.needed : .trace)
      try Capabilities.raised(.netRaw) { () throws(Errno) in try SystemCall.setOption(number, SOL_HCI, HCI_FILTER, filter.structure) }
      try SystemCall.bind(descriptor.rawValue, .hci(adapter: UInt16(clamping: index), channel: HCI_CHANNEL_RAW))
      self.init(descriptor, name: name, tap: tap)
    } catch {
      throw AdapterProblem.of(error, adapter: name, .opening)
    }
  }

  /// Wraps an open socket.
  /// - Parameter descriptor: A bound HCI socket, or one end of a socket pair in tests.
  /// - Parameter tracesAll: Whether the tap also gets packets of other programs.
  init(_ descriptor: consuming OwnedDescriptor, name: String, tap: (any Tap)?, tracesAll: Bool = getuid() == 0) {
    self.name = name
    trace = tap.map { KernelTrace($0, recordsAll: tracesAll) }
    // Events have at most 258 bytes, and so do commands.
    socket = PacketSocket(descriptor, largest: 1024, sendingWith: .netRaw)
    socket.handler = { [weak self] event in self?.received(event) }
  }

  func close() {
    socket.close()
    fail(ControllerError(name, .closed))
  }

  // MARK: Events

  /// Adds an observer of events. `ended` gets the error when the socket fails. Returns a number for `removeObserver`.
  func addObserver(
    ended: @escaping @LoopActor (any Error) -> Void = { _ in }, _ observer: @escaping @LoopActor (Event) -> Void
  ) -> Int {
    nextObserver += 1
    observers[nextObserver] = observer
    onEnd[nextObserver] = ended
    return nextObserver
  }

  func removeObserver(_ number: Int) {
    observers[number] = nil
    onEnd[number] = nil
  }

  /// Reads the events that wait in the kernel, and calls the observers.
  func pump() { socket.pump() }

  /// The number of packets that the kernel has dropped because this process was too slow. Nil if the kernel does not count them.
  var droppedPackets: Int? { socket.droppedPackets }

  /// Sends a command whose result arrives later as an event, and waits for that event.
  /// - Parameter match: A function that returns the result from the event, or nil for another event.
  /// - Throws: The error of `late` after `limit`, or AdapterProblem, ControllerError or CancellationError.
  func send<T>(
    _ command: some Command, for use: AdapterUse, limit: Duration, late: @LoopActor () -> any Error,
    event match: @escaping @LoopActor (Event) -> T?
  ) async throws -> T {
    // Watch before the command is sent: the event may be read in the same turn as the Command Status.
    let result = Wait<T>()
    let observer = addObserver {
      result.resume(throwing: $0)
    } _: { event in
      if let value = match(event) { result.resume(returning: value) }
    }
    defer { removeObserver(observer) }
    try await send(command, for: use)
    guard let value = try await result.value(until: EventLoop.shared.now.advanced(by: limit)) else { throw late() }
    return value
  }

  // MARK: Commands

  /// Sends a command and waits for its Command Complete or Command Status event.
  /// - Returns: The return parameters, which are empty for a command that the controller answers with Command Status.
  /// - Throws: AdapterProblem if the socket cannot send the command or the controller does not answer it. ControllerError if the controller
  ///   refuses the command or its answer is malformed. CancellationError.
  @discardableResult
  func send<C: Command>(_ command: C, for use: AdapterUse) async throws -> C.Return {
    let bytes = try await exchange(command.packet, answeredBy: C.answeringEvent, for: use, onAnswer: nil)
    let returned: Result<C.Return, ControllerErrorCode>
    do throws(MalformedPacket) {
      returned = try C.Return.decode(bytes)
    } catch {
      throw ControllerError(name, .unreadable(C.opcode, error))
    }
    switch returned {
    case .success(let returned): return returned
    case .failure(let status): throw ControllerError(name, .refused(C.opcode, status))
    }
  }

  /// Sends a command and waits for its Command Complete event, whatever the status in that event.
  /// - Parameter onAnswer: The callback with the status. The socket calls it before it processes later events, even after cancellation.
  /// - Throws: AdapterProblem, ControllerError or CancellationError.
  func send(_ command: CommandPacket, for use: AdapterUse, onAnswer: (@LoopActor (ControllerErrorCode) -> Void)? = nil) async throws {
    _ = try await exchange(command, answeredBy: .commandComplete, for: use, onAnswer: onAnswer)
  }

  /// Sends a command after the answers to all earlier commands, and waits for its answer.
  /// - Returns: The return parameters in bytes, starting with the status.
  private func exchange(
    _ command: CommandPacket, answeredBy event: AnsweringEvent, for use: AdapterUse, onAnswer: (@LoopActor (ControllerErrorCode) -> Void)?
  ) async throws -> [UInt8] {
    if let failure { throw failure }
    let answer = Wait<[UInt8]>()
    pending.append(Pending(command: command, answeringEvent: event, use: use, answer: answer, onAnswer: onAnswer))
    if pending.count == 1 { sendFirst() }
    // After cancellation the command stays first until its answer arrives. Otherwise that would be taken for the answer to a
    // later command with the same opcode.
    return try await answer.value()
  }

  private func sendFirst() {
    while let first = pending.first, first.timer == nil {
      let packet = first.command.encoded
      do throws(Errno) {
        trace?.sent(packet)
        try socket.send(packet)
        pending[0].timer = EventLoop.shared.schedule(after: Self.commandLimit) { [weak self] in
          guard let self else { return }
          finish(first.command.opcode, .failure(AdapterProblem.silent(name, first.command.opcode, after: Self.commandLimit)))
        }
      } catch {
        pending.removeFirst()
        first.answer.resume(throwing: AdapterProblem.of(error, adapter: name, first.use))
      }
    }
  }

  private func received(_ event: PacketSocket.Event) {
    switch event {
    case .packet(let packet), .cut(let packet, _):
      if packet.first == Packet.commandIndicator { return recordForeign(packet) }
      // Ignore malformed events: the kernel's stack validates them for itself, and our command times out.
      guard case .event(let event) = try? Packet(packet) else {
        trace?.received(packet, nil, isAnswer: false)
        return
      }
      trace?.received(packet, event, isAnswer: isTracedAnswer(event))
      switch event {
      case .commandComplete(let complete): answered(complete.opcode, complete.parameters, .commandComplete)
      case .commandStatus(let status): answered(status.opcode, [status.status.rawValue], .commandStatus)
      default: break
      }
      for observer in observers.sorted(by: { $0.key < $1.key }) where observers[observer.key] != nil { observer.value(event) }
    // Raw HCI sockets have no SO_RXQ_OVFL: see `droppedPackets`.
    case .dropped: break
    case .ended(let error): fail(AdapterProblem.of(error ?? .brokenPipe, adapter: name, .using))
    }
  }

  private func recordForeign(_ packet: [UInt8]) {
    let isTraced = trace?.recordForeign(packet) ?? false
    guard case .command(let command)? = try? Packet(packet) else { return }
    others = (command, EventLoop.shared.now.advanced(by: Self.kernelCommandLimit), isTraced)
    onOthersCommand?(.sent(command))
  }

  /// Returns whether an event answers a command of this process, or another program's command about a link of this process.
  private func isTracedAnswer(_ event: Event) -> Bool {
    let opcode: Opcode
    switch event {
    case .commandComplete(let complete): opcode = complete.opcode
    case .commandStatus(let status): opcode = status.opcode
    default: return false
    }
    if let others, others.command.opcode == opcode, EventLoop.shared.now <= others.deadline { return others.isTraced }
    return pending.first?.timer != nil && pending.first?.command.opcode == opcode
  }

  /// Passes the answer to a command to the task that waits for it.
  /// - Parameter bytes: The return parameters in bytes, starting with the status.
  private func answered(_ opcode: Opcode, _ bytes: [UInt8], _ event: AnsweringEvent) {
    if let (command, deadline, _) = others, command.opcode == opcode {
      others = nil
      if EventLoop.shared.now <= deadline {
        if let status = bytes.first { onOthersCommand?(.answered(command, ControllerErrorCode(rawValue: status))) }
        return
      }
    }
    let status = bytes.first.map { ControllerErrorCode(rawValue: $0) }
    guard let first = pending.first, event.isAnswer(declared: first.answeringEvent, status: status) else { return }
    finish(opcode, .success(bytes))
  }

  private func finish(_ opcode: Opcode, _ result: Result<[UInt8], any Error>) {
    guard let first = pending.first, let timer = first.timer, first.command.opcode == opcode else { return }
    timer.cancel()
    pending.removeFirst()
    switch result {
    case .success(let answer):
      if let status = answer.first { first.onAnswer?(ControllerErrorCode(rawValue: status)) }
      first.answer.resume(returning: answer)
    case .failure(let error): first.answer.resume(throwing: error)
    }
    sendFirst()
  }

  private func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    let waiting = pending
    pending = []
    for one in waiting {
      one.timer?.cancel()
      one.answer.resume(throwing: error)
    }
    for (_, ended) in onEnd.sorted(by: { $0.key < $1.key }) { ended(error) }
  }
}
