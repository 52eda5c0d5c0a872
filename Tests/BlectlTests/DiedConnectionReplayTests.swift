import Foundation
import TestSupport
import Traces

/// A recording whose first connection ended during discovery, and whose second one has everything.
@Suite(.timeLimit(.minutes(15))) struct DiedConnectionReplayTests {
  @Test(arguments: [true, false]) func theNextConnectionAnswers(_ isStrict: Bool) throws {
    let trace = TemporaryPath()
    #expect(try Blectl.run("-e", "services; read 2a19", "name:Band-7", "--trace", trace.path).status == 0)
    let records = try Snoop.parse(Array(Data(contentsOf: URL(fileURLWithPath: trace.path))))
    // LE Create Connection or its extended form, and the first Read By Group Type Response.
    let start = try #require(records.firstIndex { $0.packet[0] == 1 && [0x200D, 0x2043].contains($0.packet.uint16(at: 1)) })
    let answer = try #require(records.firstIndex { $0.packet[0] == 2 && $0.packet.count > 9 && $0.packet[9] == 0x11 })
    let handle = records[answer].packet[1]
    var end = records[answer]
    end.packet = [4, 0x05, 4, 0, handle, 0, 0x08]
    let later = records[answer].wallClock - records[start].wallClock + 1_000_000_000
    let again = records[start...].map { record in
      var record = record
      record.wallClock += later
      return record
    }
    let file = TemporaryPath()
    try file.write(Snoop.header(.h4) + (records[...answer] + [end] + again).flatMap(\.encoded))
    let result = try Blectl.run(
      ["-e", "services; read 2a19", "name:Band-7"] + (isStrict ? ["--strict"] : []), adapter: "replay:\(file.path)")
    #expect(result.status == 0 && result.text.contains("60 %"), "\(result.text)\(result.errors)")
    #expect(result.errors.contains("ended during discovery. This is connection 2 to the device in the recording."), "\(result.errors)")
  }
}
