import Decoding
import HCI
import TestSupport
import Testing
import Text

@testable import blectl

/// What is shown of traces from anywhere: it may be nonsense, and must come to an end.
@Suite(.timeLimit(.minutes(15))) struct HostileTraceTests {
  private static func show(_ records: [Snoop.Record]) {
    var databases = LearnedDatabases()
    for record in records { databases.learn(record) }
    databases.finish()
    var decoder = TraceDecoder(databases)
    for record in records {
      let item = decoder.decode(record)
      let names: AttributeName.Source = { handle in item.server.flatMap { decoder.name(handle, of: $0) } }
      _ = PacketText.lines(item.packet, names: names)
      var json = RecordWriter()
      PacketRecord.write(&json, item.packet, item.octets ?? record.packet, layer: item.layer.rawValue, names: names)
    }
    let text = TraceSummaryText(decoder, duration: 1, lost: 0, leftOut: 0)
    _ = text.totals(columns: 80) + text.links.flatMap { text.lines(of: $0, columns: 80) }
  }

  /// The kernel's trace with each packet cut at each octet, and with others in its place.
  @Test func nothingTraps() throws {
    let records = try Snoop.parse(Array(Vectors.own("kernel.btsnoop")))
    Self.show(records)
    for record in records {
      for length in 0..<record.packet.count {
        var cut = record
        cut.packet = Array(record.packet.prefix(length))
        Self.show([cut])
      }
    }
    var random = SplitMix64(seed: 5)
    for _ in 0..<10 {
      var mutated = records
      for index in mutated.indices where random.next() % 4 == 0 && !mutated[index].packet.isEmpty {
        let position = Int(random.next() % UInt64(mutated[index].packet.count))
        mutated[index].packet[position] = UInt8(truncatingIfNeeded: random.next())
        if random.next() % 8 == 0 { mutated[index].wallClock = Int64(bitPattern: random.next()) }
      }
      Self.show(mutated)
    }
  }
}
