// SPDX-License-Identifier: Apache-2.0
/// The rules that stop virtual time while the user's code runs.
///
/// Virtual time jumps to the next timer when the loop has nothing to do. The user's code runs on other threads, so the loop also has
/// nothing to do while that code computes, and every time limit would pass at once. Therefore:
///
/// 1. If the loop runs on its own thread, time advances only during a library call. Otherwise no task waits for anything.
/// 2. Time never advances during a hold. There is a hold for each piece of the user's code that the library knows to run: the body of
///    a call (a connection, for example), a call of a delegate, and the processing of a delivered element.
/// 3. A call suspends the holds of the code that makes it, from its begin to its end: that code waits too. If two calls suspend a
///    hold, it is active again after both.
///
/// A call with a body lasts until the code after the body has ended. So the hold of an outer body stays suspended during the inner body.
///
/// A body's code is known by its scope, which its child tasks inherit. Nothing marks the processing of an element: it is a piece of a
/// loop in the user's code. A call belongs to the processing of an element in two cases.
///
/// - The task that received the element makes the call. This includes nested loops, and two iterators that one task uses in turn.
/// - A task of the same scope makes the call, probably a child task. But a request for the next element only counts if its iterator is
///   younger than the element. An older iterator belongs to a sibling that reads on its own, and must not void the hold.
///
/// A hold cannot see that its code waits for an unrelated task which needs time, for example for the body of another adapter. Then time
/// stands still for good. Such code must start that task itself, so that the task is in its scope.
///
/// All functions run on the loop, in the job that begins or ends a call. So time cannot advance between two of these steps.
struct Holds {
  /// The code that makes a call.
  struct Caller: Sendable {
    let task: Int?
    /// The scopes of the bodies that the code runs in, the innermost first, and then the object that the call is made on.
    let scopes: [ObjectIdentifier]
  }

  /// A piece of the user's code that time waits for. Other threads may keep a reference, but only the loop uses what is in it.
  final class Hold: @unchecked Sendable {
    fileprivate let scope: ObjectIdentifier?
    /// The task that received the element, and the position of the delivery among all deliveries and iterators. Nil for a body.
    fileprivate let delivery: (task: Int?, position: Int)?
    fileprivate var suspensions = 0

    fileprivate init(scope: ObjectIdentifier?, delivery: (task: Int?, position: Int)? = nil) {
      (self.scope, self.delivery) = (scope, delivery)
    }

    /// - Parameter iterator: The position of the iterator that the call takes the next element from. Nil for other calls.
    fileprivate func belongs(to caller: Caller, iterator: Int?) -> Bool {
      if let delivery, let task = delivery.task, task == caller.task { return true }
      guard let scope, caller.scopes.contains(scope) else { return false }
      guard let delivery, let iterator else { return true }
      return iterator > delivery.position
    }
  }

  /// A library call that has begun.
  struct Call: Sendable { fileprivate let suspended: [Hold] }

  private var calls = 0
  private var holds: [Hold] = []

  /// Whether virtual time may advance.
  /// - Parameter needsCall: Whether the loop runs on its own thread.
  func allowAdvance(needsCall: Bool) -> Bool { (calls > 0 || !needsCall) && !holds.contains { $0.suspensions == 0 } }

  mutating func beginCall(by caller: Caller, iterator: Int? = nil) -> Call {
    calls += 1
    let suspended = holds.filter { $0.belongs(to: caller, iterator: iterator) }
    for hold in suspended { hold.suspensions += 1 }
    return Call(suspended: suspended)
  }

  mutating func end(_ call: Call) {
    calls -= 1
    for hold in call.suspended { hold.suspensions -= 1 }
  }

  /// Begins the hold of a body or of a delegate's code.
  mutating func beginBody(_ scope: ObjectIdentifier) { holds.append(Hold(scope: scope)) }

  /// Ends the hold of a body, and the holds of the elements that its code received.
  mutating func endBody(_ scope: ObjectIdentifier) { holds.removeAll { $0.scope == scope } }

  /// Begins the hold of an element that the caller receives.
  mutating func beginElement(for caller: Caller, position: Int) -> Hold {
    let hold = Hold(scope: caller.scopes.first, delivery: (caller.task, position))
    holds.append(hold)
    return hold
  }

  mutating func endElement(_ hold: Hold) { holds.removeAll { $0 === hold } }
}
