import TestSupport

@testable import Terminal

/// Libraries never see a size that they cannot handle, whatever the terminal or the environment says.
@Suite(.timeLimit(.minutes(15))) struct TerminalSizeTests {
  @Test(
    arguments: [
      (80, 24, nil, 80, 24), (0, 0, nil, 80, 24), (0, 0, "132", 132, 132), (80, 24, "132", 80, 24), (0, 24, "x", 80, 24),
      (0, 0, "-5", 80, 24), (1, 1, nil, 8, 2), (7, 3, nil, 8, 3), (5000, 5000, nil, 4096, 4096), (0, 0, "5000", 4096, 4096),
      (0, 0, "99999999999999999999", 80, 24),
    ] as [(Int, Int, String?, Int, Int)])
  func limits(_ columns: Int, _ rows: Int, _ variable: String?, _ shownColumns: Int, _ shownRows: Int) {
    let size = TerminalSize(reported: (columns, rows)) { ["COLUMNS", "LINES"].contains($0) ? variable : nil }
    #expect(size.columns == shownColumns && size.rows == shownRows)
  }
}
