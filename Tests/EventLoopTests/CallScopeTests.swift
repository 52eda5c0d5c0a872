import TestSupport

@testable import BluetoothLE

/// A later object at the address of an earlier one must not count as the same scope.
@Suite(.timeLimit(.minutes(15))) struct CallScopeTests {
  /// A task may outlive the bodies that it began in.
  @Test func aScopeKeepsTheScopesAroundIt() {
    weak var outer: CallScope?
    let inner: CallScope
    do {
      let made = CallScope(inside: CallScope(inside: nil))
      outer = made
      inner = CallScope(inside: made)
    }
    #expect(inner.all.count == 3 && inner.all.dropFirst().first == outer?.identifier)
  }

  @Test func anObjectCountsWhileItLives() {
    var object: Scope? = Scope()
    let outer = CallScope(inside: nil, on: object)
    let inner = CallScope(inside: outer)
    #expect(inner.all == [inner.identifier, outer.identifier] + (object.map { [ObjectIdentifier($0)] } ?? []))
    object = nil
    #expect(inner.all == [inner.identifier, outer.identifier])
  }
}
