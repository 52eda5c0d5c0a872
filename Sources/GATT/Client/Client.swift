package import ATT
import Bluetooth
package import EventLoop

/// A GATT client on one ATT bearer (Vol 3 Part G §4), which may also have a server. Knows only the channel, not the layers below it.
@LoopActor
package final class Client: BearerClient {
  /// The handler of notes on tolerated faults of the peer, and on actions on the user's behalf.
  package var onNote: (@LoopActor (ClientNote) -> Void)?
  /// The handler of every PDU, in both directions.
  package var onPDU: (@LoopActor (ATT.Direction, [UInt8]) -> Void)? {
    get { bearer.onPDU }
    set { bearer.onPDU = newValue }
  }
  /// The time limit of requests, see `Bearer.limit`.
  package var limit: Duration? {
    get { bearer.limit }
    set { bearer.limit = newValue }
  }
  /// The handler that raises the security level after Insufficient Authentication or Insufficient Encryption. If it returns true, the
  /// client repeats the request once.
  package var onSecurityNeeded: (@LoopActor (ErrorCode) async -> Bool)?

  /// Whether discovery subscribes to Service Changed, so that long sessions notice changes of the table.
  package var followsServiceChanges = false

  /// Whether to read a UUID as if no discovery had taken place, because the discovered table only serves to decode values.
  /// The requests of a script line must not depend on that table.
  package var readsDirectly = false

  /// The requested ATT_MTU, 23…517. Nil before `exchangeMTU`.
  package private(set) var requestedMTU: Int?
  /// The attributes that `checkCommands` has checked.
  var commandsChecked: Set<AttributeHandle> = []

  /// The discovered table. Nil before discovery. Lacks changed services until the client discovers them again.
  package internal(set) var table: AttributeTable? { didSet { descriptionVersion = Self.newVersion() } }
  /// The partial result of a failed discovery. Nil if the last discovery succeeded.
  package internal(set) var incomplete: AttributeTable?
  /// The handle ranges of changed services, which `table` lacks.
  var stale: [HandleRange] = []
  /// Values of the descriptors that describe values, read on this link, by handle. An entry is empty if the peer refused the read.
  var descriptorValues: [AttributeHandle: [UInt8]] = [:] { didSet { descriptionVersion = Self.newVersion() } }
  /// A number that changes with `description(of:)` and `table`. Unique across all clients.
  package private(set) var descriptionVersion = newVersion()
  private static var versions = 0
  /// The number of discoveries in progress.
  var discoveries = 0
  /// Whether the bearer closed while discovery waited for an answer.
  package private(set) var endedInDiscovery = false
  /// The Database Hash of `table`, if the client has read it.
  var databaseHash = DatabaseHash.notRead
  var lastServiceChanged: Characteristic?
  var serviceChangedSubscription: Subscription?

  package let bearer: Bearer
  var subscriptions: [Subscription] = [] { didSet { countListeners() } }
  /// The state of each Client Characteristic Configuration, by descriptor handle.
  var configurations: [AttributeHandle: ClientConfiguration] = [:]
  var observers: [ValueObserver] = [] { didSet { countListeners() } }
  /// The waits of `untilClosed`, one per caller, so that one caller can give up without ending the others.
  private var ends: [Wait<any Error>] = []
  private var faultsShown = 0
  /// The number of lost PDUs that notes have reported.
  private var lossesShown = 0
  private var notes: [Repeated: Int] = [:]
  /// The selectors whose meaning a note has explained.
  private var explained: Set<Selector> = []

  /// Attaches to a bearer and starts receiving in the next turn of the event loop. Set the handlers before that.
  package init(_ bearer: Bearer) {
    self.bearer = bearer
    bearer.client = self
    EventLoop.shared.schedule(after: .zero) { bearer.start() }
  }

  /// Attaches to a channel.
  /// - Parameter timeout: the limit of one ATT transaction, after which the bearer closes.
  package convenience init(_ channel: any ATT.Channel, timeout: Duration = .seconds(30)) { self.init(Bearer(channel, timeout: timeout)) }

  private static func newVersion() -> Int {
    versions &+= 1
    return versions
  }

  /// The ATT_MTU in effect, 23…517.
  package var mtu: Int { bearer.mtu }
  /// The reason why requests are impossible. Nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }
  /// The reason why no more values will arrive, see `Bearer.exhausted`.
  package var exhausted: (any Error)? { bearer.exhausted }

  /// Requests an ATT_MTU (§4.3.1). If the peer refuses or its answer is invalid, keeps the MTU and sends a note.
  /// - Returns: the ATT_MTU in effect.
  /// - Throws: the errors of `Bearer.request`.
  @discardableResult
  package func exchangeMTU(_ wanted: Int = BearerState.largestMTU) async throws -> Int {
    requestedMTU = wanted
    bearer.offer(rxMTU: wanted)
    do {
      switch try await bearer.request(.exchangeMTU(clientRxMTU: UInt16(clamping: bearer.rxMTU))) {
      case .exchangeMTU(let answer) where Int(answer) < BearerState.defaultMTU:
        onNote?(.mtuBelowLeast(offered: Int(answer), mtu: mtu))
      case .error(_, _, let code): onNote?(.mtuRefused(code, mtu: mtu))
      default: break
      }
    } catch ATTError.violation(let violation) where closed == nil { onNote?(.mtuAnsweredWrongly(violation, mtu: mtu)) }
    return mtu
  }

  /// Exchanges the MTU unless the client has already asked. A client asks once per connection (§4.3.1).
  func exchangeMTUOnce() async throws { if requestedMTU == nil { try await exchangeMTU() } }

  /// Finds the attribute of a selector, after discovery if necessary. A note explains an abbreviation the first time.
  /// - Throws: the errors of `discover` and `AttributeTable.resolve`.
  package func resolve(_ selector: Selector) async throws -> Attribute {
    let attribute = try await discover().resolve(selector)
    if selector.isAbbreviated, explained.insert(selector).inserted { onNote?(.abbreviation(selector, attribute)) }
    return attribute
  }

  /// Returns the only candidate that sends values, with a note the first time. Nil if none or several do.
  package func onlySender(_ selector: Selector, _ candidates: [GATTError.Candidate]) -> Characteristic? {
    let senders = candidates.filter { $0.attribute.characteristic?.sendsValues ?? false }
    guard senders.count == 1, let only = senders.first else { return nil }
    if explained.insert(selector).inserted { onNote?(.onlySender(selector, only, of: candidates.count)) }
    return only.attribute.characteristic
  }

  /// Waits until the peer has received all commands sent so far, because the bearer keeps the order. An Error Response is proof too.
  /// Sends Find Information on `handle`, which has no side effects.
  package func barrier(after handle: AttributeHandle) async throws {
    _ = try await bearer.request(barrierRequest(after: handle))
  }

  func barrierRequest(after handle: AttributeHandle) -> Request { .findInformation(HandleRange(handle, handle)) }

  /// Waits for the end of the bearer.
  /// - Returns: the reason why the bearer closed.
  /// - Throws: CancellationError.
  package func untilClosed() async throws -> any Error {
    if let closed { return closed }
    let end = Wait<any Error>()
    ends.removeAll { $0.isOver }
    ends.append(end)
    return try await end.value()
  }

  /// Ends all pending operations and closes the channel. Idempotent. Does not reset client configurations. Call `unsubscribeAll` first.
  package func close() {
    tellLosses()
    bearer.close()
  }

  package func exhausted(_ error: any Error) { for observer in observers { observer.onExhaustion?() } }

  package func closed(_ error: any Error) {
    tellLosses()
    endedInDiscovery = discoveries > 0
    for end in ends { end.resume(returning: error) }
    ends = []
    for subscription in subscriptions { subscription.end(error) }
    subscriptions = []
    observers = []
  }

  /// Notes a fault of the peer. Notes the first five only, because a peer can cause a flood.
  package func ignored(_ fault: BearerState.Fault) {
    if case .lost = fault {
      // Report the first loss, then whenever the count has doubled, and the rest at the end.
      if bearer.faults.lost >= 2 * lossesShown { tellLosses() }
      return
    }
    faultsShown &+= 1
    guard faultsShown <= 5 else { return }
    onNote?(.ignored(fault))
  }

  private func tellLosses() {
    guard bearer.faults.lost > lossesShown else { return }
    lossesShown = bearer.faults.lost
    onNote?(.lost(lossesShown))
  }

  /// A kind of fault that a peer can repeat without limit.
  enum Repeated { case cutNotification, longNotification, irregular }

  /// Sends a note, at most `limit` of each kind.
  func note(_ kind: Repeated, limit: Int = 5, _ note: @autoclosure () -> ClientNote) {
    let count = notes[kind, default: 0] + 1
    guard count <= limit else { return }
    notes[kind] = count
    onNote?(count < limit ? note() : .last(note()))
  }

  /// Sends a note for each irregular entry, up to 64.
  func note(_ entries: [IrregularEntry]) { for entry in entries { note(.irregular, limit: 64, .irregular(entry)) } }

  func note(_ kind: IrregularEntry.Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: IrregularEntry.Fault?) {
    if let fault { note([IrregularEntry(kind, handle, uuid, fault)]) }
  }

  /// Notes an irregular position of an entry.
  /// - Returns: whether to keep the entry.
  func admit(
    _ kind: IrregularEntry.Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: IrregularEntry.Fault?,
    unless isKnown: @autoclosure () -> Bool
  ) -> Bool {
    guard let fault else { return true }
    let isRepeated = handle.isValid && isKnown()
    note(kind, handle, uuid, isRepeated ? .repeated : fault)
    return handle.isValid && !isRepeated
  }

  // MARK: Requests

  /// Sends a request. Throws Error Responses. Raises the security and repeats the request once, if `onSecurityNeeded` can.
  /// - Parameter tolerated: error codes for which the result is nil.
  func answer(_ request: Request, tolerating tolerated: [ErrorCode] = []) async throws -> Response? {
    var response = try await bearer.request(request)
    if case .error(_, _, let code) = response, code.needsSecurity, let onSecurityNeeded, await onSecurityNeeded(code) {
      response = try await bearer.request(request)
    }
    guard case .error(_, _, let code) = response else { return response }
    if tolerated.contains(code) { return nil }
    let error = GATTError.errorResponse(code, to: request, on: table?.attribute(at: request.handle))
    if code == .databaseOutOfSync { forget(.all) }
    throw error
  }

  /// Sends a request whose response has one form. The bearer has already matched the response to the request.
  func answer<T>(_ request: Request, _ take: (Response) -> T?) async throws -> T {
    guard let response = try await answer(request) else { throw CancellationError() }
    guard let value = take(response) else { throw ATTError.violation(response.opcode, response.bytes, "does not match the request") }
    return value
  }
}

extension ErrorCode {
  var needsSecurity: Bool { self == .insufficientAuthentication || self == .insufficientEncryption }
}
