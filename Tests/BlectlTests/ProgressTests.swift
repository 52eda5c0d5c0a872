import TestSupport

@testable import Presentation

@Suite(.timeLimit(.minutes(15))) struct ProgressTests {
  @Test(arguments: [20, 40, 50, 80, 160]) func theBarLeavesRoom(_ width: Int) {
    let line = Progress.line(31_000, 78_831, from: 1000, inFlight: 12, seconds: 0.4, width: width)
    #expect(DisplayText.width(line) <= width - 2, "\(line)")
    if width >= 80 { #expect(line.contains("39 %  31000/78831 bytes  75.0 kB/s  0:01 left"), "\(line)") }
    #expect((line.first == "█") == (width > 60), "\(line)")
  }

  @Test func ofAPipeNobodyKnowsTheEnd() {
    #expect(Progress.line(2000, nil, from: 0, inFlight: 3, seconds: 2, width: 80) == "2000 bytes  1.0 kB/s  3 in flight")
  }

  /// The percentage is of the whole file, and the rate is that of this transfer.
  @Test func whatWasThereBeforeCounts() {
    let line = Progress.line(60_000, 80_000, from: 40_000, inFlight: 2, seconds: 2, width: 80)
    #expect(line.contains("75 %  60000/80000 bytes  10.0 kB/s  0:02 left"), "\(line)")
    #expect(line.prefix { $0 != " " }.count { $0 == "█" } * 4 / 3 >= line.prefix { $0 != " " }.count - 1, "\(line)")
  }

  @Test func timeThatIsLeft() {
    #expect(["0:00", "0:07", "1:00", "12:30"] == [0, 6.2, 59.5, 750].map(Quantity.time))
    #expect(Progress.line(10, 10, from: 0, inFlight: 1, seconds: 1, width: 80).hasSuffix("100 %  10/10 bytes  0.01 kB/s  1 in flight"))
  }
}
