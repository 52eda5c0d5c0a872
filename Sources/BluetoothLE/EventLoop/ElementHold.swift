// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The processing of delivered elements, for an async iterator of the library. Virtual time stands still from the delivery of an element
/// until the consumer asks for the next one or drops the iterator. See `Holds`.
@LoopActor
package final class ElementHold {
  /// Orders the creation of iterators and the delivery of elements.
  private nonisolated static let positions = Atomic<Int>(0)

  private nonisolated static func nextPosition() -> Int { positions.wrappingAdd(1, ordering: .relaxed).newValue }

  private let position: Int
  /// Strong references: another object at the same address would look like the same scope.
  private let scope: (any AnyObject & Sendable)?
  private var hold: (element: Holds.Hold, scope: CallScope?)?

  /// Creates it together with its iterator.
  /// - Parameter scope: The object that the sequence belongs to, such as an adapter.
  package nonisolated init(for scope: (any AnyObject & Sendable)? = nil) {
    position = Self.nextPosition()
    self.scope = scope
  }

  isolated deinit { end() }

  /// Waits for the next element, which `body` returns on the loop. First ends the hold of the previous element.
  /// - Returns: Nil after the last element. There is no hold then.
  /// - Throws: The error of `body`. There is no hold then.
  package nonisolated func next<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async throws -> T?) async throws -> T? {
    let (loop, caller, current) = (EventLoop.shared, CallScope.caller(scope), CallScope.current)
    return try await loop.runOnLoop { () async -> Result<T?, any Error> in
      self.end()
      let call = loop.holds.beginCall(by: caller, iterator: self.position)
      defer { loop.holds.end(call) }
      let result = await Result(of: body)
      self.end()
      if case .success(.some) = result { self.hold = (loop.holds.beginElement(for: caller, position: Self.nextPosition()), current) }
      return result
    }.get()
  }

  private func end() {
    if let hold { EventLoop.shared.holds.endElement(hold.element) }
    hold = nil
  }
}
