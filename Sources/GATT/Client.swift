package import ATT
package import Bluetooth
package import EventLoop
import Text

/// A GATT client on one ATT bearer (Vol 3 Part G §4), which may have a server as well. Knows nothing of what is below the channel.
@LoopActor
package final class Client: BearerClient {
  /// One-line notes for the user: what a peer does wrong without ending anything, what was done on the user's behalf.
  package var onNote: (@LoopActor (String) -> Void)?
  /// Sees every PDU in both directions.
  package var onPDU: (@LoopActor (ATT.Direction, [UInt8]) -> Void)? {
    get { bearer.onPDU }
    set { bearer.onPDU = newValue }
  }
  /// Every notification and indication in the order of arrival, subscribed to or not.
  package var onValue: (@LoopActor (ValueEvent) -> Void)?
  /// Asked when the peer answers Insufficient Authentication or Insufficient Encryption; true: the link is safer now, repeat the request once.
  package var onSecurityNeeded: (@LoopActor (ErrorCode) async -> Bool)?

  /// What discovery found; nil before it, and after the peer said that its services have changed.
  package internal(set) var table: AttributeTable?

  package let bearer: Bearer
  var subscriptions: [Subscription] = []
  /// One for each caller of `untilClosed`: giving up waiting must not end it for the others.
  private var ends: [Wait<BluetoothError>] = []
  private var hasAskedForMTU = false
  private var faultsShown = 0
  /// How many lost PDUs the notes have told of.
  private var lossesShown = 0
  private var oddities: [Oddity: Int] = [:]

  /// Attaches to a bearer, and begins to receive in the loop's next turn: set the handlers before.
  package init(_ bearer: Bearer) {
    self.bearer = bearer
    bearer.client = self
    EventLoop.shared.schedule(after: .zero) { bearer.start() }
  }

  /// - Parameter timeout: of one ATT transaction; when it passes, the bearer is closed.
  package convenience init(_ channel: any ATT.Channel, timeout: Duration = .seconds(30)) { self.init(Bearer(channel, timeout: timeout)) }

  /// ATT_MTU in effect, 23…517.
  package var mtu: Int { bearer.mtu }
  /// Why nothing can be asked any more; nil while the bearer is open.
  package var closed: BluetoothError? { bearer.closed }

  /// Asks for an ATT_MTU (§4.3.1). A peer that refuses or answers nonsense leaves it as it is, which a note says.
  /// - Returns: ATT_MTU in effect.
  /// - Throws: BluetoothError(.timeout, .linkLost), CancellationError.
  @discardableResult
  package func exchangeMTU(_ wanted: Int = BearerState.largestMTU) async throws -> Int {
    hasAskedForMTU = true
    bearer.offer(rxMTU: wanted)
    do {
      switch try await bearer.request(.exchangeMTU(clientRxMTU: UInt16(clamping: bearer.rxMTU))) {
      case .exchangeMTU(let answer) where Int(answer) < BearerState.defaultMTU:
        onNote?("the peer offers an MTU of \(answer), which is less than the least (23): ATT_MTU stays \(mtu)")
      case .error(_, _, let code): onNote?("the peer does not exchange the MTU, \(code): ATT_MTU stays \(mtu)")
      default: break
      }
    } catch let error as BluetoothError where error.kind == .protocolViolation {
      onNote?("\(error.message): ATT_MTU stays \(mtu)")
    }
    return mtu
  }

  /// As `exchangeMTU`, unless that was done: a client asks once per connection (§4.3.1).
  func exchangeMTUOnce() async throws { if !hasAskedForMTU { try await exchangeMTU() } }

  /// Returns when the peer has taken all commands sent so far: a request is answered after them (the bearer keeps the order), and this one,
  /// Find Information on `handle`, has no side effects. An Error Response proves as much.
  package func barrier(after handle: AttributeHandle) async throws {
    _ = try await bearer.request(.findInformation(HandleRange(handle, handle)))
  }

  /// Waits for the end of the bearer. - Returns: why it ended. - Throws: CancellationError.
  package func untilClosed() async throws -> BluetoothError {
    if let closed { return closed }
    let end = Wait<BluetoothError>()
    ends.removeAll { $0.isSettled }
    ends.append(end)
    return try await end.value()
  }

  /// Ends every pending operation and closes the channel. Idempotent. Client configurations are left as they are: `unsubscribeAll` first.
  package func close() {
    tellLosses()
    bearer.close()
  }

  package func closed(_ error: BluetoothError) {
    tellLosses()
    for end in ends { end.resume(returning: error) }
    ends = []
    for subscription in subscriptions { subscription.end(error) }
    subscriptions = []
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
    switch fault {
    case .empty: onNote?("ignored an empty ATT PDU")
    case .malformed(let error, let octets): onNote?("ignored a malformed ATT PDU [\(Hex.encode(octets.prefix(32)))]: \(error)")
    case .stray(let opcode): onNote?("ignored a \(opcode) that answers nothing")
    case .unknownCommand(let opcode): onNote?("ignored an unknown command, \(opcode)")
    case .lost: break
    }
  }

  private func tellLosses() {
    guard bearer.faults.lost > lossesShown else { return }
    lossesShown = bearer.faults.lost
    onNote?("\(lossesShown) received PDUs were lost so far: they came faster than they were taken")
  }

  /// What a peer can do wrong as often as it likes.
  enum Oddity { case cutNotification, longValue, strayInclude, strayCharacteristic }

  /// As `onNote`, for the first few of a kind.
  func note(_ oddity: Oddity, _ text: @autoclosure () -> String) {
    let count = oddities[oddity, default: 0] + 1
    guard count <= 5 else { return }
    oddities[oddity] = count
    onNote?(count < 5 ? text() : "\(text()); more of these are not reported")
  }

  // MARK: Requests

  /// Sends a request; an Error Response becomes the error that users see. Raises the security once when someone can.
  /// - Parameter tolerated: codes that are answers in this place; nil is returned for them.
  func answer(_ request: Request, tolerating tolerated: Set<ErrorCode> = []) async throws -> Response? {
    var response = try await bearer.request(request)
    if case .error(_, _, let code) = response, code.needsSecurity, let onSecurityNeeded, await onSecurityNeeded(code) {
      response = try await bearer.request(request)
    }
    guard case .error(_, _, let code) = response else { return response }
    if tolerated.contains(code) { return nil }
    if code == .databaseOutOfSync { table = nil }
    throw refusal(code, request)
  }

  /// As `answer`, for requests whose response has one form. - Throws: BluetoothError(.internal) when `take` does not know the response, which
  /// the bearer has matched to the request already.
  func answer<T>(_ request: Request, _ take: (Response) -> T?) async throws -> T {
    guard let response = try await answer(request), let value = take(response) else {
      throw BluetoothError(.internal, "no use for the answer to the \(request.opcode)")
    }
    return value
  }
}

extension ErrorCode {
  var needsSecurity: Bool { self == .insufficientAuthentication || self == .insufficientEncryption }
}
