// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// The state machine of one ATT bearer (Vol 3 Part F §3.3), without I/O, which turns received PDUs into actions.
///
/// The client sends one request at a time, and the server one indication at a time. Further requests and indications wait in order.
/// The bearer answers the peer's requests and indications even while the client's request is open. Both roles share one ATT_MTU.
package struct BearerState: Sendable {
  package struct Token: Hashable, Comparable, Sendable {
    fileprivate let number: Int
    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  /// The kind of an answer for which a time limit runs.
  package enum Answer: Equatable, Sendable {
    /// The response to the outstanding request.
    case response
    /// The confirmation of the outstanding indication.
    case confirmation
  }

  package enum Action: Equatable, Sendable {
    case send([UInt8])
    /// The bearer sends a response or a confirmation, for which the peer waits.
    case answer([UInt8])
    /// The bearer starts the time limit for an answer of this kind, and cancels the previous timer.
    case startTimer(Answer)
    case stopTimer(Answer)
    /// The request with this token ended with a response, possibly an Error Response.
    case finish(Token, Response)
    /// The request with this token failed because its response is invalid. The bearer stays open.
    case fail(Token, ATTError)
    /// The indication with this token ended. True means that the peer confirmed it, false that the server withdrew it before transmission.
    case confirm(Token, Bool)
    /// The server gets a valid request, and encodes the response with `answer(_:)`. The bearer itself answers Exchange MTU.
    case serve(Request)
    case execute(ATTCommand)
    case deliver(Unsolicited)
    /// The bearer counts a fault and ignores its PDU, as the specification requires.
    case fault(Fault)
    /// All pending operations end with this error. Nil stands for the error that closed the bearer.
    case close(ATTError?)
  }

  /// A tolerated fault in the received data.
  package enum Fault: Equatable, Sendable {
    case empty
    case malformed(MalformedPacket, [UInt8])
    /// The peer sent a response without an outstanding request, or a confirmation without an indication.
    case stray(ATTOpcode)
    case unknownCommand(ATTOpcode)
    /// The transport lost this many PDUs.
    case lost(Int)
  }

  private struct PendingRequest: Sendable {
    let token: Token
    let request: Request
    /// Whether the caller stopped waiting. The request remains outstanding, because the response may still arrive.
    var isAbandoned = false
  }

  private struct PendingIndication: Sendable {
    let token: Token
    let item: HandleValue
  }

  /// The default and minimum ATT_MTU in bytes (Vol 3 Part F §3.2.8, Part G §5.2.1).
  package static let defaultMTU = 23
  /// The default and maximum value of `rxMTU` in bytes, which fits a Prepare Write with a whole attribute value of 512 bytes.
  package static let largestMTU = 517

  /// The largest PDU that the bearer can receive, 23…517 bytes, for both roles (Vol 3 Part F §3.4.2.2).
  package private(set) var rxMTU: Int
  /// The ATT_MTU in effect: the largest PDU that the client or the server may send, 23…517 bytes.
  package private(set) var mtu = defaultMTU
  /// Whether the bearer is closed. A closed bearer sends nothing.
  package private(set) var isClosed = false

  private var outstanding: PendingRequest?
  private var waiting: Deque<PendingRequest> = []
  private var indicated: PendingIndication?
  private var waitingIndications: Deque<PendingIndication> = []
  private var count = 0
  private var peerKnowsRxMTU = false
  /// Whether the client or the server has exchanged the ATT_MTU. The first exchange sets it for both roles.
  private var isMTUAgreed = false

  package init(rxMTU: Int = largestMTU) { self.rxMTU = min(max(rxMTU, Self.defaultMTU), Self.largestMTU) }

  /// Whether no request of the client is outstanding or waiting.
  package var isIdle: Bool { outstanding == nil && waiting.isEmpty }
  /// Whether requests wait for the response to an abandoned request.
  package var isBlocked: Bool { !waiting.isEmpty && outstanding?.isAbandoned ?? false }
  /// Whether an indication of the server waits for transmission or confirmation.
  package var isIndicating: Bool { indicated != nil || !waitingIndications.isEmpty }
  /// The number of indications of the server that wait for transmission.
  package var queuedIndications: Int { waitingIndications.count }

  /// Sets the MTU for the next Exchange MTU, 23…517. Does nothing if the peer has already received an MTU.
  package mutating func offer(rxMTU wanted: Int) {
    if !peerKnowsRxMTU { rxMTU = min(max(wanted, Self.defaultMTU), Self.largestMTU) }
  }

  private mutating func nextToken() -> Token {
    defer { count &+= 1 }
    return Token(number: count)
  }

  // MARK: Our requests

  package mutating func submit(_ request: Request) -> (token: Token, actions: [Action]) {
    let token = nextToken()
    guard !isClosed else { return (token, []) }
    waiting.append(PendingRequest(token: token, request: request))
    return (token, sendNext())
  }

  /// Abandons a request. A sent request remains outstanding until its response or the time limit.
  /// Otherwise, the bearer would match a late response to the next request.
  package mutating func abandon(_ token: Token) {
    if outstanding?.token == token { outstanding?.isAbandoned = true } else { waiting.removeAll { $0.token == token } }
  }

  private mutating func sendNext() -> [Action] {
    guard outstanding == nil, !isClosed, let next = waiting.popFirst() else { return [] }
    outstanding = next
    if case .exchangeMTU = next.request { peerKnowsRxMTU = true }
    return [.startTimer(.response), .send(next.request.bytes)]
  }

  private mutating func finish(_ action: (Token) -> Action) -> [Action] {
    guard let done = outstanding else { return [] }
    outstanding = nil
    return [.stopTimer(.response)] + (done.isAbandoned ? [] : [action(done.token)]) + sendNext()
  }

  // MARK: Our notifications and indications

  /// Encodes a Handle Value Notification (Vol 3 Part F §3.4.7.1). Cuts the value to ATT_MTU − 3 bytes.
  package func notification(_ item: HandleValue) -> [UInt8] { Array(Unsolicited.notification(item).bytes.prefix(mtu)) }

  /// Queues an indication, to send after the client confirms earlier ones (Vol 3 Part F §3.3.2). Cuts the value to ATT_MTU − 3 bytes.
  package mutating func indicate(_ item: HandleValue) -> (token: Token, actions: [Action]) {
    let token = nextToken()
    guard !isClosed else { return (token, []) }
    waitingIndications.append(PendingIndication(token: token, item: item))
    return (token, indicateNext())
  }

  /// Withdraws the waiting indications of a value, which the bearer has not sent.
  package mutating func withdrawIndications(of handle: AttributeHandle) -> [Action] {
    let withdrawn = waitingIndications.filter { $0.item.handle == handle }
    waitingIndications.removeAll { $0.item.handle == handle }
    return withdrawn.map { .confirm($0.token, false) }
  }

  private mutating func indicateNext() -> [Action] {
    guard indicated == nil, !isClosed, let next = waitingIndications.popFirst() else { return [] }
    indicated = next
    return [.startTimer(.confirmation), .send(Array(Unsolicited.indication(next.item).bytes.prefix(mtu)))]
  }

  // MARK: Ends

  /// Closes the bearer after the time limit of a request or an indication, as Vol 3 Part F §3.3.3 requires.
  package mutating func timeOut(_ answer: Answer, after limit: Duration) -> [Action] {
    switch answer {
    case .response:
      guard let request = outstanding?.request else { return [] }
      return close(.noResponse(to: request.method, handle: request.handle, within: limit))
    case .confirmation:
      guard let item = indicated?.item else { return [] }
      return close(.noConfirmation(of: item.handle, within: limit))
    }
  }

  /// Closes the bearer and drops all pending operations.
  /// - Parameter error: the error of the pending operations. Nil stands for the error that closed the bearer.
  package mutating func close(_ error: ATTError? = nil) -> [Action] {
    guard !isClosed else { return [] }
    isClosed = true
    (outstanding, waiting, indicated, waitingIndications) = (nil, [], nil, [])
    return [.stopTimer(.response), .stopTimer(.confirmation), .close(error)]
  }

  // MARK: Received PDUs

  package mutating func receive(_ bytes: [UInt8]) -> [Action] {
    guard !isClosed else { return [] }
    guard let first = bytes.first else { return [.fault(.empty)] }
    let opcode = ATTOpcode(rawValue: first)
    do throws(MalformedPacket) {
      // Accept PDUs up to our maximum offer: some peers ignore the agreed MTU. Serve only requests within the agreed MTU.
      let limit =
        switch opcode {
        case .request, .command: mtu
        case .response, .error, .unsolicited, .confirmation, .unknown: Self.largestMTU
        }
      guard bytes.count <= limit else { throw MalformedPacket("\(bytes.count) bytes exceed ATT_MTU, \(limit)", at: 0) }
      switch try PDU(parsing: bytes) {
      case .response(let response): return received(response, bytes)
      case .request(.exchangeMTU(let peerRxMTU)):
        peerKnowsRxMTU = true
        let response = answer(.exchangeMTU(serverRxMTU: UInt16(clamping: rxMTU)))
        agree(Int(peerRxMTU))
        return [.answer(response)]
      case .request(let request): return [.serve(request)]
      case .command(let command): return [.execute(command)]
      case .unsolicited(let event):
        guard case .indication = event else { return [.deliver(event)] }
        return [.answer(PDU.confirmation.bytes), .deliver(event)]
      case .confirmation:
        guard let done = indicated else { return [.fault(.stray(opcode))] }
        indicated = nil
        return [.stopTimer(.confirmation), .confirm(done.token, true)] + indicateNext()
      case .unknown(let opcode) where opcode.isUnknownCommand: return [.fault(.unknownCommand(opcode))]
      case .unknown(let opcode): return [.answer(answer(.error(request: opcode, handle: 0, code: .requestNotSupported)))]
      }
    } catch {
      return malformed(opcode, bytes, error)
    }
  }

  /// Encodes a response to the peer. Cuts the PDU at ATT_MTU, even inside a value (Vol 3 Part F §3.4.4.12).
  package func answer(_ response: Response) -> [UInt8] { Array(response.bytes.prefix(mtu)) }

  private mutating func received(_ response: Response, _ bytes: [UInt8]) -> [Action] {
    guard let request = outstanding?.request else { return [.fault(.stray(response.opcode))] }
    switch response {
    case .error(let opcode, _, _):
      // Match only the opcode: some peers name other handles (the conformance suite does).
      guard opcode == request.opcode else {
        return mismatched(
          Violation(opcode: .error, bytes: bytes, reason: "answers a \(opcode), but a \(request.opcode) is pending"))
      }
    case .exchangeMTU(let serverRxMTU) where request.method == .exchangeMTU: agree(Int(serverRxMTU))
    default:
      guard response.opcode == .response(request.method) else {
        return mismatched(Violation(opcode: response.opcode, bytes: bytes, reason: "cannot answer the pending \(request.opcode)"))
      }
    }
    return finish { .finish($0, response) }
  }

  /// Closes the bearer after a response that does not match the request. The real response may still arrive,
  /// and would then match a later request. After an Exchange MTU Request, which the client sends only once, only fails the request.
  private mutating func mismatched(_ violation: Violation) -> [Action] {
    if outstanding?.request.method == .exchangeMTU { return finish { .fail($0, .violation(violation)) } }
    var violation = violation
    violation.endsBearer = true
    return close(.violation(violation))
  }

  private mutating func malformed(_ opcode: ATTOpcode, _ bytes: [UInt8], _ error: MalformedPacket) -> [Action] {
    switch opcode {
    case .response, .error:
      guard let request = outstanding?.request else { return [.fault(.malformed(error, bytes))] }
      // A malformed PDU of the expected kind is the answer. For another kind, the answer may still arrive.
      guard opcode == .response(request.method) || opcode == .error else {
        return mismatched(Violation(opcode: opcode, bytes: bytes, reason: "\(error)"))
      }
      return finish { .fail($0, .violation(opcode, bytes, "\(error)")) }
    case .request: return [.fault(.malformed(error, bytes)), .answer(answer(.error(request: opcode, handle: 0, code: .invalidPDU)))]
    case .unsolicited(.indication):
      // Drop it but confirm it, or the peer may not send another (§3.4.7.3).
      return [.fault(.malformed(error, bytes)), .answer(PDU.confirmation.bytes)]
    case .unsolicited, .command, .confirmation, .unknown: return [.fault(.malformed(error, bytes))]
    }
  }

  /// Sets ATT_MTU for both roles, at the first exchange only (Vol 3 Part F §3.4.2.2). Ignores a peer's MTU below the default ATT_MTU, 23
  /// (Part G §4.3.1).
  private mutating func agree(_ peerRxMTU: Int) {
    guard !isMTUAgreed, peerRxMTU >= Self.defaultMTU else { return }
    mtu = min(peerRxMTU, rxMTU)
    isMTUAgreed = true
  }

  /// Returns the response of a device without attributes to a request, which every device must answer (Vol 3 Part F §3.3.2, §4).
  package static func answerWithoutServer(_ request: Request) -> Response {
    switch request {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      .error(request: request.opcode, handle: range.start, code: range.isValid ? .attributeNotFound : .invalidHandle)
    case .read(let handle), .readBlob(let handle, _), .write(let handle, _):
      .error(request: request.opcode, handle: handle, code: .invalidHandle)
    default: .error(request: request.opcode, handle: 0, code: .requestNotSupported)
    }
  }
}
