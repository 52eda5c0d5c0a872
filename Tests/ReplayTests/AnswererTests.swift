import TestSupport

@testable import Traces

/// Tests a recorded device's answers to requests that differ from the recording.
@Suite(.timeLimit(.minutes(15))) struct AnswererTests {
  /// A session of another program: MTU 100, services 0001–0003 and 0004–FFFF, two characteristics, a descriptor, reads, a subscription.
  static func session() -> MadeTrace {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x02, 0x05, 0x02], [0x03, 100, 0])
    trace.ask([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 3, 0, 0x00, 0x18, 4, 0, 0xFF, 0xFF, 0xE0, 0xFF])
    trace.ask([0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x09, 7, 2, 0, 2, 3, 0, 0x00, 0x2A, 5, 0, 0x12, 6, 0, 0xE1, 0xFF])
    trace.ask([0x08, 6, 0, 0xFF, 0xFF, 3, 0x28], [0x01, 0x08, 6, 0, 0x0A])
    trace.ask([0x04, 7, 0, 0xFF, 0xFF], [0x05, 1, 7, 0, 2, 0x29])
    trace.ask([0x04, 8, 0, 0xFF, 0xFF], [0x01, 0x04, 8, 0, 0x0A])
    trace.ask([0x0A, 6, 0], [0x0B] + Array(1...60))
    trace.ask([0x12, 7, 0, 1, 0], [0x13])
    trace.att([0x1B, 6, 0, 0xAA], .controllerToHost)
    trace.ask([0x0A, 6, 0], [0x0B, 0x77])
    trace.ask([0x0A, 3, 0], [0x01, 0x0A, 3, 0, 0x02])
    return trace
  }

  static func answerer() throws -> Answerer {
    Answerer(try #require(try Recording(parsing: session().file).links.first))
  }

  @Test func itsOwnOrderIsPlayed() throws {
    var answerer = try Self.answerer()
    #expect(answerer.answer([0x02, 0x05, 0x02]) == .play(0, response: nil))
    #expect(answerer.mtu == 100)
    #expect(answerer.answer([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]) == .play(1, response: nil))
    #expect(answerer.answer([0x12, 7, 0, 1, 0]) == .play(7, response: nil))
    // The request was skipped before and arrives later.
    #expect(answerer.answer([0x0A, 6, 0]) == .play(8, response: nil))
    #expect(answerer.answer([0x0A, 6, 0]) == .play(6, response: nil))
    #expect(answerer.answer([0x0A, 6, 0]) == .unknown(next: [0x0A, 3, 0]))
  }

  /// The value that followed the check after a write also comes for a program that does not check. A late check gets only its answer.
  @Test func aCheckBesideACommandMayBeMissing() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x16, 6, 0, 0, 0], [0x01, 0x16, 6, 0, 3])
    trace.att([0x52, 6, 0, 1], .hostToController)
    trace.ask([0x04, 6, 0, 6, 0], [0x05, 1, 6, 0, 0xE1, 0xFF])
    trace.att([0x1B, 7, 0, 0xAA], .controllerToHost)
    trace.ask([0x0A, 6, 0], [0x0B, 1])
    trace.att([0x1B, 7, 0, 0xBB], .controllerToHost)
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x52, 6, 0, 1]) == .play(1, response: nil))
    #expect(answerer.skip() == 2 && answerer.skip() == nil)
    #expect(answerer.answer([0x04, 6, 0, 6, 0]) == .answer([0x05, 1, 6, 0, 0xE1, 0xFF]))
    #expect(answerer.answer([0x0A, 6, 0]) == .play(3, response: nil))
  }

  @Test func aConfirmationIsNoQuestion() throws {
    var answerer = try Self.answerer()
    #expect(answerer.answer([0x1E]) == .nothing)
    #expect(answerer.answer([]) == .nothing)
    #expect(answerer.answer([0x52, 6, 0, 1]) == .unknown(next: [0x02, 0x05, 0x02]))
    #expect(answerer.answer([0x12, 6, 0, 1, 0]) == .unknown(next: [0x02, 0x05, 0x02]))
  }

  @Test(
    arguments: [
      // Other ranges, other types, other requests.
      ([0x10, 4, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 4, 0, 0xFF, 0xFF, 0xE0, 0xFF]),
      ([0x10, 5, 0, 0xFF, 0xFF, 0, 0x28], [0x01, 0x10, 5, 0, 0x0A]),
      ([0x10, 1, 0, 0xFF, 0xFF, 1, 0x28], [0x01, 0x10, 1, 0, 0x0A]),
      ([0x10, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x01, 0x10, 1, 0, 0x10]),
      ([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE0, 0xFF], [0x07, 4, 0, 0xFF, 0xFF]),
      ([0x08, 4, 0, 0xFF, 0xFF, 3, 0x28], [0x09, 7, 5, 0, 0x12, 6, 0, 0xE1, 0xFF]),
      ([0x08, 1, 0, 0xFF, 0xFF, 2, 0x28], [0x01, 0x08, 1, 0, 0x0A]),
      ([0x08, 1, 0, 0xFF, 0xFF, 2, 0x29], [0x09, 4, 7, 0, 0, 0]),
      ([0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B], [0x01, 0x08, 1, 0, 0x0A]),
      ([0x08, 1, 0, 0xFF, 0xFF, 0xE2, 0xFF], [0x01, 0x08, 1, 0, 0x0A]),
      ([0x04, 1, 0, 0xFF, 0xFF], [0x05, 1, 1, 0, 0, 0x28, 2, 0, 3, 0x28, 3, 0, 0, 0x2A, 4, 0, 0, 0x28, 5, 0, 3, 0x28]),
      ([0x04, 0x00, 0, 0xFF, 0xFF], [0x01, 0x04, 0, 0, 0x01]),
      ([0x04, 0x10, 0, 0xFF, 0xFF], [0x01, 0x04, 0x10, 0, 0x0A]),
      ([0x0A, 7, 0], [0x0B, 0, 0]), ([0x0A, 9, 0], [0x01, 0x0A, 9, 0, 0x01]), ([0x0A, 5, 0], [0x0B, 0x12, 6, 0, 0xE1, 0xFF]),
      // The answer to a Prepare Write says nothing about commands.
      ([0x16, 6, 0, 0, 0], [0x01, 0x16, 6, 0, 0x06]),
      // A subscription that ends.
      ([0x12, 7, 0, 0, 0], [0x13]),
    ] as [([UInt8], [UInt8])])
  func answersOtherQuestions(_ request: [UInt8], _ response: [UInt8]) throws {
    var answerer = try Self.answerer()
    #expect(answerer.answer(request) == .answer(response))
  }

  /// At MTU 23, a value has parts of 22 bytes. Reads by type then replay the other value and the refusal.
  @Test func aValueIsCutAsTheMTUIs() throws {
    var answerer = try Self.answerer()
    #expect(answerer.answer([0x0A, 6, 0]) == .play(6, response: [0x0B] + Array(1...22)))
    #expect(answerer.answer([0x0C, 6, 0, 22, 0]) == .answer([0x0D] + Array(23...44)))
    #expect(answerer.answer([0x0C, 6, 0, 44, 0]) == .answer([0x0D] + Array(45...60)))
    #expect(answerer.answer([0x0C, 6, 0, 61, 0]) == .answer([0x01, 0x0C, 6, 0, 0x07]))
    #expect(answerer.answer([0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF]) == .play(8, response: [0x09, 3, 6, 0, 0x77]))
    #expect(answerer.answer([0x08, 1, 0, 0xFF, 0xFF, 0, 0x2A]) == .play(9, response: [0x01, 0x08, 3, 0, 0x02]))
    #expect(answerer.answer([0x0A, 6, 0]) == .unknown(next: nil))
  }

  /// A read after the end of a whole value gets an empty answer, even if the recording has no such read.
  @Test func nothingIsBehindAWholeValue() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x02, 0x05, 0x02], [0x03, 100, 0])
    trace.ask([0x0A, 6, 0], [0x0B] + Array(1...22))
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x02, 0x05, 0x02]) == .play(0, response: nil) && answerer.answer([0x0A, 6, 0]) == .play(1, response: nil))
    #expect(answerer.answer([0x0C, 6, 0, 22, 0]) == .answer([0x0D]))
  }

  /// BlueZ does not ask for the type of the only descriptor of a characteristic that notifies.
  @Test func theOnlyDescriptorOfWhatNotifiesIsItsConfiguration() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 6, 0, 0x00, 0x18])
    trace.ask([0x10, 7, 0, 0xFF, 0xFF, 0, 0x28], [0x01, 0x10, 7, 0, 0x0A])
    trace.ask([0x08, 1, 0, 6, 0, 3, 0x28], [0x09, 7, 2, 0, 0x10, 3, 0, 0xE1, 0xFF, 5, 0, 0x02, 6, 0, 0xE2, 0xFF])
    trace.ask([0x08, 6, 0, 6, 0, 3, 0x28], [0x01, 0x08, 6, 0, 0x0A])
    trace.ask([0x12, 4, 0, 1, 0], [0x13])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x04, 4, 0, 0xFF, 0xFF]) == .answer([0x05, 1, 4, 0, 2, 0x29, 5, 0, 3, 0x28, 6, 0, 0xE2, 0xFF]))
    #expect(answerer.answer([0x12, 4, 0, 1, 0]) == .play(4, response: nil))
    #expect(answerer.answer([0x12, 4, 0, 1, 0]) == .answer([0x13]))
    #expect(answerer.answer([0x12, 4, 0, 2, 0]) == .unknown(next: nil))
    // The last written value counts.
    #expect(answerer.answer([0x0A, 4, 0]) == .answer([0x0B, 1, 0]))
    #expect(answerer.answer([0x12, 4, 0, 0, 0]) == .answer([0x13]))
    #expect(answerer.answer([0x0A, 4, 0]) == .answer([0x0B, 0, 0]))
  }

  /// If the recorded client did not look for more values, there are no more.
  @Test func whatNobodyLookedForFurtherIsAll() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF], [0x09, 3, 6, 0, 0x77])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF]) == .play(0, response: nil))
    #expect(answerer.answer([0x08, 7, 0, 0xFF, 0xFF, 0xE1, 0xFF]) == .answer([0x01, 0x08, 7, 0, 0x0A]))
    #expect(answerer.answer([0x08, 7, 0, 0xFF, 0xFF, 0xE2, 0xFF]) == .unknown(next: nil))
  }

  /// The first part of a value is not the whole value.
  @Test func whatWasNotReadToItsEndIsNotKnown() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x0A, 6, 0], [0x0B] + Array(1...22))
    trace.ask([0x02, 0x05, 0x02], [0x03, 100, 0])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x02, 0x00, 0x02]) == .answer([0x03, 100, 0]))
    #expect(answerer.answer([0x0A, 6, 0]) == .unknown(next: [0x0A, 6, 0]))
  }

  /// The MTU stays if the recording has no exchange. A refusal is the device's own.
  @Test func theMTUStaysWhereNobodyExchangedIt() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x0A, 6, 0], [0x0B, 1])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x02, 0x05, 0x02]) == .answer([0x03, 23, 0]))
    #expect(answerer.mtu == 23 && answerer.answer([0x0A, 6, 0]) == .play(0, response: nil))
    trace.ask([0x02, 0x05, 0x02], [0x01, 0x02, 0, 0, 0x06])
    answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer([0x02, 100, 0]) == .answer([0x01, 0x02, 0, 0, 0x06]))
  }

  /// A request gets the attribute name that the recording gives.
  @Test func namesWhatIsAsked() throws {
    var answerer = try Self.answerer()
    #expect(answerer.asked([0x0A, 6, 0]) == .attribute([0x0A, 6, 0], .init(type: UUID(0xFFE1))))
    #expect(answerer.asked([0x12, 7, 0, 1, 0]) == .attribute([0x12, 7, 0, 1, 0], .init(type: UUID(0x2902), characteristic: UUID(0xFFE1))))
    #expect(answerer.asked([0x52, 99, 0, 1]) == .attribute([0x52, 99, 0, 1], nil))
    #expect(answerer.asked([0x18, 1]) == .attribute([0x18, 1], nil))
  }

  /// Requests about unrecorded attributes get no answer.
  @Test(
    arguments: [
      [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x04, 1, 0, 0xFF, 0xFF], [0x0A, 3, 0],
      [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE0, 0xFF], [0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF], [0x12, 7, 0, 1, 0], [0x0C, 6, 0, 22, 0],
      [0x18, 1], [0x0E, 1, 0, 2, 0], [0x16, 6, 0, 0, 0, 1],
    ] as [[UInt8]])
  func whatNobodyAskedIsNotKnown(_ request: [UInt8]) throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x0A, 6, 0], [0x0B, 1])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    #expect(answerer.answer(request) == .unknown(next: [0x0A, 6, 0]))
  }

  /// Services of one attribute each, requested with another MTU, so that no response equals the recorded one.
  @Test func manyServices() throws {
    let handles = Array(stride(from: UInt16(1), to: 4000, by: 2))
    func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x02, 0x05, 0x02], [0x03, 0x05, 0x02])
    var next: UInt16 = 1
    for start in stride(from: 0, to: handles.count, by: 60) {
      let part = handles[start..<min(start + 60, handles.count)]
      trace.ask([0x10] + bytes(next) + [0xFF, 0xFF, 0, 0x28], [0x11, 6] + part.flatMap { bytes($0) + bytes($0) + bytes(0x1800) })
      next = (part.last ?? 0) + 1
    }
    trace.ask([0x10] + bytes(next) + [0xFF, 0xFF, 0, 0x28], [0x01, 0x10] + bytes(next) + [0x0A])
    trace.ask([0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x01, 0x08, 1, 0, 0x0A])
    var answerer = Answerer(try #require(try Recording(parsing: trace.file).links.first))
    var found: [UInt16] = []
    var start: UInt16 = 1
    while case .answer(let response) = answerer.answer([0x10] + bytes(start) + [0xFF, 0xFF, 0, 0x28]), response.first == 0x11 {
      for index in stride(from: 2, to: response.count, by: 6) { found.append(UInt16(response[index]) | UInt16(response[index + 1]) << 8) }
      start = (found.last ?? 0) + 1
    }
    #expect(found == handles)
    for handle in handles {
      #expect(answerer.answer([0x08] + bytes(handle) + bytes(handle) + [3, 0x28]) == .answer([0x01, 0x08] + bytes(handle) + [0x0A]))
    }
    #expect(answerer.answer([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 1, 0x18]) == .answer([0x01, 0x06, 1, 0, 0x0A]))
  }
}

/// Tests how the time of a recording maps to the time of a replay.
@Suite(.timeLimit(.minutes(15))) struct PaceTests {
  private static let second: Int64 = 1_000_000_000

  @Test func aHostThatIsAsFastAsThen() {
    var pace = Pace(now: 5 * Self.second)
    #expect(pace.due(Self.second) == 6 * Self.second)
    #expect(pace.align(Self.second, now: 6 * Self.second) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
    // The recorded host computed at this point, which now takes no time.
    #expect(pace.align(Self.second, now: 6 * Self.second - Pace.slack) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
  }

  /// The device's actions keep their distance to the host's actions.
  @Test func aHostThatIsSlower() {
    var pace = Pace(now: 0)
    #expect(pace.align(Self.second, now: 4 * Self.second) == 0 && pace.due(2 * Self.second) == 5 * Self.second)
  }

  @Test func aHostThatDoesNotThinkAgain() {
    var pace = Pace(now: 0)
    #expect(pace.align(10 * Self.second, now: Self.second) == 9 * Self.second)
    #expect(pace.due(12 * Self.second) == 3 * Self.second)
  }
}
