import TestSupport

/// Tests the rules of a bearer without a bearer.
@Suite(.timeLimit(.minutes(15))) struct BearerStateTests {
  @Test func oneAtATimeAndInOrder() {
    var state = BearerState()
    let first = state.submit(.read(1))
    #expect(first.actions == [.startTimer(.response), .send([0x0A, 1, 0])])
    let second = state.submit(.read(2))
    let third = state.submit(.read(3))
    #expect(second.actions.isEmpty && third.actions.isEmpty && !state.isIdle)
    #expect(
      state.receive([0x0B, 9]) == [
        .stopTimer(.response), .finish(first.token, .read([9])), .startTimer(.response), .send([0x0A, 2, 0]),
      ])
    state.abandon(third.token)
    #expect(state.receive([0x0B]) == [.stopTimer(.response), .finish(second.token, .read([]))])
    #expect(state.isIdle)
  }

  @Test func anAbandonedRequestKeepsItsSlot() {
    var state = BearerState()
    let first = state.submit(.read(1))
    state.abandon(first.token)
    let second = state.submit(.read(2))
    #expect(second.actions.isEmpty, "the late answer would be taken for the second")
    #expect(state.receive([0x0B, 1]) == [.stopTimer(.response), .startTimer(.response), .send([0x0A, 2, 0])])
    #expect(state.receive([0x0B, 2]) == [.stopTimer(.response), .finish(second.token, .read([2]))])
  }

  @Test func aTimeoutClosesTheBearer() throws {
    var state = BearerState()
    _ = state.submit(.read(0x15))
    _ = state.submit(.read(2))
    let error = ATTError.noResponse(to: .read, handle: 0x15, within: .seconds(30))
    #expect(state.timeOut(.response, after: .seconds(30)) == [.stopTimer(.response), .stopTimer(.confirmation), .close(error)])
    #expect(state.isClosed && state.isIdle)
    #expect(state.receive([0x0B, 1]).isEmpty && state.timeOut(.response, after: .seconds(30)).isEmpty && state.close().isEmpty)
    #expect(state.submit(.read(3)).actions.isEmpty)
  }

  @Test(arguments: [[0x0D, 9], [0x13], [0x01, 0x0C, 1, 0, 0x0A]] as [[UInt8]])
  func afterAnAnswerToSomethingElseALateOneIsNotTakenForTheNext(_ wrong: [UInt8]) throws {
    var state = BearerState()
    _ = state.submit(.read(1))
    _ = state.submit(.read(2))
    let actions = state.receive(wrong)
    guard case .close(.violation(let violation))? = actions.last else {
      Issue.record("not closed: \(actions)")
      return
    }
    #expect(violation.bytes == wrong && violation.endsBearer && state.isClosed)
    #expect(actions == [.stopTimer(.response), .stopTimer(.confirmation), .close(.violation(violation))])
    #expect(state.receive([0x0B, 1]).isEmpty)
  }

  /// A malformed response of another kind is not the answer: the real one may still arrive.
  @Test(arguments: [[0x09], [0x05, 3], [0x03, 0], [0x11, 6, 1]] as [[UInt8]])
  func aMalformedResponseOfAnotherKindIsNotTheAnswer(_ wrong: [UInt8]) throws {
    var state = BearerState()
    _ = state.submit(.read(1))
    _ = state.submit(.read(2))
    guard case .close(.violation(let violation))? = state.receive(wrong).last else {
      Issue.record("not closed")
      return
    }
    #expect(violation.bytes == wrong && violation.endsBearer && state.isClosed)
    // During an MTU exchange it ends only the exchange, and without a request nothing.
    var other = BearerState()
    guard case .fault(.malformed)? = other.receive(wrong).first else {
      Issue.record("\(wrong) was taken")
      return
    }
    let exchange = other.submit(.exchangeMTU(clientRxMTU: 517))
    guard case .fail(exchange.token, .violation)? = other.receive(wrong).last else {
      Issue.record("the exchange did not end with \(wrong)")
      return
    }
    #expect(!other.isClosed)
  }

  @Test(arguments: [[0x09], [0x09, 2], [0x01, 0x08], [0x01]] as [[UInt8]])
  func aMalformedAnswerEndsItsRequestOnly(_ wrong: [UInt8]) throws {
    var state = BearerState()
    let asked = state.submit(.readByType(.all, type: UUID(0x2803)))
    guard case .fail(asked.token, .violation(let violation))? = state.receive(wrong).last else {
      Issue.record("the request did not end")
      return
    }
    #expect(violation.bytes == wrong && !violation.endsBearer && !state.isClosed && state.isIdle)
  }

  @Test func aWrongAnswerToTheMTUExchangeEndsOnlyThat() {
    var state = BearerState()
    _ = state.submit(.exchangeMTU(clientRxMTU: 517))
    let read = state.submit(.read(2))
    #expect(state.receive([0x13]).suffix(2) == [.startTimer(.response), .send([0x0A, 2, 0])])
    #expect(state.receive([0x0B, 7]) == [.stopTimer(.response), .finish(read.token, .read([7]))])
  }

  @Test(arguments: [
    (UInt16(517), 517), (512, 512), (23, 23), (600, 517), (22, 23), (0, 23),
  ]) func thePeerMayExchangeTheMTU(_ asked: UInt16, _ mtu: Int) {
    var state = BearerState()
    #expect(state.receive(Request.exchangeMTU(clientRxMTU: asked).bytes) == [.answer([0x03, 0x05, 0x02])])
    #expect(state.mtu == mtu)
    // ATT_MTU is the same in both roles.
    state.offer(rxMTU: 100)
    #expect(state.rxMTU == 517)
  }

  /// The agreed MTU stays, even if it is 23. A value below the minimum agrees nothing.
  @Test func theMTUIsAgreedOnce() {
    var state = BearerState()
    _ = state.receive(Request.exchangeMTU(clientRxMTU: 22).bytes)
    _ = state.receive(Request.exchangeMTU(clientRxMTU: 23).bytes)
    #expect(state.receive(Request.exchangeMTU(clientRxMTU: 247).bytes) == [.answer([0x03, 0x05, 0x02])])
    #expect(state.mtu == 23)
    _ = state.submit(.exchangeMTU(clientRxMTU: 517))
    _ = state.receive([0x03, 0x05, 0x02])
    #expect(state.mtu == 23)
  }

  // MARK: Indications

  @Test func oneIndicationAtATime() {
    var state = BearerState()
    let first = state.indicate(HandleValue(0x12, [1]))
    #expect(first.actions == [.startTimer(.confirmation), .send([0x1D, 0x12, 0, 1])])
    let second = state.indicate(HandleValue(0x12, [2]))
    let other = state.indicate(HandleValue(0x15, [UInt8](repeating: 3, count: 30)))
    let third = state.indicate(HandleValue(0x12, [4]))
    #expect(second.actions.isEmpty && other.actions.isEmpty && state.isIndicating)
    // A request may be sent before the confirmation arrives.
    #expect(state.submit(.read(1)).actions.count == 2)
    // A sent indication cannot be withdrawn.
    #expect(state.withdrawIndications(of: 0x12) == [.confirm(second.token, false), .confirm(third.token, false)])
    #expect(
      state.receive([0x1E]) == [
        .stopTimer(.confirmation), .confirm(first.token, true), .startTimer(.confirmation),
        .send([0x1D, 0x15, 0] + [UInt8](repeating: 3, count: 20)),
      ])
    #expect(state.receive([0x1E]) == [.stopTimer(.confirmation), .confirm(other.token, true)])
    #expect(!state.isIndicating && state.receive([0x1E]) == [.fault(.stray(.confirmation))])
  }

  @Test func withoutAConfirmationTheBearerIsClosed() throws {
    var state = BearerState()
    #expect(state.timeOut(.confirmation, after: .seconds(30)).isEmpty)
    _ = state.indicate(HandleValue(0x12, [1]))
    _ = state.indicate(HandleValue(0x13, [2]))
    _ = state.submit(.read(1))
    #expect(
      state.timeOut(.confirmation, after: .seconds(30)) == [
        .stopTimer(.response), .stopTimer(.confirmation), .close(.noConfirmation(of: 0x12, within: .seconds(30))),
      ])
    #expect(state.isClosed && !state.isIndicating && state.indicate(HandleValue(0x12, [3])).actions.isEmpty)
  }

  @Test func unsolicitedPDUsOfEachKind() {
    var state = BearerState()
    let value = HandleValue(0x12, [1])
    #expect(state.receive([0x1B, 0x12, 0, 1]) == [.deliver(.notification(value))])
    #expect(state.receive([0x1D, 0x12, 0, 1]) == [.answer([0x1E]), .deliver(.indication(value))])
    #expect(state.receive([0x52, 0x12, 0, 1]) == [.execute(.write(0x12, value: [1]))])
    #expect(state.receive([0x0A, 0x12, 0]) == [.serve(.read(0x12))])
    #expect(state.receive([0x1E]) == [.fault(.stray(.confirmation))])
    #expect(state.receive([]) == [.fault(.empty)])
    #expect(state.receive([0x0B]) == [.fault(.stray(.response(.read)))])
    #expect(state.receive([0xFF, 1]) == [.fault(.unknownCommand(ATTOpcode(rawValue: 0xFF)))])
    #expect(state.receive([0xBF]) == [.answer([0x01, 0xBF, 0, 0, 0x06])])
    // Served PDUs keep to ATT_MTU, 23 here. Answers to our requests may be as long as our offer.
    #expect(state.receive([0x52] + [UInt8](repeating: 1, count: 23)).count == 1)
    #expect(state.receive([0x12] + [UInt8](repeating: 1, count: 23)).last == .answer([0x01, 0x12, 0, 0, 0x04]))
    #expect(state.receive([UInt8](repeating: 0x1B, count: 517)).count == 1)
    guard case .fault(.malformed)? = state.receive([UInt8](repeating: 0x1B, count: 518)).first else {
      Issue.record("518 octets were taken")
      return
    }
  }

  @Test(arguments: [
    (Request.findInformation(HandleRange(4, 9)), "010404000a"), (.readByGroupType(HandleRange(9, 4), type: UUID(0x2800)), "0110090001"),
    (.readByType(HandleRange(0, 4), type: UUID(0x2803)), "0108000001"), (.read(3), "010a030001"), (.write(3, value: [1]), "0112030001"),
    (.findByTypeValue(.all, type: 0x2800, value: []), "010601000a"), (.prepareWrite(3, offset: 0, value: []), "0116000006"),
    (.executeWrite(flags: 1), "0118000006"), (.readMultiple([1, 2]), "010e000006"), (.readBlob(3, offset: 2), "010c030001"),
  ]) func withoutAServerEveryRequestIsAnswered(_ request: Request, _ answer: String) {
    #expect(Hex.encode(BearerState.answerWithoutServer(request).bytes) == answer)
  }

  /// Every request ends exactly once, and at most one is outstanding, whatever arrives.
  @Test func everyRequestEndsOnce() throws {
    var random = SplitMix64(seed: 7)
    let requests: [Request] = [
      .read(0x15), .exchangeMTU(clientRxMTU: 517), .readByType(.all, type: UUID(0x2803)), .write(0x15, value: [1]), .findInformation(.all),
      .prepareWrite(1, offset: 0, value: [2]), .executeWrite(flags: 0), .readByGroupType(.all, type: UUID(0x2800)),
    ]
    let seeds = PDUTests.vectors.map(\.bytes)
    for _ in 0..<2000 {
      var state = BearerState()
      var open: Set<BearerState.Token> = []
      var ended: Set<BearerState.Token> = []
      var outstanding = 0
      func perform(_ actions: [BearerState.Action]) {
        for action in actions {
          switch action {
          case .startTimer(.response):
            outstanding += 1
            #expect(outstanding == 1)
          case .stopTimer(.response): outstanding = 0
          case .finish(let token, _), .fail(let token, _):
            #expect(open.remove(token) != nil, "ended twice, or never began")
            ended.insert(token)
          case .close:
            // The bearer ends all waiting requests.
            ended.formUnion(open)
            open = []
          default: break
          }
        }
      }
      for _ in 0..<40 {
        switch random.next() % 8 {
        case 0, 1:
          // An ended bearer sends no requests.
          if state.isClosed { continue }
          let (token, actions) = state.submit(requests[Int(random.next() % UInt64(requests.count))])
          open.insert(token)
          perform(actions)
        case 2:
          if let token = open.randomElement(using: &random), random.next() % 4 == 0 {
            state.abandon(token)
            open.remove(token)
          }
        case 3 where random.next() % 16 == 0: perform(state.timeOut(.response, after: .seconds(1)))
        default:
          var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
          if random.next() % 3 == 0 { bytes = Array(bytes.dropLast()) }
          perform(state.receive(bytes))
        }
        #expect((23...517).contains(state.mtu))
      }
      perform(state.close())
      #expect(open.isEmpty)
    }
  }
}
