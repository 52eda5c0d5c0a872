import BluetoothLESimulator
import Foundation
import TestSupport

/// How fast a served device notifies, beside what the link can carry.
@Suite(.timeLimit(.minutes(15))) struct ServedThroughputTests {
  /// A link, the size of each value in bytes, and the bytes per second that scripts/bench links computes for them.
  struct Row: Sendable {
    let phy: String
    let dataLength: Int
    let mtu: Int
    let interval: Double
    let value: Int
    let capacity: Double

    init(_ phy: String, _ dataLength: Int, _ mtu: Int, _ interval: Double, _ value: Int, _ capacity: Double) {
      (self.phy, self.dataLength, self.mtu, self.interval, self.value, self.capacity) = (phy, dataLength, mtu, interval, value, capacity)
    }

    /// Parses the members of a row, joined by commas.
    init(_ text: Substring) throws {
      let words = text.split(separator: ",")
      let numbers = words.compactMap { Double($0) }
      try #require(words.count == 6 && numbers.count == 5)
      self.init(String(words[0]), Int(numbers[0]), Int(numbers[1]), numbers[2], Int(numbers[3]), numbers[4])
    }
  }

  /// The rows of scripts/bench links, separated by spaces. Nil in other runs.
  private static let bench = ProcessInfo.processInfo.environment["BLECTL_BENCH_LINKS"]
  private static let seconds = bench == nil ? 3.0 : 20.0

  @Test(.onLoop) @LoopActor func notificationsFillTheLink() async throws {
    let rows =
      try Self.bench?.split(separator: " ").map { try Row($0) } ?? [
        Row("1m", 251, 247, 30, 244, 97_600), Row("2m", 251, 517, 7.5, 424, 169_600), Row("1m", 27, 23, 7.5, 20, 29_333),
        Row("coded", 251, 185, 50, 182, 10_920),
      ]
    for row in rows {
      let rate = try await Self.rate(row)
      if Self.bench != nil { print("served \(row.phy),\(row.dataLength),\(row.mtu),\(row.interval),\(row.value): \(rate)") }
      #expect(rate >= 0.95 * row.capacity && rate <= 1.02 * row.capacity, "\(row): \(rate)")
    }
  }

  /// Returns the bytes per second that arrive, in virtual time.
  @LoopActor private static func rate(_ row: Row) async throws -> Double {
    let air = Air(seed: 1)
    var configuration = VirtualController.Configuration()
    configuration.dataLength = row.dataLength
    let address = Address(rawValue: 0x5E00_5311)
    let host = HostCentral(VirtualController(air: air, address: address, configuration: configuration), name: "device")
    let central = HostCentral(VirtualController(air: air, configuration: configuration), name: "central")
    try await host.start()
    try await central.start()
    let text = #"""
      {"name": "T", "address": "D1:00:00:00:00:09/random", "mtu": \#(row.mtu), "interval_ms": 30,
       "services": [{"uuid": "ff00", "characteristics": [{"uuid": "ff01", "properties": ["notify"]}]}]}
      """#
    let device = ServedDevice(try PeripheralFile.parse(Array(text.utf8), name: "x")[0], on: try #require(host.peripheral))
    try await device.start()
    let link = try await central.connect(PeerAddress(address, .public), timeout: .seconds(5))
    let client = Client(link.channel)
    #expect(try await client.exchangeMTU() == row.mtu)
    let item = try #require(try await client.discover().resolve(Selector("ff01")).characteristic)
    let subscription = try await client.subscribe(item)
    if let phy = PHY(name: row.phy), phy != .le1M { #expect(try await link.requestPHY(phy).phy == phy) }
    let parameters = try await link.requestInterval(.microseconds(Int64(row.interval * 1000)))
    #expect(parameters.maxTxOctets == row.dataLength && parameters.interval == .microseconds(Int64(row.interval * 1000)))
    let count = Int(row.capacity * seconds) / row.value
    let line = PeripheralLine.notify(try Selector("ff01"), [UInt8](repeating: 7, count: row.value))
    // Fewer wait than the device keeps for a central.
    var left = count + 1
    func send() throws {
      if left > 0 { try device.perform(line) }
      left -= 1
    }
    for _ in 0..<Bearer.answerLimit / 2 { try send() }
    _ = try await subscription.next()
    let start = EventLoop.shared.now
    var bytes = 0
    for _ in 0..<count {
      try send()
      bytes += try await subscription.next().value.count
    }
    let time = start.duration(to: EventLoop.shared.now)
    await central.close()
    await host.close()
    #expect(bytes == count * row.value)
    return Double(bytes) / (Double(time.wholeNanoseconds) / 1e9)
  }
}
