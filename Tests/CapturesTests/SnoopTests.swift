import TestSupport
import Traces

@Suite(.timeLimit(.minutes(15))) struct SnoopTests {
  private let records = [
    Snoop.Record(packet: [1, 3, 0x0C, 0], direction: .hostToController, wallClock: 1_767_225_600_000_001_000),
    Snoop.Record(packet: [4, 0x0E, 4, 1, 3, 0x0C, 0], direction: .controllerToHost, wallClock: 1_767_225_600_000_002_000),
    Snoop.Record(packet: [2, 0x40, 0, 0, 0], direction: .hostToController, wallClock: 0),
  ]
  private var file: [UInt8] { Snoop.header + records.flatMap(\.encoded) }

  @Test func format() throws {
    #expect(Hex.encode(Snoop.header) == "6274736e6f6f7000" + "00000001" + "000003ea")
    // 2000-01-01T00:00:00Z is 0x00E03AB44A676000 in btsnoop files.
    let millennium = Snoop.Record(packet: [4, 0x10, 0], direction: .controllerToHost, wallClock: 946_684_800_000_000_000)
    #expect(Hex.encode(millennium.encoded) == "00000003" + "00000003" + "00000003" + "00000000" + "00e03ab44a676000" + "041000")
    #expect(Hex.encode(records[0].encoded[8..<12]) == "00000002")
    #expect(Hex.encode(records[2].encoded[8..<12]) == "00000000")
    #expect(try Snoop.parse(file) == records)
  }

  @Test func badFiles() {
    for length in 0..<file.count {
      let whole = (0...records.count).contains { Snoop.header.count + records.prefix($0).reduce(0) { $0 + $1.encoded.count } == length }
      #expect(((try? Snoop.parse(Array(file.prefix(length)))) != nil) == whole, "\(length)")
    }
    hostile([file], mutations: 20_000) { _ = try? Snoop.parse($0) }
  }
}
