import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct TransferMemoryTests {
  private static func place(_ handle: AttributeHandle) throws -> TransferMemory.Place {
    TransferMemory.Place(PeerAddress(try #require(Address("C0:FF:EE:00:00:01")), .random), handle)
  }

  @Test func theLaterRecordIsRight() throws {
    let (first, second) = (try Self.place(1), try Self.place(0xFFFF))
    let slow = TransferMemory.Pace(gap: 6000, interval: 15_000, airTime: 2000)
    let fast = TransferMemory.Pace(gap: 0, interval: 7500, airTime: 1500)
    let records: [TransferMemory.Record] = [
      .point(first, .init(offset: 10, crc: 7)), .pace(first, slow), .point(second, .init(offset: 1, crc: .max)), .pace(second, slow),
      .point(first, nil), .pace(second, fast),
    ]
    let memory = TransferMemory(parsing: records.flatMap(\.line))
    #expect(memory.points == [second: .init(offset: 1, crc: .max)])
    #expect(memory.paces == [first: slow, second: fast])
    let again = TransferMemory(parsing: memory.log)
    #expect(again == memory)
  }

  /// A simulated device may have the address of a real one.
  @Test func everyAirHasItsOwn() throws {
    let real = try Self.place(1)
    let simulated = TransferMemory.Place(real.peer, real.handle, air: "sim")
    let records: [TransferMemory.Record] = [.point(real, .init(offset: 10, crc: 7)), .point(simulated, .init(offset: 20, crc: 8))]
    let memory = TransferMemory(parsing: records.flatMap(\.line))
    #expect(memory.points == [real: .init(offset: 10, crc: 7), simulated: .init(offset: 20, crc: 8)])
  }

  /// A known pace applies to links that carry no more data at a time.
  @Test(
    arguments: [
      (0, 15_000, 2000, 15, 2000, true), (0, 15_000, 2000, 7.5, 2500, true), (0, 7500, 2000, 15, 2000, true),
      (0, 15_000, 2000, 15, 1800, false),
      (0, 15_000, 2000, 30, 2000, false), (6000, 15_000, 2000, 15, 500, true), (6000, 15_000, 2000, 30, 2000, false),
      (6000, 50_000, 2000, 30, 2000, true),
    ] as [(Int, Int, Int, Double, Int, Bool)])
  func holds(_ gap: Int, _ interval: Int, _ airTime: Int, _ now: Double, _ airTimeNow: Int, _ isSo: Bool) {
    let pace = TransferMemory.Pace(gap: gap, interval: interval, airTime: airTime)
    #expect(pace.holds(on: .milliseconds(now), airTime: .microseconds(airTimeNow)) == isSo)
    #expect(!pace.holds(on: nil, airTime: .microseconds(airTimeNow)))
  }

  @Test(arguments: [
    "", "{", "null", #"{"peer":"x","handle":1,"gap_us":1}"#, #"{"peer":"C0:FF:EE:00:00:01/random","gap_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"gap_us":-1,"interval_us":1,"air_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"gap_us":1e3,"interval_us":1,"air_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"gap_us":1,"interval_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"gap_us":1,"interval_us":10000001,"air_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"offset":0,"crc32":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"offset":9,"crc32":4294967296}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":1,"offset":99999999999999999999999,"crc32":"1"}"#, #"{"handle":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":0,"offset":9,"crc32":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","handle":65536,"offset":9,"crc32":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"fff6","offset":9,"crc32":1}"#,
  ])
  func whatIsNoRecord(_ line: String) {
    let memory = TransferMemory(parsing: Array(line.utf8) + [0x0A, 0xFF, 0x0A])
    #expect(memory.paces.isEmpty && memory.points.isEmpty)
  }
}
