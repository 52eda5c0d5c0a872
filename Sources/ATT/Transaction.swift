package import Bluetooth

/// The rules of one ATT bearer (Vol 3 Part F §3.3), without I/O: what arrives goes in, what to do about it comes out.
///
/// Ours: one request at a time, the others wait in order; every request ends exactly once. The peer's: its requests, commands and
/// indications are independent of ours and are answered while ours are open.
package struct Transaction: Sendable {
  package struct Token: Hashable, Sendable { fileprivate let number: Int }

  package enum Outcome: Equatable, Sendable {
    /// May be an Error Response: an answer as well.
    case response(Response)
    case failure(BluetoothError)
  }

  package enum Action: Equatable, Sendable {
    case send([UInt8])
    /// A response or a confirmation, which the peer waits for.
    case answer([UInt8])
    /// A request goes out: the time limit starts. The timer before it is void.
    case startTimer
    case stopTimer
    case finish(Token, Outcome)
    /// A request of the peer, well-formed, for the server; Exchange MTU is answered already.
    case serve(Request)
    case obey(Command)
    case deliver(Unsolicited)
    /// The peer confirmed an indication of ours.
    case confirmed
    /// Ignored as the specification asks, and counted.
    case fault(Fault)
    case close
  }

  /// What may arrive without ending anything.
  package enum Fault: Equatable, Sendable {
    case empty
    case malformed(MalformedPacket, [UInt8])
    /// A response while no request is outstanding.
    case stray(Opcode)
    case unknownCommand(Opcode)
    /// The transport lost this many PDUs.
    case lost(Int)
  }

  private struct Pending: Sendable {
    let token: Token
    let request: Request
    /// Nobody waits any more, but the answer may still come: the slot stays taken.
    var isAbandoned = false
  }

  /// The default and the least (§3.2.8, §5.2.1 of Part G).
  package static let defaultMTU = 23
  /// The largest PDU that carries a whole attribute value of 512 octets in a Prepare Write: what blectl offers.
  package static let largestMTU = 517

  /// What we can receive: one value for both roles (§3.4.2.2).
  package private(set) var rxMTU: Int
  /// ATT_MTU in effect: the largest PDU that either side may send.
  package private(set) var mtu = defaultMTU
  /// Why nothing can be sent any more; nil while open.
  package private(set) var closed: BluetoothError?

  private var outstanding: Pending?
  private var waiting: [Pending] = []
  private var count = 0
  private var peerKnowsRxMTU = false

  package init(rxMTU: Int = largestMTU) { self.rxMTU = min(max(rxMTU, Self.defaultMTU), Self.largestMTU) }

  /// True when no request is outstanding or waiting.
  package var isIdle: Bool { outstanding == nil && waiting.isEmpty }

  /// Sets what the next Exchange MTU offers, 23…517. Ignored once the peer has been told: it must not hear two values.
  package mutating func offer(rxMTU wanted: Int) {
    if !peerKnowsRxMTU { rxMTU = min(max(wanted, Self.defaultMTU), Self.largestMTU) }
  }

  // MARK: Ours

  package mutating func submit(_ request: Request) -> (token: Token, actions: [Action]) {
    let token = Token(number: count)
    count &+= 1
    if let closed { return (token, [.finish(token, .failure(closed))]) }
    waiting.append(Pending(token: token, request: request))
    return (token, sendNext())
  }

  /// The caller no longer waits. A request that was sent keeps its slot until the answer or the time limit, else a late answer would be
  /// taken for the next request's.
  package mutating func abandon(_ token: Token) {
    if outstanding?.token == token { outstanding?.isAbandoned = true } else { waiting.removeAll { $0.token == token } }
  }

  private mutating func sendNext() -> [Action] {
    guard outstanding == nil, closed == nil, !waiting.isEmpty else { return [] }
    let next = waiting.removeFirst()
    outstanding = next
    if case .exchangeMTU = next.request { peerKnowsRxMTU = true }
    return [.startTimer, .send(next.request.bytes)]
  }

  private mutating func finish(_ outcome: Outcome) -> [Action] {
    guard let done = outstanding else { return [] }
    outstanding = nil
    return [.stopTimer] + (done.isAbandoned ? [] : [.finish(done.token, outcome)]) + sendNext()
  }

  // MARK: Ends

  /// The outstanding request was not answered in time: the bearer may carry nothing more (§3.3.3).
  package mutating func timeOut(after limit: String) -> [Action] {
    guard let request = outstanding?.request else { return [] }
    let handle = request.handle == 0 ? "" : " for handle 0x\(Hex.encode(request.handle))"
    return close(
      BluetoothError(
        .timeout,
        "no answer to the \(request.opcode)\(handle) within \(limit); the connection is given up, as the Attribute Protocol asks. "
          + "Connect again, or allow more time with --timeout"))
  }

  package mutating func close(_ error: BluetoothError) -> [Action] {
    guard closed == nil else { return [] }
    closed = error
    let all = (outstanding.map { [$0] } ?? []) + waiting
    outstanding = nil
    waiting = []
    return [.stopTimer] + all.filter { !$0.isAbandoned }.map { .finish($0.token, .failure(error)) } + [.close]
  }

  // MARK: What arrives

  package mutating func receive(_ bytes: [UInt8]) -> [Action] {
    guard closed == nil else { return [] }
    guard let first = bytes.first else { return [.fault(.empty)] }
    let opcode = Opcode(rawValue: first)
    do throws(MalformedPacket) {
      // What we offered is what we take, whichever MTU was agreed: peers exist that send up to our offer.
      guard bytes.count <= Self.largestMTU else { throw MalformedPacket("\(bytes.count) octets, more than any ATT_MTU offered", at: 0) }
      switch try PDU(parsing: bytes) {
      case .response(let response): return received(response, bytes)
      case .request(.exchangeMTU(let peerRxMTU)):
        peerKnowsRxMTU = true
        let answer = Action.answer(Response.exchangeMTU(serverRxMTU: UInt16(clamping: rxMTU)).bytes)
        // Once per connection: what was agreed stays (§3.4.2.1).
        if mtu == Self.defaultMTU { agree(Int(peerRxMTU)) }
        return [answer]
      case .request(let request): return [.serve(request)]
      case .command(let command): return [.obey(command)]
      case .unsolicited(let event):
        guard case .indication = event else { return [.deliver(event)] }
        return [.answer([Opcode.handleValueConfirmation.rawValue]), .deliver(event)]
      case .confirmation: return [.confirmed]
      case .unknown(let opcode) where opcode.kind == .command: return [.fault(.unknownCommand(opcode))]
      case .unknown(let opcode): return [.answer(Response.error(request: opcode, handle: 0, code: .requestNotSupported).bytes)]
      }
    } catch {
      return malformed(opcode, bytes, error)
    }
  }

  private mutating func received(_ response: Response, _ bytes: [UInt8]) -> [Action] {
    guard let request = outstanding?.request else { return [.fault(.stray(response.opcode))] }
    switch response {
    case .error(let opcode, _, _):
      // Matched on the opcode only: peers name other handles (the conformance suite does).
      guard opcode == request.opcode else {
        return mismatched(.violation(.errorResponse, bytes, "it answers a \(opcode), but a \(request.opcode) is outstanding"))
      }
    case .exchangeMTU(let serverRxMTU) where request.opcode == .exchangeMTURequest: agree(Int(serverRxMTU))
    default:
      guard response.opcode == request.responseOpcode else {
        return mismatched(.violation(response.opcode, bytes, "it cannot answer the outstanding \(request.opcode)"))
      }
    }
    return finish(.response(response))
  }

  /// The real answer may still come, and would then be taken for that of the next request of this kind: another attribute's value shown as
  /// this one's. So nothing more is asked on this bearer. The MTU is asked for once: its late answer cannot be mistaken.
  private mutating func mismatched(_ error: BluetoothError) -> [Action] {
    if outstanding?.request.opcode == .exchangeMTURequest { return finish(.failure(error)) }
    var error = error
    error.message += "; the connection is given up, because later answers could be taken for those of other requests"
    return close(error)
  }

  private mutating func malformed(_ opcode: Opcode, _ bytes: [UInt8], _ error: MalformedPacket) -> [Action] {
    switch opcode.kind {
    case .response where outstanding != nil: finish(.failure(.violation(opcode, bytes, "\(error)")))
    case .request: [.fault(.malformed(error, bytes)), .answer(Response.error(request: opcode, handle: 0, code: .invalidPDU).bytes)]
    case .unsolicited where opcode == .handleValueIndication:
      // Not delivered, but confirmed: the peer may send nothing else before (§3.4.7.3).
      [.fault(.malformed(error, bytes)), .answer([Opcode.handleValueConfirmation.rawValue])]
    default: [.fault(.malformed(error, bytes))]
    }
  }

  /// "If either value is incorrectly less than the default ATT_MTU, then the ATT_MTU shall not be changed" (Part G §4.3.1).
  private mutating func agree(_ peerRxMTU: Int) {
    if peerRxMTU >= Self.defaultMTU { mtu = min(peerRxMTU, rxMTU) }
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
