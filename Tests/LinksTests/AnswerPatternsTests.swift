import TestSupport

@Suite(.timeLimit(.minutes(15))) struct AnswerPatternsTests {
  static func pattern(_ text: String) -> AnswerPatterns.Pattern {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    return AnswerPatterns.Pattern(
      AttributeHandle(clamping: Int(parts[0]) ?? 0), beginningWith: parts.count > 1 ? Hex.decode(String(parts[1])) ?? [] : [])
  }

  /// Checks each value's verdict (answer, failure with index, neither) and how many values each expectation still needs.
  @Test(
    arguments: [
      (["3"], 1, [], ["3=00"], "a", [0]),
      (["3"], 1, [], ["4=00", "3="], "na", [0]),
      (["3=4f50"], 1, [], ["3=4f", "3=4f51", "3=4f50454e"], "nna", [0]),
      (["3"], 3, [], ["3=01", "3=02"], "aa", [1]),
      (["3"], 2, [], ["3=01", "3=02", "3=03"], "aaf", [0]),
      // Answers may arrive in any order.
      (["3=01", "3=02", "3=03"], 1, [], ["3=03", "3=01", "3=01", "3=02"], "aafa", [0, 0, 0]),
      // One value answers only one expectation: the most specific.
      (["3", "3=0102"], 1, [], ["3=0102", "3=07"], "aa", [0, 0]),
      (["3=01", "3", "3=0102"], 1, [], ["3=0103", "3=0102", "3=0103"], "aaa", [0, 0, 0]),
      (["3=01", "3=01"], 1, [], ["3=01"], "a", [1, 0]),
      (["3"], 1, ["3=46"], ["3=4641494c"], "0", [1]),
      (["3"], 1, ["4", "3=46"], ["4=", "3=46", "3=45"], "01a", [0]),
    ] as [([String], Int, [String], [String], String, [Int])])
  func verdicts(_ expected: [String], _ count: Int, _ failures: [String], _ values: [String], _ verdicts: String, _ missing: [Int]) {
    var answers = AnswerPatterns(expected.map(Self.pattern), count: count, failures: failures.map(Self.pattern))
    let said = values.map { text in
      let value = Self.pattern(text)
      switch answers.evaluate(ValueEvent(handle: value.handle, value: value.prefix, isIndication: false, wallClock: 0)) {
      case .answer: return "a"
      case .failure(let index): return String(index)
      case .further: return "f"
      case .neither: return "n"
      }
    }
    #expect(said.joined() == verdicts)
    #expect(answers.missing.sorted() == missing.sorted() && answers.areComplete == missing.allSatisfy { $0 == 0 })
  }

  /// Values of several characteristics arrive in order, and none after the end.
  @Test(.onLoop) @LoopActor func theValuesOfSeveralCharacteristics() async throws {
    let air = try await TestAir()
    try await air.withPeer("band-7") { _, client in
      let values = SubscribedValues(client)
      for name in ["2a37", "2a19", "2a37"] { try await values.add(try await client.characteristic(Selector(name))) }
      let first = try await values.next(until: EventLoop.shared.now.advanced(by: .seconds(5)))
      #expect(first?.0.value == [0x00, 0x48] && first?.1.description == "2a37")
      #expect(try await values.next(until: EventLoop.shared.now.advanced(by: .milliseconds(500))) == nil && !values.isClosed)
      try await EventLoop.shared.sleep(for: .milliseconds(2200))
      await values.end()
      for byte in [0x4A, 0x49] as [UInt8] { #expect(try await values.next(until: nil)?.0.value == [0x00, byte]) }
      #expect(try await values.next(until: nil) == nil)
      let configuration = try await client.discover().resolve(Selector("2a37@2902")).handle
      #expect(try await client.read(configuration) == [0, 0])
    }
    await air.central.close()
  }
}
