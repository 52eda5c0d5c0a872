// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// A central on its link. Asks the code of the device before the GATT server answers: one request or command after the other.
@LoopActor
final class ServedCentral: BearerServer {
  private enum Message {
    case request(Request)
    case command(ATTCommand)
  }

  let link: any CentralLink
  let server: Server
  let peripheral: Peripheral
  private let device: LocalDevice.Server
  /// The messages that wait for the code of the device. A central sends one request at a time, but any number of commands.
  private var waiting: Deque<Message> = []
  private var asking: Task<Void, Never>?
  /// The errors with which the code has refused the present message, by value handle.
  private var refusals: [AttributeHandle: ErrorCode] = [:]
  private static let mostWaiting = 512

  init(_ link: any CentralLink, _ device: LocalDevice.Server) {
    (self.link, self.device, peripheral) = (link, device, Peripheral(link.peer))
    server = Server(store: device.store, bearer: Bearer(link.channel))
    server.bearer.server = self
  }

  func start() {
    server.onAccess = { [weak self] access in
      var decision = Server.Decision()
      decision.error = self?.refusals[access.handle]
      return decision
    }
    let (device, peripheral) = (device, peripheral)
    server.onRead = { device.report($0, $1, peripheral) { .read($0, $1, $2) } }
    server.onWrite = { handle, value, _ in device.report(handle, value, peripheral) { .written($0, $1, $2) } }
    server.onSubscription = { device.subscribed($0, $1, peripheral) }
    server.onClosed = { [weak self] in if let self { device.disconnected(self, $0) } }
    secure()
    server.start()
  }

  // MARK: Requests

  func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void]) {
    if asking == nil, question(server.accesses(of: request), []) == nil { return server.serve(request) }
    wait(with: .request(request))
    return (nil, [])
  }

  func execute(_ command: ATTCommand) {
    if asking == nil, question(server.access(of: command).map { [$0] } ?? [], []) == nil { return server.execute(command) }
    wait(with: .command(command))
  }

  func closed(_ error: any Error) {
    asking?.cancel()
    server.closed(error)
  }

  private func wait(with message: Message) {
    guard waiting.count < Self.mostWaiting else { return device.lost() }
    waiting.append(message)
    guard asking == nil else { return }
    asking = EventLoop.shared.spawn { [self] in
      while let message = waiting.popFirst() { await take(message) }
      asking = nil
    }
  }

  private func take(_ message: Message) async {
    refusals = [:]
    var asked: Set<AttributeHandle> = []
    // The answer to one question may change what else the message reads or writes.
    while server.closed == nil, refusals.isEmpty, let (handle, question) = question(accesses(of: message), asked) {
      asked.insert(handle)
      do { try await question() } catch { refusals[handle] = Self.code(of: error) }
    }
    guard server.closed == nil else { return }
    switch message {
    case .command(let command): server.execute(command)
    case .request(let request):
      let (response, effects) = server.serve(request)
      if let response { server.bearer.respond(response) }
      for effect in effects { effect() }
    }
    refusals = [:]
  }

  private func accesses(of message: Message) -> [ServerSession.Access] {
    switch message {
    case .request(let request): server.accesses(of: request)
    case .command(let command): server.access(of: command).map { [$0] } ?? []
    }
  }

  private typealias Question = (AttributeHandle, @LoopActor () async throws -> Void)

  /// Returns the code to ask first. Nil if there is none, or all of it was asked.
  private func question(_ accesses: [ServerSession.Access], _ asked: Set<AttributeHandle>) -> Question? {
    let (server, central) = (server, peripheral)
    for access in accesses where !asked.contains(access.handle) {
      guard let item = device.characteristic(access.handle) else { continue }
      switch access {
      case .read(let handle):
        guard let onRead = item.onRead else { continue }
        return (
          handle,
          {
            let value = try await EventLoop.shared.callOut { try await onRead(central) }
            guard value.count <= AttributeDatabase.maximumValueLength else { throw Overlong() }
            server.answer(value, of: handle)
          }
        )
      case .write(let handle, let value, _):
        guard let onWrite = item.onWrite else { continue }
        return (handle, { try await EventLoop.shared.callOut { try await onWrite(value, central) } })
      }
    }
    return nil
  }

  private struct Overlong: Error {}

  private static func code(of error: any Error) -> ErrorCode {
    guard case .refused(let code)? = (error as? BluetoothError)?.reason, code != 0 else { return .unlikelyError }
    return ErrorCode(rawValue: code)
  }

  // MARK: Values

  /// Sends a value as the central subscribed, and waits until the link has room, or until the central has confirmed.
  /// - Returns: Whether the central got it. False if its link has ended.
  /// - Throws: ATTError if nothing gets through; CancellationError.
  func send(_ value: [UInt8], _ handle: AttributeHandle) async throws -> Bool {
    do {
      if server.configuration(ofValue: handle) & 1 == 0 { return try await server.indicateWhenFree(handle, value)?.value() ?? false }
      try await server.bearer.waitUntilWritable()
      return server.notify(handle, value)
    } catch {
      if error is CancellationError || server.closed == nil { throw error }
      return false
    }
  }

  // MARK: Security

  private func secure() {
    link.onSecurityLevel = { [weak self] in self?.secured($0, nil) }
    guard let manager = link.manager else { return secured(link.securityLevel, nil) }
    manager.bond = device.memory.bond(of: link.peer)
    accept()
    // The host may have handlers of its own.
    let (onEnd, onEncrypted) = (manager.onEnd, manager.onEncrypted)
    manager.onEnd = { [weak self] in
      onEnd?()
      self?.accept()
    }
    manager.onEncrypted = { [weak self] security, pairing in
      onEncrypted?(security, pairing)
      self?.secured(security.level, pairing)
    }
  }

  /// Lets the central pair, also after another pairing.
  private func accept() {
    let wish = device.pairing.map { PairingWish($0, with: link.peer, level: .encrypted, isOfCommand: false) }
    link.manager?.user = wish?.user
    link.manager?.acceptance = wish.map { .accept($0.parameters) } ?? .refuse(.pairingNotSupported)
  }

  private func secured(_ level: SecurityLevel, _ pairing: PairingResult?) {
    server.security = level >= .authenticated ? .authenticated : level == .encrypted ? .encrypted : .none
    guard level > .unencrypted else { return }
    if pairing != nil { device.paired(peripheral, level) }
    device.memory.secured(server, link.peer, link.manager, pairing, systemPairs: link.manager == nil)
  }
}
