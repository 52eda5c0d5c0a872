package import Bluetooth
import DequeModule
import Text

/// The rules of one ATT bearer (Vol 3 Part F §3.3), without I/O: what arrives goes in, what to do about it comes out.
///
/// Ours: one request and one indication at a time, the others wait in order; each ends exactly once. The peer's: its requests, commands and
/// indications are independent of ours and are answered while ours are open. ATT_MTU is one for both roles.
package struct BearerState: Sendable {
  package struct Token: Hashable, Comparable, Sendable {
    fileprivate let number: Int
    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  /// What is waited for with a limit.
  package enum Answer: Equatable, Sendable {
    /// The response to the request that is outstanding.
    case response
    /// The confirmation of the indication that is outstanding.
    case confirmation
  }

  package enum Action: Equatable, Sendable {
    case send([UInt8])
    /// A response or a confirmation, which the peer waits for.
    case answer([UInt8])
    /// A request or an indication goes out: the time limit starts. The timer before it is void.
    case startTimer(Answer)
    case stopTimer(Answer)
    /// May be an Error Response: an answer as well.
    case finish(Token, Response)
    /// What came in place of the response. The bearer goes on.
    case fail(Token, ATTError)
    /// The peer confirmed an indication (true), or it was withdrawn before it was sent.
    case confirm(Token, Bool)
    /// A request of the peer, well-formed, for the server, whose response goes through `answer(_:)`. Exchange MTU is answered already.
    case serve(Request)
    case execute(Command)
    case deliver(Unsolicited)
    /// Ignored as the specification asks, and counted.
    case fault(Fault)
    /// Everything that waits ends, with this error or with what the bearer was closed with.
    case close(ATTError?)
  }

  /// What may arrive without ending anything.
  package enum Fault: Equatable, Sendable {
    case empty
    case malformed(MalformedPacket, [UInt8])
    /// A response while no request is outstanding, or a confirmation without an indication.
    case stray(Opcode)
    case unknownCommand(Opcode)
    /// The transport lost this many PDUs.
    case lost(Int)
  }

  private struct PendingRequest: Sendable {
    let token: Token
    let request: Request
    /// Nobody waits any more, but the answer may still come: the slot stays taken.
    var isAbandoned = false
  }

  private struct PendingIndication: Sendable {
    let token: Token
    let item: HandleValue
  }

  /// The default and the least (§3.2.8, §5.2.1 of Part G).
  package static let defaultMTU = 23
  /// The largest PDU that carries a whole attribute value of 512 octets in a Prepare Write: what we offer.
  package static let largestMTU = 517

  /// What we can receive: one value for both roles (§3.4.2.2).
  package private(set) var rxMTU: Int
  /// ATT_MTU in effect: the largest PDU that either side may send.
  package private(set) var mtu = defaultMTU
  /// Nothing can be sent any more.
  package private(set) var isClosed = false

  private var outstanding: PendingRequest?
  private var waiting: Deque<PendingRequest> = []
  private var indicated: PendingIndication?
  private var waitingIndications: Deque<PendingIndication> = []
  private var count = 0
  private var peerKnowsRxMTU = false
  /// ATT_MTU was exchanged, by either side: once is for both, and for good.
  private var isMTUAgreed = false

  package init(rxMTU: Int = largestMTU) { self.rxMTU = min(max(rxMTU, Self.defaultMTU), Self.largestMTU) }

  /// True when no request of ours is outstanding or waiting.
  package var isIdle: Bool { outstanding == nil && waiting.isEmpty }
  /// True while requests wait for the answer to one that nobody waits for any more.
  package var isBlocked: Bool { !waiting.isEmpty && outstanding?.isAbandoned ?? false }
  /// True while an indication of ours waits to be sent or confirmed.
  package var isIndicating: Bool { indicated != nil || !waitingIndications.isEmpty }

  /// Sets what the next Exchange MTU offers, 23…517. Ignored once the peer has been told: it must not hear two values.
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

  /// The caller no longer waits. A request that was sent keeps its slot until the answer or the time limit, else a late answer would be
  /// taken for the next request's.
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

  /// A Handle Value Notification, its value cut at ATT_MTU − 3: the rest is to be read (§3.4.7.1).
  package func notification(_ item: HandleValue) -> [UInt8] { Array(Unsolicited.notification(item).bytes.prefix(mtu)) }

  /// A Handle Value Indication goes out when those before it are confirmed (§3.3.2), its value cut at ATT_MTU − 3.
  package mutating func indicate(_ item: HandleValue) -> (token: Token, actions: [Action]) {
    let token = nextToken()
    guard !isClosed else { return (token, []) }
    waitingIndications.append(PendingIndication(token: token, item: item))
    return (token, indicateNext())
  }

  /// Takes back the indications of a value that were not sent yet.
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

  /// What was waited for did not come in time: the bearer may carry nothing more (§3.3.3).
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

  /// - Parameter error: nil when the bearer knows why.
  package mutating func close(_ error: ATTError? = nil) -> [Action] {
    guard !isClosed else { return [] }
    isClosed = true
    (outstanding, waiting, indicated, waitingIndications) = (nil, [], nil, [])
    return [.stopTimer(.response), .stopTimer(.confirmation), .close(error)]
  }

  // MARK: What arrives

  package mutating func receive(_ bytes: [UInt8]) -> [Action] {
    guard !isClosed else { return [] }
    guard let first = bytes.first else { return [.fault(.empty)] }
    let opcode = Opcode(rawValue: first)
    do throws(MalformedPacket) {
      // What we offered is what we take, whichever MTU was agreed: peers exist that send up to our offer. What is served keeps to what was agreed.
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

  /// The PDU that answers the peer: never longer than ATT_MTU, wherever that falls (§3.4.4.12).
  package func answer(_ response: Response) -> [UInt8] { Array(response.bytes.prefix(mtu)) }

  private mutating func received(_ response: Response, _ bytes: [UInt8]) -> [Action] {
    guard let request = outstanding?.request else { return [.fault(.stray(response.opcode))] }
    switch response {
    case .error(let opcode, _, _):
      // Matched on the opcode only: peers name other handles (the conformance suite does).
      guard opcode == request.opcode else {
        return mismatched(
          Violation(opcode: .error, octets: bytes, reason: "answers a \(opcode), but a \(request.opcode) is pending"))
      }
    case .exchangeMTU(let serverRxMTU) where request.method == .exchangeMTU: agree(Int(serverRxMTU))
    default:
      guard response.opcode == .response(request.method) else {
        return mismatched(Violation(opcode: response.opcode, octets: bytes, reason: "cannot answer the pending \(request.opcode)"))
      }
    }
    return finish { .finish($0, response) }
  }

  /// The real answer may still come, and would then be taken for that of the next request of this kind: another attribute's value shown as
  /// this one's. So nothing more is asked on this bearer. The MTU is asked for once: its late answer cannot be mistaken.
  private mutating func mismatched(_ violation: Violation) -> [Action] {
    if outstanding?.request.method == .exchangeMTU { return finish { .fail($0, .violation(violation)) } }
    var violation = violation
    violation.endsBearer = true
    return close(.violation(violation))
  }

  private mutating func malformed(_ opcode: Opcode, _ bytes: [UInt8], _ error: MalformedPacket) -> [Action] {
    switch opcode {
    case .response, .error:
      guard let request = outstanding?.request else { return [.fault(.malformed(error, bytes))] }
      // Nonsense in place of the answer is the answer; nonsense of another kind leaves the answer to come.
      guard opcode == .response(request.method) || opcode == .error else {
        return mismatched(Violation(opcode: opcode, octets: bytes, reason: "\(error)"))
      }
      return finish { .fail($0, .violation(opcode, bytes, "\(error)")) }
    case .request: return [.fault(.malformed(error, bytes)), .answer(answer(.error(request: opcode, handle: 0, code: .invalidPDU)))]
    case .unsolicited(.indication):
      // Not delivered, but confirmed: the peer may send nothing else before (§3.4.7.3).
      return [.fault(.malformed(error, bytes)), .answer(PDU.confirmation.bytes)]
    case .unsolicited, .command, .confirmation, .unknown: return [.fault(.malformed(error, bytes))]
    }
  }

  /// Once for both roles (§3.4.2.2): what was agreed stays. "If either value is incorrectly less than the default ATT_MTU, then the ATT_MTU
  /// shall not be changed" (Part G §4.3.1).
  private mutating func agree(_ peerRxMTU: Int) {
    guard !isMTUAgreed, peerRxMTU >= Self.defaultMTU else { return }
    mtu = min(peerRxMTU, rxMTU)
    isMTUAgreed = true
  }

  /// The answers of a device that serves nothing: it still has to answer (§3.3.2, §4).
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
