import Bluetooth
import TestSupport
import Testing

@testable import Operations

@Suite struct TransferMemoryTests {
  private static func place(_ attribute: String) throws -> TransferMemory.Place {
    TransferMemory.Place(PeerAddress(try #require(Address("C0:FF:EE:00:00:01")), .random), attribute)
  }

  @Test func theLaterRecordIsRight() throws {
    let (first, second) = (try Self.place("fff6"), try Self.place("ffe0/ffe1[2]"))
    let records: [TransferMemory.Record] = [
      .point(first, .init(offset: 10, crc: 7)), .gap(first, 6000), .point(second, .init(offset: 1, crc: .max)), .gap(second, 1),
      .point(first, nil), .gap(second, 0),
    ]
    let memory = TransferMemory(parsing: records.flatMap(\.line))
    #expect(memory.points == [second: .init(offset: 1, crc: .max)])
    #expect(memory.gaps == [first: 6000, second: 0])
    let again = TransferMemory(parsing: memory.log)
    #expect(again == memory)
  }

  @Test(arguments: [
    "", "{", "null", #"{"peer":"x","attribute":"a","gap_us":1}"#, #"{"peer":"C0:FF:EE:00:00:01/random","gap_us":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"a","gap_us":-1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"a","gap_us":1e3}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"a","offset":0,"crc32":1}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"a","offset":9,"crc32":4294967296}"#,
    #"{"peer":"C0:FF:EE:00:00:01/random","attribute":"a","offset":99999999999999999999999,"crc32":"1"}"#, #"{"attribute":"a"}"#,
  ])
  func whatIsNoRecord(_ line: String) {
    let memory = TransferMemory(parsing: Array(line.utf8) + [0x0A, 0xFF, 0x0A])
    #expect(memory.gaps.isEmpty && memory.points.isEmpty)
  }
}
