// SPDX-License-Identifier: Apache-2.0
/// A controller behind an HCI transport. Sends commands and ACL data, and passes answers, events and data to the host.
@LoopActor
final class Controller {
  /// The name of the controller in messages, for example `tcp:127.0.0.1:9000`.
  let name: String
  var onEvent: (@LoopActor (Event) -> Void)?
  var onData: (@LoopActor (ACLData) -> Void)?
  /// The callback for a link that ended without a Disconnection Complete event.
  var onDisconnection: (@LoopActor (ConnectionHandle, any Error) -> Void)?
  /// The callback for a link that receives no further unsolicited packets.
  var onLinkExhaustion: (@LoopActor (ConnectionHandle, any Error) -> Void)?
  var onFailure: (@LoopActor (any Error) -> Void)?
  /// The error that ended the use of the controller. Nil while the controller works.
  private(set) var failure: (any Error)?
  /// The number of malformed packets from the controller so far. The host ignores them.
  private(set) var malformed = 0 {
    didSet { onMalformed?(malformed) }
  }
  /// The callback with the number of malformed packets so far.
  var onMalformed: (@LoopActor (Int) -> Void)?

  private let transport: any Transport
  /// The number of packets that layers below the transport have lost so far. Nil if unknown.
  var droppedPackets: Int? { transport.droppedPackets }
  private var queue = CommandQueue()
  /// The unanswered commands, by number. `then` gets the return parameters, status first.
  private var pending: [Int: (opcode: Opcode, then: @LoopActor (Result<[UInt8], any Error>) -> Void)] = [:]
  private var timer: LoopTimer?

  init(_ transport: any Transport, name: String) { (self.transport, self.name) = (transport, name) }

  /// Starts receiving packets from the transport. Idempotent.
  func open() {
    guard transport.handler == nil else { return }
    transport.handler = { [weak self] event in self?.handle(event) }
  }

  /// The number of unanswered commands. From 32 commands on, the host refuses requests of peers.
  var backlog: Int { queue.count }

  /// Sends a command and calls `then` exactly once. Returns a number for `withdraw`.
  /// - Parameter isCleanUp: Whether to send the command even without a credit from the controller.
  @discardableResult
  func submit<C: Command>(
    _ command: C, isCleanUp: Bool = false, then: @escaping @LoopActor (Result<C.Return, any Error>) -> Void = { _ in }
  ) -> Int {
    submit(command.packet, answeredBy: C.answeringEvent, isCleanUp: isCleanUp) { [name] answer in
      then(answer.flatMap { Self.decode(C.Return.self, $0, command.opcode, name) })
    }
  }

  private func submit(
    _ command: CommandPacket, answeredBy event: AnsweringEvent, isCleanUp: Bool = false,
    then: @escaping @LoopActor (Result<[UInt8], any Error>) -> Void
  ) -> Int {
    if let failure {
      then(.failure(failure))
      return 0
    }
    let id = queue.add(command, answeredBy: event, isCleanUp: isCleanUp)
    pending[id] = (command.opcode, then)
    pump()
    return id
  }

  /// Sends a command and waits for its answer. A cancellation does not stop a command after the transport got it.
  /// - Parameter accepted: The callback for success. The controller calls it before any later event, even after a cancellation of the task.
  /// - Returns: The return parameters, which are empty if Command Status answers the command.
  /// - Throws: ControllerError (refused, silent, starved, unreadable), the error of `close`, CancellationError.
  @discardableResult
  func perform<C: Command>(_ command: C, accepted: @escaping @LoopActor () -> Void = {}) async throws -> C.Return {
    try await perform(command.packet, C.Return.self, accepted: accepted)
  }

  /// Sends a command that Command Complete answers, and checks the status.
  /// - Throws: ControllerError (refused, silent, starved, unreadable), the error of `close`, CancellationError.
  func perform(_ command: CommandPacket, accepted: @escaping @LoopActor () -> Void = {}) async throws {
    _ = try await perform(command, NoReturnParameters.self, accepted: accepted)
  }

  private func perform<R: ReturnParameters>(_ command: CommandPacket, _: R.Type, accepted: @escaping @LoopActor () -> Void) async throws
    -> R
  {
    let wait = Wait<R>()
    let id = submit(command, answeredBy: R.answeringEvent) { [name] answer in
      switch answer.flatMap({ Self.decode(R.self, $0, command.opcode, name) }) {
      case .success(let returned):
        accepted()
        wait.resume(returning: returned)
      case .failure(let error): wait.resume(throwing: error)
      }
    }
    do {
      return try await wait.value()
    } catch {
      if error is CancellationError, queue.withdraw(id) { pending[id] = nil }
      throw error
    }
  }

  /// Sends a cleanup command even without a credit. Calls `then` with whether the command succeeded.
  func submit(_ command: CommandPacket, then: @escaping @LoopActor (_ isDone: Bool) -> Void) {
    _ = submit(command, answeredBy: .commandComplete, isCleanUp: true) { [name] answer in
      if case .success = answer.flatMap({ Self.decode(NoReturnParameters.self, $0, command.opcode, name) }) {
        then(true)
      } else {
        then(false)
      }
    }
  }

  /// Sends a cleanup command in its turn and waits at most 2 s for the answer. Returns whether the command succeeded.
  func cleanUp(_ command: CommandPacket) async -> Bool {
    let done = Wait<Bool>()
    submit(command) { done.resume(returning: $0) }
    return (try? await done.value(until: EventLoop.shared.now.advanced(by: .seconds(2)))) ?? false
  }

  /// Sends an ACL data packet in H4 form.
  func send(data packet: [UInt8]) {
    guard failure == nil else { return }
    transport.send(packet)
  }

  /// Ends the transport and all unanswered commands with `error`. Idempotent.
  func close(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    timer?.cancel()
    transport.close()
    let unanswered = pending.sorted { $0.key < $1.key }
    pending = [:]
    for (_, entry) in unanswered { entry.then(.failure(error)) }
    onFailure?(error)
    (onEvent, onData, onDisconnection, onLinkExhaustion, onFailure) = (nil, nil, nil, nil, nil)
  }

  // MARK: From the controller

  private func handle(_ event: TransportEvent) {
    guard failure == nil else { return }
    switch event {
    case .closed(let error): close(error)
    case .linkEnded(let handle, let error): onDisconnection?(handle, error)
    case .linkExhausted(let handle, let error): onLinkExhaustion?(handle, error)
    case .refused(let opcode, let error):
      // An error also answers a command that expects Command Complete.
      if let id = queue.status(.init(status: .unknownCommand, opcode: opcode)) { settle(id, .failure(error)) }
      pump()
    case .received(let bytes):
      do throws(MalformedPacket) {
        switch try Packet(bytes) {
        case .event(let event): handle(event)
        case .acl(let data): onData?(data)
        case .command, .unknown: malformed &+= 1
        }
      } catch {
        malformed &+= 1
      }
    }
  }

  private func handle(_ event: Event) {
    switch event {
    case .commandComplete(let complete):
      if let id = queue.completed(complete) { settle(id, .success(complete.parameters)) }
      pump()
    case .commandStatus(let status):
      if let id = queue.status(status) { settle(id, .success([status.status.rawValue])) }
      pump()
    case .hardwareError(let code): close(ControllerError(name, .hardware(code)))
    default: onEvent?(event)
    }
  }

  private func pump() {
    while failure == nil, let command = queue.next(at: EventLoop.shared.now.nanoseconds) { transport.send(command.encoded) }
    timer?.cancel()
    timer = queue.deadline.map { due in
      EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due)) { [weak self] in self?.expire() }
    }
  }

  private func expire() {
    let limit = Duration.nanoseconds(CommandQueue.timeout)
    func give(up id: Int, _ fault: (Opcode, Duration) -> ControllerError.Fault) {
      if let entry = pending[id] { settle(id, .failure(ControllerError(name, fault(entry.opcode, limit)))) }
    }
    switch queue.expire(at: EventLoop.shared.now.nanoseconds) {
    case .unanswered(let id)?: give(up: id) { .silent($0, after: $1) }
    case .unsent(let id)?: give(up: id) { .starved($0, after: $1) }
    case nil: break
    }
    pump()
  }

  private func settle(_ id: Int, _ answer: Result<[UInt8], any Error>) { pending.removeValue(forKey: id)?.then(answer) }

  private static func decode<R: ReturnParameters>(_: R.Type, _ bytes: [UInt8], _ opcode: Opcode, _ name: String) -> Result<R, any Error> {
    do throws(MalformedPacket) {
      return try R.decode(bytes).mapError { ControllerError(name, .refused(opcode, $0)) }
    } catch {
      return .failure(ControllerError(name, .unreadable(opcode, error)))
    }
  }
}
