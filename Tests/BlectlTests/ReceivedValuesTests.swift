import TestSupport

@testable import BluetoothLE
@testable import Program

/// The values that `wait` takes, without a link.
@Suite(.timeLimit(.minutes(15))) struct ReceivedValuesTests {
  private static func event(_ handle: Int, _ value: UInt8) -> ValueEvent {
    ValueEvent(handle: AttributeHandle(clamping: handle), value: [value], isIndication: false, wallClock: 0)
  }

  @Test(.onLoop) @LoopActor func takes() async throws {
    let values = ReceivedValues()
    for value: UInt8 in 0..<3 { values.add((Self.event(1, value), nil)) }
    var (position, checked) = (0, [UInt8]())
    #expect(
      values.take(after: &position) {
        checked += $0.event.value; return $0.event.value == [1]
      }?.event.value == [1])
    #expect(values.take(after: &position) { _ in false } == nil)
    values.add((Self.event(1, 3), nil))
    // A value is checked once after a call that found none.
    #expect(
      values.take(after: &position) {
        checked += $0.event.value; return false
      } == nil)
    #expect(checked == [0, 1, 3] && values.recent.map(\.event.value) == [[0], [2], [3]])
  }

  @Test(.onLoop) @LoopActor func forgetsAtACommand() async throws {
    let values = ReceivedValues()
    for handle in [1, 2, 1] { values.add((Self.event(handle, 0), nil)) }
    values.forget(for: "read")
    #expect(values.recent.isEmpty && values.lastCommand == "read")
    #expect(values.takeEarlier(AttributeHandle(clamping: 1)) == 2 && values.takeEarlier(AttributeHandle(clamping: 1)) == nil)
    values.startLink()
    #expect(values.takeEarlier(AttributeHandle(clamping: 2)) == nil && values.lastCommand == nil)
  }

  @Test(.onLoop) @LoopActor func drops() async throws {
    let values = ReceivedValues()
    values.limit = 4
    for value in 0..<260 { values.add((Self.event(1, UInt8(truncatingIfNeeded: value)), nil)) }
    var position = 0
    #expect(values.take(after: &position) { _ in false } == nil)
    #expect(values.takeDropped() == nil)
    values.add((Self.event(1, 9), nil))
    #expect(values.takeDropped() == 256 && values.takeDropped() == nil && values.recent.count == 5)
    // The position counts the dropped values.
    #expect(values.take(after: &position) { _ in true }?.event.value == [9])
  }

  @Test(.onLoop) @LoopActor func wakes() async throws {
    let values = ReceivedValues()
    let start = EventLoop.shared.now
    let early = try await values.untilNext(until: start.advanced(by: .seconds(1)))
    EventLoop.shared.schedule(after: .seconds(1)) { values.add((Self.event(1, 0), nil)) }
    let late = try await values.untilNext(until: start.advanced(by: .seconds(9)))
    #expect(!early && late && start.duration(to: EventLoop.shared.now) == .seconds(2))
  }
}
