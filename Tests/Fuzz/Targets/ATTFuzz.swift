import BluetoothLE
import Traces

extension FuzzTarget {
  /// One ATT PDU, read by a bearer and by `decode`.
  static let att = FuzzTarget("att") { bytes in
    _ = DecodedPacket(att: bytes)
    guard let pdu = try? PDU(parsing: bytes) else { return }
    if case .request(let request) = pdu {
      let response = BearerState.answerWithoutServer(request).bytes
      _ = DecodedPacket(att: response, answering: request)
      expect((try? PDU(parsing: response))?.bytes == response, "its own answer is not read")
    }
    // Their parameters are not kept, and cut tuples are omitted.
    switch pdu {
    case .unknown, .unsolicited(.multipleNotification), .response(.readMultipleVariable): return
    default: expect((try? PDU(parsing: pdu.bytes))?.bytes == pdu.bytes, "what is written of a PDU is read as another")
    }
  }

  /// Requests, received PDUs and timeouts of a bearer, in any order.
  static let bearer = FuzzTarget("bearer") { bytes in
    var tape = Tape(bytes)
    var check = BearerCheck(BearerState(rxMTU: 4 * Int(tape.byte())))
    while !tape.isAtEnd { check.step(&tape) }
    check.end()
  }
}

/// Checks a bearer's state: each request and indication ends once, no PDU exceeds ATT_MTU, and nothing follows the end.
private struct BearerCheck {
  private var state: BearerState
  private var requests: [BearerState.Token] = []
  private var indications: [BearerState.Token] = []
  private var unanswered = 0

  init(_ state: BearerState) { self.state = state }

  mutating func step(_ tape: inout Tape) {
    let choice = tape.byte()
    switch choice & 7 {
    case 0:
      guard case .request(let request)? = try? PDU(parsing: tape.piece()) else { return }
      submit(request)
    case 1: submit(choice & 8 == 0 ? .read(AttributeHandle(rawValue: tape.number16())) : .exchangeMTU(clientRxMTU: tape.number16()))
    case 2:
      let (token, actions) = state.indicate(HandleValue(AttributeHandle(rawValue: UInt16(choice >> 4)), tape.piece()))
      if !state.isClosed { indications.append(token) }
      take(actions)
    case 3: if let token = pick(requests, tape.byte()) { abandon(token) }
    case 4: take(state.withdrawIndications(of: AttributeHandle(rawValue: UInt16(choice >> 4))))
    case 5 where choice & 0xF0 == 0: take(state.timeOut(choice & 8 == 0 ? .response : .confirmation, after: .seconds(30)))
    case 6: state.offer(rxMTU: Int(tape.number16()))
    default: take(state.receive(tape.piece()))
    }
    expect((23...517).contains(state.mtu) && state.mtu <= max(23, state.rxMTU), "ATT_MTU is \(state.mtu)")
  }

  mutating func end() {
    take(state.close())
    expect(state.isClosed && state.isIdle && !state.isIndicating, "something goes on behind the end")
    expect(state.receive([0x0A, 1, 0]).isEmpty && state.submit(.read(1)).actions.isEmpty, "the end is not the end")
  }

  private mutating func submit(_ request: Request) {
    let (token, actions) = state.submit(request)
    if !state.isClosed { requests.append(token) }
    take(actions)
  }

  private mutating func abandon(_ token: BearerState.Token) {
    state.abandon(token)
    requests.removeAll { $0 == token }
  }

  private func pick(_ tokens: [BearerState.Token], _ choice: UInt8) -> BearerState.Token? {
    tokens.isEmpty ? nil : tokens[Int(choice) % tokens.count]
  }

  private mutating func take(_ actions: [BearerState.Action]) {
    for action in actions {
      switch action {
      case .finish(let token, _), .fail(let token, _): end(token, &requests)
      case .confirm(let token, _): end(token, &indications)
      case .answer(let pdu): expect(pdu.count <= state.rxMTU || pdu.count <= 23, "an answer of \(pdu.count) octets")
      case .serve(let request): expect(state.answer(BearerState.answerWithoutServer(request)).count <= state.mtu, "an answer is too long")
      case .close: (requests, indications) = ([], [])
      case .send, .startTimer, .stopTimer, .execute, .deliver, .fault: break
      }
    }
  }

  private func end(_ token: BearerState.Token, _ tokens: inout [BearerState.Token]) {
    expect(tokens.contains(token), "what nobody waits for ends")
    tokens.removeAll { $0 == token }
  }
}
