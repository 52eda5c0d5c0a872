import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct HoldsTests {
  private let scopes = [Scope(), Scope()]

  private func caller(task: Int?, _ indices: Int...) -> Holds.Caller {
    Holds.Caller(task: task, scopes: indices.map { ObjectIdentifier(scopes[$0]) })
  }

  @Test func onItsOwnThreadTimeNeedsACall() {
    var holds = Holds()
    #expect(holds.allowAdvance(needsCall: false))
    #expect(!holds.allowAdvance(needsCall: true))
    let calls = (0..<2).map { holds.beginCall(by: caller(task: $0)) }
    #expect(holds.allowAdvance(needsCall: true))
    holds.end(calls[0])
    #expect(holds.allowAdvance(needsCall: true))
    holds.end(calls[1])
    #expect(!holds.allowAdvance(needsCall: true))
  }

  @Test func aBodyIsSuspendedUntilItsLastCallEnds() {
    var holds = Holds()
    holds.beginBody(ObjectIdentifier(scopes[0]))
    #expect(!holds.allowAdvance(needsCall: false))
    let stranger = holds.beginCall(by: caller(task: 9, 1))
    #expect(!holds.allowAdvance(needsCall: false))
    let calls = (0..<2).map { holds.beginCall(by: caller(task: $0, 0)) }
    #expect(holds.allowAdvance(needsCall: false))
    holds.end(calls[0])
    #expect(holds.allowAdvance(needsCall: false))
    holds.end(calls[1])
    #expect(!holds.allowAdvance(needsCall: false))
    holds.endBody(ObjectIdentifier(scopes[0]))
    #expect(holds.allowAdvance(needsCall: false))
    holds.end(stranger)
  }

  /// An element that task 1 receives at position 5, in scope 0.
  @Test(
    arguments: [
      // The task that received the element, in any scope.
      (task: 1, scope: 0, iterator: nil, suspends: true), (1, 1, nil, true), (1, 0, 4, true), (1, 1, 4, true),
      // Other tasks of the scope, unless they read from an older iterator.
      (2, 0, nil, true), (2, 0, 6, true), (2, 0, 4, false),
      // Other tasks of other scopes.
      (2, 1, nil, false), (2, 1, 6, false), (nil, 1, 6, false),
    ] as [(task: Int?, scope: Int, iterator: Int?, suspends: Bool)])
  func whoseCallsSuspendAnElement(_ task: Int?, _ scope: Int, _ iterator: Int?, _ suspends: Bool) {
    var holds = Holds()
    let hold = holds.beginElement(for: caller(task: 1, 0), position: 5)
    #expect(!holds.allowAdvance(needsCall: false))
    let call = holds.beginCall(by: caller(task: task, scope), iterator: iterator)
    #expect(holds.allowAdvance(needsCall: false) == suspends)
    holds.end(call)
    #expect(!holds.allowAdvance(needsCall: false))
    holds.endElement(hold)
    #expect(holds.allowAdvance(needsCall: false))
  }

  @Test func anElementThatComesDuringACallIsAHold() {
    var holds = Holds()
    let call = holds.beginCall(by: caller(task: 1, 0))
    let hold = holds.beginElement(for: caller(task: 2, 0), position: 1)
    #expect(!holds.allowAdvance(needsCall: true))
    holds.endElement(hold)
    holds.endElement(hold)
    #expect(holds.allowAdvance(needsCall: true))
    holds.end(call)
  }

  /// The elements that the code of a body received belong to the innermost body, and end with it.
  @Test func aBodyEndsWithItsElements() {
    var holds = Holds()
    for scope in scopes { holds.beginBody(ObjectIdentifier(scope)) }
    _ = holds.beginElement(for: caller(task: 1, 1, 0), position: 1)
    holds.endBody(ObjectIdentifier(scopes[0]))
    let call = holds.beginCall(by: caller(task: 2, 1))
    #expect(holds.allowAdvance(needsCall: false))
    holds.end(call)
    #expect(!holds.allowAdvance(needsCall: false))
    holds.endBody(ObjectIdentifier(scopes[1]))
    #expect(holds.allowAdvance(needsCall: false))
  }
}
