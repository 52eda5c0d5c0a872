import Terminal
import Testing

@Suite(.timeLimit(.minutes(1))) struct TableTests {
  @Test func columnsLineUpByDisplayWidth() {
    var table = Table(["NAME", "RSSI"])
    table.add(["錠", "-40 dBm"])
    table.add(["GateLock", "-60 dBm"])
    #expect(table.lines(width: nil) == ["NAME      RSSI", "錠        -40 dBm", "GateLock  -60 dBm"])
  }

  @Test func theLastColumnIsClipped() {
    var table = Table(["A", "B"])
    table.add(["x", "0123456789"])
    #expect(table.lines(width: 8) == ["A  B", "x  0123…"])
  }

  @Test func nothingStandsBehindWhatIsThere() {
    var table = Table(["NAME", "STATE", "ERRORS"])
    table.add(["a", "", ""])
    table.add(["b", "", "1"])
    #expect(table.lines(width: nil) == ["NAME  STATE  ERRORS", "a", "b            1"])
  }
}
