package import ATT
import Bluetooth
package import EventLoop

/// A GATT client on one ATT bearer (Vol 3 Part G §4), which may have a server as well. Knows nothing of what is below the channel.
@LoopActor
package final class Client: BearerClient {
  /// What a peer does wrong without ending anything, what was done on the user's behalf.
  package var onNote: (@LoopActor (ClientNote) -> Void)?
  /// Sees every PDU in both directions.
  package var onPDU: (@LoopActor (ATT.Direction, [UInt8]) -> Void)? {
    get { bearer.onPDU }
    set { bearer.onPDU = newValue }
  }
  /// See `Bearer.limit`.
  package var limit: Duration? {
    get { bearer.limit }
    set { bearer.limit = newValue }
  }
  /// Asked when the peer answers Insufficient Authentication or Insufficient Encryption; true: the link is safer now, repeat the request once.
  package var onSecurityNeeded: (@LoopActor (ErrorCode) async -> Bool)?

  /// Discovery subscribes to Service Changed, so that a session that stays open hears when its table is out of date.
  package var followsServiceChanges = false

  /// A UUID is read as before discovery, because what was discovered is only to tell what values mean: what is sent for a line of a script must not
  /// depend on that.
  package var readsDirectly = false

  /// The ATT_MTU that was asked for, 23…517; nil before `exchangeMTU`.
  package private(set) var requestedMTU: Int?
  /// Where commands were asked about; see `checkCommands`.
  var commandsChecked: Set<AttributeHandle> = []

  /// What discovery found; nil before it. Without the services that the peer said have changed, until they are discovered again.
  package internal(set) var table: AttributeTable? { didSet { descriptionVersion = Self.newVersion() } }
  /// What the last discovery had found before it failed; nil when it did not.
  package internal(set) var incomplete: AttributeTable?
  /// What `table` lacks.
  var stale: [HandleRange] = []
  /// What describes values, as read on this link: by the handle of the descriptor, empty where the peer refused it.
  var descriptorValues: [AttributeHandle: [UInt8]] = [:] { didSet { descriptionVersion = Self.newVersion() } }
  /// Changes with what `description(of:)` and `table` say; no two clients ever have the same.
  package private(set) var descriptionVersion = newVersion()
  private static var versions = 0
  /// Discoveries that are under way.
  var discoveries = 0
  /// The bearer ended while discovery waited for an answer.
  package private(set) var endedInDiscovery = false
  /// Of `table`, where it has been read.
  var databaseHash = DatabaseHash.notRead
  var lastServiceChanged: Characteristic?
  var serviceChangedSubscription: Subscription?

  package let bearer: Bearer
  var subscriptions: [Subscription] = [] { didSet { countListeners() } }
  /// By the handle of the descriptor.
  var configurations: [AttributeHandle: ClientConfiguration] = [:]
  var observers: [ValueObserver] = [] { didSet { countListeners() } }
  /// One for each caller of `untilClosed`: giving up waiting must not end it for the others.
  private var ends: [Wait<any Error>] = []
  private var faultsShown = 0
  /// How many lost PDUs the notes have told of.
  private var lossesShown = 0
  private var notes: [Repeated: Int] = [:]
  /// Selectors of which a note has said what they were taken for.
  private var explained: Set<Selector> = []

  /// Attaches to a bearer, and begins to receive in the loop's next turn: set the handlers before.
  package init(_ bearer: Bearer) {
    self.bearer = bearer
    bearer.client = self
    EventLoop.shared.schedule(after: .zero) { bearer.start() }
  }

  /// - Parameter timeout: of one ATT transaction; when it passes, the bearer is closed.
  package convenience init(_ channel: any ATT.Channel, timeout: Duration = .seconds(30)) { self.init(Bearer(channel, timeout: timeout)) }

  private static func newVersion() -> Int {
    versions &+= 1
    return versions
  }

  /// ATT_MTU in effect, 23…517.
  package var mtu: Int { bearer.mtu }
  /// Why nothing can be asked any more; nil while the bearer is open.
  package var closed: (any Error)? { bearer.closed }
  /// See `Bearer.exhausted`: why it is vain to wait for values.
  package var exhausted: (any Error)? { bearer.exhausted }

  /// Asks for an ATT_MTU (§4.3.1). A peer that refuses or answers nonsense leaves it as it is, which a note says.
  /// - Returns: ATT_MTU in effect.
  /// - Throws: as `Bearer.request`.
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

  /// As `exchangeMTU`, unless that was done: a client asks once per connection (§4.3.1).
  func exchangeMTUOnce() async throws { if requestedMTU == nil { try await exchangeMTU() } }

  /// The attribute that a selector means. Notes once what an abbreviation means.
  /// - Throws: as `discover` and `AttributeTable.resolve`.
  package func resolve(_ selector: Selector) async throws -> Attribute {
    let attribute = try await discover().resolve(selector)
    if selector.isAbbreviated, explained.insert(selector).inserted { onNote?(.abbreviation(selector, attribute)) }
    return attribute
  }

  /// The only one of several candidates that sends values, with a note the first time; nil when there is not one.
  package func onlySender(_ selector: Selector, _ candidates: [GATTError.Candidate]) -> Characteristic? {
    let senders = candidates.filter { $0.attribute.characteristic?.sendsValues ?? false }
    guard senders.count == 1, let only = senders.first else { return nil }
    if explained.insert(selector).inserted { onNote?(.onlySender(selector, only, of: candidates.count)) }
    return only.attribute.characteristic
  }

  /// Returns when the peer has taken all commands sent so far: a request is answered after them (the bearer keeps the order), and this one,
  /// Find Information on `handle`, has no side effects. An Error Response proves as much.
  package func barrier(after handle: AttributeHandle) async throws {
    _ = try await bearer.request(barrierRequest(after: handle))
  }

  func barrierRequest(after handle: AttributeHandle) -> Request { .findInformation(HandleRange(handle, handle)) }

  /// Waits for the end of the bearer. - Returns: why it ended. - Throws: CancellationError.
  package func untilClosed() async throws -> any Error {
    if let closed { return closed }
    let end = Wait<any Error>()
    ends.removeAll { $0.isOver }
    ends.append(end)
    return try await end.value()
  }

  /// Ends every pending operation and closes the channel. Idempotent. Client configurations are left as they are: `unsubscribeAll` first.
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

  /// The first few of a kind of trouble are worth a line each; a flood is not.
  package func ignored(_ fault: BearerState.Fault) {
    if case .lost = fault {
      // Every loss counts: at once, then each time that there are twice as many, and the rest at the end.
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

  /// What a peer can do wrong as often as it likes.
  enum Repeated { case cutNotification, longNotification, irregular }

  /// As `onNote`, for the first few of a kind.
  func note(_ kind: Repeated, limit: Int = 5, _ note: @autoclosure () -> ClientNote) {
    let count = notes[kind, default: 0] + 1
    guard count <= limit else { return }
    notes[kind] = count
    onNote?(count < limit ? note() : .last(note()))
  }

  /// Each is worth a line, as far as somebody reads them.
  func note(_ entries: [IrregularEntry]) { for entry in entries { note(.irregular, limit: 64, .irregular(entry)) } }

  func note(_ kind: IrregularEntry.Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ fault: IrregularEntry.Fault?) {
    if let fault { note([IrregularEntry(kind, handle, uuid, fault)]) }
  }

  /// Notes what is irregular about the place of an entry. - Returns: whether it is to be kept.
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

  /// Sends a request; an Error Response is thrown. Raises the security once when someone can.
  /// - Parameter tolerated: codes that are answers in this place; nil is returned for them.
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

  /// As `answer`, for requests whose response has one form, which the bearer has matched to the request already.
  func answer<T>(_ request: Request, _ take: (Response) -> T?) async throws -> T {
    guard let response = try await answer(request) else { throw CancellationError() }
    guard let value = take(response) else { throw ATTError.violation(response.opcode, response.bytes, "does not match the request") }
    return value
  }
}

extension ErrorCode {
  var needsSecurity: Bool { self == .insufficientAuthentication || self == .insufficientEncryption }
}
