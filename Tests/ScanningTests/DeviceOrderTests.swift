import TestSupport

@Suite(.timeLimit(.minutes(15))) struct DeviceOrderTests {
  private func device(_ number: UInt64, _ rssi: Int8, name: String? = nil, at time: Int64 = 0) -> DeviceView {
    var device = DeviceView(peer(number))
    let report = report(number, name.map(named) ?? [], rssi: rssi)
    device.add(report, Advertisement(report.data), at: time)
    return device
  }

  private func numbers(_ devices: [DeviceView]) -> [UInt64] { devices.map { $0.peer.address.rawValue - peer(0).address.rawValue } }

  @Test func theStrongestFirstAndNoRowMovesBelowSixDecibels() {
    var order = DeviceOrder(.rssi)
    func arrange(_ levels: [Int8], inView: Int = 10) -> [UInt64] {
      numbers(order.arrange(levels.enumerated().map { device(UInt64($0.offset + 1), $0.element) }, inView: inView, at: 0))
    }
    #expect(arrange([-70, -50, -60]) == [2, 3, 1])
    #expect(arrange([-65, -60, -55]) == [2, 3, 1], "5 dB are no reason")
    #expect(arrange([-65, -60, -54]) == [3, 2, 1], "6 dB are")
    #expect(arrange([-65, -56, -58]) == [3, 2, 1])
    #expect(arrange([-40, -60, -54]) == [1, 3, 2])
    #expect(arrange([-40, -60, -54, -50]) == [1, 4, 3, 2], "a new one has no place to keep")
  }

  @Test func theStrongestIsAlwaysInView() {
    var order = DeviceOrder(.rssi)
    let before = (1...20).map { device($0, -60) }
    #expect(numbers(order.arrange(before, inView: 5, at: 0)) == Array(1...20))
    let after = (1...20).map { device($0, $0 == 20 ? -57 : -60) }
    #expect(numbers(order.arrange(after, inView: 5, at: 0)) == [20] + Array(1...19))
    #expect(numbers(order.arrange(after, inView: 0, at: 0)).first == 20)
    #expect(order.arrange([], inView: 5, at: 0).isEmpty)
  }

  /// The last table is exactly sorted, although a live table avoids moving its rows.
  @Test func theLastTableIsExact() {
    let devices = [
      device(1, -60, name: "b", at: 1_000_000_000), device(2, -59, name: "", at: 1_300_000_000),
      device(3, -70, name: "A", at: 1_200_000_000),
      device(4, -55, name: "B", at: 900_000_000), DeviceView(peer(5)), device(6, -59, at: 1_100_000_000),
    ]
    func sorted(_ key: DeviceOrder.Key) -> [UInt64] {
      var order = DeviceOrder(key)
      _ = order.arrange(devices.prefix(1) + [device(2, -90), device(4, -61)], inView: 10, at: 0)
      return numbers(order.sorted(devices))
    }
    #expect(sorted(.rssi) == [4, 2, 6, 1, 3, 5])
    #expect(sorted(.last) == [2, 3, 6, 1, 4, 5])
    #expect(sorted(.name) == [3, 1, 4, 2, 5, 6])
    #expect(sorted(.first) == [1, 2, 3, 4, 5, 6])
  }

  @Test func otherOrders() {
    let devices = [
      device(1, -60, name: "b", at: 1_000_000_000), device(2, -50), device(3, -70, name: "A", at: 2_500_000_000), device(4, -40, name: "B"),
    ]
    func arrange(_ key: DeviceOrder.Key) -> [UInt64] {
      var order = DeviceOrder(key)
      return numbers(order.arrange(devices, inView: 10, at: 3_000_000_000))
    }
    #expect(arrange(.name) == [3, 1, 4, 2])
    #expect(arrange(.last) == [3, 1, 2, 4])
    #expect(arrange(.first) == [1, 2, 3, 4])
  }
}
