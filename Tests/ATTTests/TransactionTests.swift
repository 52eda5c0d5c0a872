import ATT
import Bluetooth
import TestSupport
import Testing

/// The rules of a bearer, without a bearer.
@Suite struct TransactionTests {
  @Test func oneAtATimeAndInOrder() {
    var transaction = Transaction()
    let first = transaction.submit(.read(1))
    #expect(first.actions == [.startTimer, .send([0x0A, 1, 0])])
    let second = transaction.submit(.read(2))
    let third = transaction.submit(.read(3))
    #expect(second.actions.isEmpty && third.actions.isEmpty && !transaction.isIdle)
    #expect(
      transaction.receive([0x0B, 9]) == [.stopTimer, .finish(first.token, .response(.read([9]))), .startTimer, .send([0x0A, 2, 0])])
    transaction.abandon(third.token)
    #expect(transaction.receive([0x0B]) == [.stopTimer, .finish(second.token, .response(.read([])))])
    #expect(transaction.isIdle)
  }

  @Test func anAbandonedRequestKeepsItsSlot() {
    var transaction = Transaction()
    let first = transaction.submit(.read(1))
    transaction.abandon(first.token)
    let second = transaction.submit(.read(2))
    #expect(second.actions.isEmpty, "the late answer would be taken for the second")
    #expect(transaction.receive([0x0B, 1]) == [.stopTimer, .startTimer, .send([0x0A, 2, 0])])
    #expect(transaction.receive([0x0B, 2]) == [.stopTimer, .finish(second.token, .response(.read([2])))])
  }

  @Test func aTimeoutClosesTheBearerAndEndsEveryone() throws {
    var transaction = Transaction()
    let first = transaction.submit(.read(0x15))
    let second = transaction.submit(.read(2))
    let actions = transaction.timeOut(after: "30 s")
    let error = try #require(transaction.closed)
    #expect(error.kind == .timeout && error.message.contains("Read Request for handle 0x0015 within 30 s"))
    #expect(actions == [.stopTimer, .finish(first.token, .failure(error)), .finish(second.token, .failure(error)), .close])
    #expect(transaction.receive([0x0B, 1]).isEmpty && transaction.timeOut(after: "30 s").isEmpty && transaction.close(error).isEmpty)
    let late = transaction.submit(.read(3))
    #expect(late.actions == [.finish(late.token, .failure(error))])
  }

  @Test(arguments: [[0x0D, 9], [0x13], [0x01, 0x0C, 1, 0, 0x0A]] as [[UInt8]])
  func afterAnAnswerToSomethingElseALateOneIsNotTakenForTheNext(_ wrong: [UInt8]) throws {
    var transaction = Transaction()
    let first = transaction.submit(.read(1))
    let second = transaction.submit(.read(2))
    let actions = transaction.receive(wrong)
    let error = try #require(transaction.closed)
    #expect(error.kind == .protocolViolation)
    #expect(actions == [.stopTimer, .finish(first.token, .failure(error)), .finish(second.token, .failure(error)), .close])
    #expect(transaction.receive([0x0B, 1]).isEmpty)
  }

  @Test func aWrongAnswerToTheMTUExchangeEndsOnlyThat() {
    var transaction = Transaction()
    _ = transaction.submit(.exchangeMTU(clientRxMTU: 517))
    let read = transaction.submit(.read(2))
    #expect(transaction.receive([0x13]).suffix(2) == [.startTimer, .send([0x0A, 2, 0])])
    #expect(transaction.receive([0x0B, 7]) == [.stopTimer, .finish(read.token, .response(.read([7])))])
  }

  @Test(arguments: [
    (UInt16(517), 517), (512, 512), (23, 23), (600, 517), (22, 23), (0, 23),
  ]) func thePeerMayExchangeTheMTU(_ asked: UInt16, _ mtu: Int) {
    var transaction = Transaction()
    #expect(transaction.receive(Request.exchangeMTU(clientRxMTU: asked).bytes) == [.answer([0x03, 0x05, 0x02])])
    #expect(transaction.mtu == mtu)
    // The same value in both roles.
    transaction.offer(rxMTU: 100)
    #expect(transaction.rxMTU == 517)
  }

  @Test func unsolicitedPDUsOfEachKind() {
    var transaction = Transaction()
    let value = HandleValue(0x12, [1])
    #expect(transaction.receive([0x1B, 0x12, 0, 1]) == [.deliver(.notification(value))])
    #expect(transaction.receive([0x1D, 0x12, 0, 1]) == [.answer([0x1E]), .deliver(.indication(value))])
    #expect(transaction.receive([0x52, 0x12, 0, 1]) == [.obey(.write(0x12, value: [1]))])
    #expect(transaction.receive([0x0A, 0x12, 0]) == [.serve(.read(0x12))])
    #expect(transaction.receive([0x1E]) == [.confirmed])
    #expect(transaction.receive([]) == [.fault(.empty)])
    #expect(transaction.receive([0x0B]) == [.fault(.stray(.readResponse))])
    #expect(transaction.receive([0xFF, 1]) == [.fault(.unknownCommand(Opcode(rawValue: 0xFF)))])
    #expect(transaction.receive([0xBF]) == [.answer([0x01, 0xBF, 0, 0, 0x06])])
    #expect(transaction.receive([UInt8](repeating: 0x1B, count: 517)).count == 1)
    guard case .fault(.malformed)? = transaction.receive([UInt8](repeating: 0x1B, count: 518)).first else {
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
    #expect(Hex.encode(Transaction.answerWithoutServer(request).bytes) == answer)
  }

  /// Whatever arrives, every request ends exactly once, and there is never more than one outstanding.
  @Test func everyRequestEndsOnce() throws {
    var random = SplitMix64(seed: 7)
    let requests: [Request] = [
      .read(0x15), .exchangeMTU(clientRxMTU: 517), .readByType(.all, type: UUID(0x2803)), .write(0x15, value: [1]), .findInformation(.all),
      .prepareWrite(1, offset: 0, value: [2]), .executeWrite(flags: 0), .readByGroupType(.all, type: UUID(0x2800)),
    ]
    let seeds = PDUTests.vectors.map(\.bytes)
    for _ in 0..<2000 {
      var transaction = Transaction()
      var open: Set<Transaction.Token> = []
      var ended: Set<Transaction.Token> = []
      var outstanding = 0
      func perform(_ actions: [Transaction.Action]) {
        for action in actions {
          switch action {
          case .startTimer:
            outstanding += 1
            #expect(outstanding == 1)
          case .stopTimer: outstanding = 0
          case .finish(let token, _):
            #expect(open.remove(token) != nil, "ended twice, or never began")
            ended.insert(token)
          default: break
          }
        }
      }
      for _ in 0..<40 {
        switch random.next() % 8 {
        case 0, 1:
          let (token, actions) = transaction.submit(requests[Int(random.next() % UInt64(requests.count))])
          open.insert(token)
          perform(actions)
        case 2:
          if let token = open.randomElement(using: &random), random.next() % 4 == 0 {
            transaction.abandon(token)
            open.remove(token)
          }
        case 3 where random.next() % 16 == 0: perform(transaction.timeOut(after: "1 s"))
        default:
          var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
          if random.next() % 3 == 0 { bytes = Array(bytes.dropLast()) }
          perform(transaction.receive(bytes))
        }
        #expect((23...517).contains(transaction.mtu))
      }
      perform(transaction.close(BluetoothError(.linkLost, "over")))
      #expect(open.isEmpty)
    }
  }
}
