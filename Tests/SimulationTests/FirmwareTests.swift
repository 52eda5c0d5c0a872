import Testing

@testable import BluetoothLESimulator

/// Tests the firmware alone, on the test's clock.
@Suite(.timeLimit(.minutes(15))) struct FirmwareTests {
  private static let millisecond: Int64 = 1_000_000
  private static let request = FirmwareQueue.PDU(bytes: [0x12, 0x0B, 0x00, 1], isUneven: false)

  private static func command(_ bytes: Int = 1, isUneven: Bool = false) -> FirmwareQueue.PDU {
    FirmwareQueue.PDU(bytes: [0x52, 0x0B, 0x00] + [UInt8](repeating: 0, count: bytes), isUneven: isUneven)
  }

  private static func queue(_ change: (inout Firmware) -> Void) -> FirmwareQueue {
    var firmware = Firmware()
    firmware.whenFull = .drop
    change(&firmware)
    return FirmwareQueue(firmware, random: SeededRandom(seed: 1, stream: 2))
  }

  /// Returns the times in ms at which PDUs that arrive together are done.
  private func times(_ pdus: [FirmwareQueue.PDU], _ change: (inout Firmware) -> Void) -> [Double] {
    var queue = Self.queue(change)
    for pdu in pdus { _ = queue.arrive(pdu, at: 0) }
    var times: [Double] = []
    while let due = queue.due, queue.next(at: due) != nil { times.append(Double(due) / 1e6) }
    return times
  }

  /// Returns the number of lost PDUs when they arrive at this gap.
  private func lost(of count: Int, every gap: Int64, _ change: (inout Firmware) -> Void) -> Int {
    var queue = Self.queue(change)
    for number in 0..<count {
      let now = Int64(number) * gap
      while queue.next(at: now) != nil {}
      _ = queue.arrive(Self.command(), at: now)
    }
    return queue.dropped
  }

  @Test func oneAfterTheOther() {
    #expect(times([Self.command(), Self.command(), Self.command()]) { $0.timePerPacket = .milliseconds(5) } == [5, 10, 15])
    #expect(times([Self.command()]) { _ in } == [0])
  }

  /// A busy firmware handles waiting and new PDUs afterwards.
  @Test func isBusy() {
    var queue = Self.queue { $0.timePerPacket = .milliseconds(5) }
    #expect(queue.arrive(Self.command(), at: 0) == .waits)
    queue.pause(until: 100 * Self.millisecond)
    #expect(queue.arrive(Self.command(), at: 50 * Self.millisecond) == .waits)
    #expect(queue.next(at: 99 * Self.millisecond) == nil && queue.next(at: 100 * Self.millisecond) != nil)
    #expect(queue.due == 105 * Self.millisecond && queue.next(at: 105 * Self.millisecond) != nil)
    queue.pause(until: 200 * Self.millisecond)
    #expect(queue.arrive(Self.command(), at: 110 * Self.millisecond) == .waits && queue.due == 205 * Self.millisecond)
  }

  @Test func whatTakesLonger() {
    let commands = [Self.command(), Self.command(10), Self.command(12), Self.command(12, isUneven: true)]
    #expect(
      times(commands + [Self.request]) {
        $0.timePerPacket = .milliseconds(1)
        $0.shortBytes = 10
        $0.timePerLongByte = .milliseconds(2)
        $0.unevenTime = .milliseconds(7)
        $0.timePerRequest = .milliseconds(20)
        $0.slowEvery = 2
        $0.slowTime = .milliseconds(100)
      } == [1, 102, 107, 219, 240])
    let jittered = times([Self.command(), Self.command(), Self.command()]) {
      $0.timePerPacket = .milliseconds(5)
      $0.jitter = .milliseconds(2)
    }
    let each = zip(jittered, [0] + jittered).map { $0 - $1 }
    #expect(each.allSatisfy { $0 >= 5 && $0 <= 7 } && Set(each).count == 3)
  }

  @Test func commandsAreDroppedWhereThereIsNoBufferAndRequestsWait() {
    var queue = Self.queue {
      $0.buffers = 2
      $0.timePerPacket = .milliseconds(5)
    }
    let arrivals = [Self.command(), Self.command(), Self.command(), Self.request, Self.command()].map { queue.arrive($0, at: 0) }
    #expect(arrivals == [.waits, .waits, .dropped, .waits, .dropped])
    // One buffer beyond the limit is in use until two PDUs are done.
    #expect(queue.next(at: 5 * Self.millisecond) != nil && queue.arrive(Self.command(), at: 6 * Self.millisecond) == .dropped)
    #expect(queue.next(at: 10 * Self.millisecond) != nil && queue.arrive(Self.command(), at: 11 * Self.millisecond) == .waits)
    #expect(queue.next(at: 14 * Self.millisecond) == nil && queue.next(at: 15 * Self.millisecond)?.first == 0x12)
    #expect(queue.count == 1 && queue.dropped == 3)
  }

  /// At an arrival every 4 ms and a time of 5 ms, one in five is lost; half if a drop takes 3 ms.
  @Test func droppingCostsTimeToo() {
    #expect(abs(lost(of: 1000, every: 4 * Self.millisecond) { $0.timePerPacket = .milliseconds(5) } - 200) < 10)
    let half = lost(of: 1000, every: 4 * Self.millisecond) {
      $0.timePerPacket = .milliseconds(5)
      $0.timePerDrop = .milliseconds(3)
    }
    #expect(abs(half - 500) < 30)
    #expect(lost(of: 1000, every: 5 * Self.millisecond) { $0.timePerPacket = .milliseconds(5) } == 0)
  }

  @Test func beginsToDrop() {
    func taken(_ drops: Int?) -> [Int] {
      var queue = Self.queue {
        $0.whenFull = .hold
        $0.dropsAfter = 3
        $0.drops = drops
      }
      return (0..<8).filter { number in queue.arrive(Self.command(), at: Int64(number)) == .waits }
    }
    #expect(taken(nil) == [0, 1, 2] && taken(2) == [0, 1, 2, 5, 6, 7])
  }

  @Test func answersOvertakeWhatWaits() {
    var queue = Self.queue {
      $0.timePerPacket = .milliseconds(5)
      $0.answersAtOnce = true
    }
    #expect([Self.command(), Self.request].map { queue.arrive($0, at: 0) } == [.waits, .passed])
    #expect(queue.count == 1)
  }

  /// Endless requests do not fill the memory.
  @Test func requestsDoNotPileUpWithoutEnd() {
    var queue = Self.queue { $0.timePerPacket = .seconds(3600) }
    for _ in 0..<10_000 { _ = queue.arrive(Self.request, at: 0) }
    #expect(queue.count == FirmwareQueue.mostWaiting)
  }
}
