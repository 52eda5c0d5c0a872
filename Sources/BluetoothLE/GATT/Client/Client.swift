// SPDX-License-Identifier: Apache-2.0
/// A GATT client on one ATT bearer (Vol 3 Part G §4). The bearer may also have a GATT server.
@LoopActor
package final class Client: BearerClient {
  /// The handler of notes on tolerated faults of the peer, and on actions that the client takes automatically.
  package var onNote: (@LoopActor (ClientNote) -> Void)?
  /// The handler of every ATT PDU that the bearer sends or receives.
  package var onPDU: (@LoopActor (PDUDirection, [UInt8]) -> Void)? {
    get { bearer.onPDU }
    set { bearer.onPDU = newValue }
  }
  /// The time limit of transactions that start after the assignment. Nil selects the time limit from the initializer.
  package var limit: Duration? {
    get { bearer.limit }
    set { bearer.limit = newValue }
  }
  /// The handler that raises the security of the link after Insufficient Authentication, Encryption or Encryption Key Size.
  /// If the handler returns true, the client repeats the refused request once. If it throws, the request fails with its error.
  package var onSecurityNeeded: (@LoopActor (ErrorCode) async throws -> Bool)?

  /// Whether discovery subscribes to Service Changed, so that long sessions notice changes of the table.
  package var followsServiceChanges = false

  /// Whether `read` asks the peer for a UUID even if `table` already contains the UUID.
  /// A line of a script then sends the same requests before and after discovery.
  package var readsDirectly = false

  /// The requested ATT_MTU, 23…517. Nil before `exchangeMTU`.
  package internal(set) var requestedMTU: Int?
  /// The handles of the attributes that `checkCommands` has checked on this link.
  var commandsChecked: Set<AttributeHandle> = []
  /// The attributes that the peer last refused to read on this link for lack of security (0x05, 0x0F).
  package private(set) var refusedReads: [AttributeHandle: ErrorCode] = [:]

  /// The discovered attributes. Nil before discovery. Changed services are missing until the client discovers them again.
  package internal(set) var table: AttributeTable? { didSet { descriptionVersion &+= 1 } }
  /// The partial result of a failed discovery. Nil if the last discovery succeeded.
  package internal(set) var incomplete: AttributeTable?
  /// The handle ranges of changed services, which `table` lacks until the next discovery.
  var stale: [HandleRange] = []
  /// The values of descriptors that describe values, by handle, as read on this link. An entry is empty if the peer refused the read.
  var descriptorValues: [AttributeHandle: [UInt8]] = [:] { didSet { descriptionVersion &+= 1 } }
  /// A number that changes with `table` and the results of `description(of:)`. Random, so that no two clients share one.
  package private(set) var descriptionVersion = UInt64.random(in: 0...UInt64.max)
  /// The number of discoveries in progress.
  var discoveries = 0
  /// Whether the bearer closed while discovery waited for an answer.
  package private(set) var endedInDiscovery = false
  /// The state of the peer's Database Hash: not read yet, not available, or the hash that belongs to `table`.
  var databaseHash = DatabaseHash.notRead
  var lastServiceChanged: Characteristic?
  var serviceChangedSubscription: Subscription?

  package let bearer: Bearer
  var subscriptions: [Subscription] = [] { didSet { countListeners() } }
  /// The state of each Client Characteristic Configuration descriptor (CCCD), by descriptor handle.
  var configurations: [AttributeHandle: ClientConfiguration] = [:]
  var observers: [ValueObserver] = [] { didSet { countListeners() } }
  /// The waits for the end of the bearer, one per caller of `untilClosed`.
  private var ends: [Wait<any Error>] = []
  private var faultsShown = 0
  /// The number of lost PDUs in the last note about losses.
  private var lossesShown = 0
  private var notes: [Repeated: Int] = [:]
  /// The selectors whose meaning a note has explained.
  private var explained: Set<Selector> = []

  /// Creates a client on a bearer, which starts to receive in the next turn of the event loop. Set the handlers before that turn.
  package init(_ bearer: Bearer) {
    self.bearer = bearer
    bearer.client = self
    EventLoop.shared.schedule(after: .zero) { bearer.start() }
  }

  /// Creates a client on a new bearer for an ATT channel.
  /// - Parameter timeout: the time limit of one ATT transaction, after which the bearer closes.
  package convenience init(_ channel: any Channel, timeout: Duration = Bearer.transactionTimeout) {
    self.init(Bearer(channel, timeout: timeout))
  }

  /// The ATT_MTU in effect, 23…517.
  package var mtu: Int { bearer.mtu }
  /// The error that closed the bearer. Nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }
  /// The reason why the channel has no more values until the client sends a PDU. Nil for a peer that may send at any time.
  package var exhausted: (any Error)? { bearer.exhausted }

  /// Finds the attribute that a selector matches, after discovery if necessary. Explains an abbreviation in a note, once per selector.
  /// If no name and no UUID fits, compares the text with the user descriptions (2901) of all characteristics, which it reads once per link.
  /// - Throws: the errors of `discover` and `AttributeTable.resolve`.
  package func resolve(_ selector: Selector) async throws -> Attribute {
    let table = try await discover()
    let attribute: Attribute
    do { attribute = try table.resolve(selector) } catch  where selector.mayBeUserDescription {
      if case GATTError.ambiguous = error { throw error }
      attribute = try table.resolve(selector, userDescriptions: try await userDescriptions(in: table))
    }
    if selector.isAbbreviated, explained.insert(selector).inserted { onNote?(.abbreviation(selector, attribute)) }
    return attribute
  }

  /// Returns the only candidate that notifies or indicates, and sends a note once per selector. Returns nil if none or several do.
  package func onlySender(_ selector: Selector, _ candidates: [GATTError.Candidate]) -> Characteristic? {
    let senders = candidates.filter { $0.attribute.characteristic?.sendsValues ?? false }
    guard senders.count == 1, let only = senders.first else { return nil }
    if explained.insert(selector).inserted { onNote?(.onlySender(selector, only, of: candidates.count)) }
    return only.attribute.characteristic
  }

  /// Waits until the peer has received all commands sent so far: sends Find Information for `handle` and waits for the response.
  /// The request has no side effects, and the bearer keeps the order. An Error Response is also a confirmation.
  package func barrier(after handle: AttributeHandle) async throws { _ = try await bearer.request(barrierRequest(after: handle)) }

  func barrierRequest(after handle: AttributeHandle) -> Request { .findInformation(HandleRange(handle, handle)) }

  /// Waits until the bearer closes.
  /// - Returns: the error that closed the bearer.
  /// - Throws: CancellationError.
  package func untilClosed() async throws -> any Error {
    if let closed { return closed }
    let end = Wait<any Error>()
    ends.removeAll { $0.isOver }
    ends.append(end)
    return try await end.value()
  }

  /// Ends all pending operations and closes the channel. Idempotent. Call `unsubscribeAll` first to clear the peer's CCCDs.
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

  /// Sends a note about a fault of the peer, for the first five faults. Reports lost PDUs whenever their number has doubled.
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
  enum Repeated { case cutNotification, longNotification, irregular, movedHandle }

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

  /// Sends a note about an entry with an irregular position. A nil `fault` means a regular position.
  /// - Returns: whether to keep the entry. False for an invalid handle or a repeated irregular entry.
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

  /// Sends a request and throws an Error Response as GATTError. Repeats the request once if `onSecurityNeeded` raises the security level.
  /// - Parameter tolerated: error codes for which the function returns nil instead of throwing an error.
  func answer(_ request: Request, tolerating tolerated: [ErrorCode] = []) async throws -> Response? {
    var response = try await bearer.request(request)
    if case .error(_, _, let code) = response, code.isOfSecurity, code != .insufficientAuthorization, let onSecurityNeeded,
      try await onSecurityNeeded(code)
    {
      response = try await bearer.request(request)
    }
    if case .read(let handle) = request { refusedReads[handle] = nil }
    guard case .error(_, _, let code) = response else { return response }
    if case .read(let handle) = request, code == .insufficientAuthentication || code == .insufficientEncryption {
      refusedReads[handle] = code
    }
    if tolerated.contains(code) { return nil }
    let error = GATTError.errorResponse(code, to: request, on: table?.attribute(at: request.handle))
    if code == .databaseOutOfSync { forget(.all) }
    throw error
  }

  /// Runs a procedure on the attributes that selectors match. If the peer refuses its first request because the database has changed, runs
  /// it once more, with the new handles (Vol 3 Part G §2.5.2.1). A plain handle may now be another attribute, so `body` then runs once.
  /// - Throws: the errors of `body`.
  package func followingChanges<T>(of selectors: [Selector], _ body: () async throws -> T) async throws -> T {
    do { return try await body() } catch GATTError.errorResponse(.databaseOutOfSync, to: _, on: _)
      where selectors.allSatisfy({ $0.plainHandle == nil })
    {
      onNote?(.servicesChanged(.all))
      return try await body()
    }
  }

  /// Sends a request and returns the value that `take` extracts from the response. Throws ATTError if `take` returns nil.
  func answer<T>(_ request: Request, _ take: (Response) -> T?) async throws -> T {
    guard let response = try await answer(request) else { throw CancellationError() }
    guard let value = take(response) else { throw ATTError.violation(response.opcode, response.bytes, "does not match the request") }
    return value
  }
}
