import Testing

@testable import BluetoothLE
@testable import Browser

/// Parts of the browser as values: the tree, a scrolled list and a typed line.
@Suite(.timeLimit(.minutes(15))) struct BrowserPartTests {
  private func tree() -> AttributeTree {
    var tree = AttributeTree()
    tree.update(BrowserFixture.table)
    return tree
  }

  @Test func restoring() {
    var tree = tree()
    let (before, isFound) = (tree, tree.find("2901", afterCursor: false, values: [:]))
    #expect(isFound && tree.cursor == 0x14 && tree.rows.count == 10)
    tree.update(AttributeTable(services: Array(BrowserFixture.table.services.prefix(2))))
    tree.restore(before)
    #expect(tree.cursor == nil && tree.rows.map(\.handle) == [1, 3, 0x10, 0x12])
  }

  @Test func theCursorStaysWithItsAttribute() {
    var tree = tree()
    tree.cursor = 0x24
    tree.update(BrowserFixture.table)
    #expect(tree.cursor == 0x24)
    tree.update(AttributeTable(services: Array(BrowserFixture.table.services.prefix(2))))
    #expect(tree.cursor == nil && tree.current?.handle == 1)
  }

  @Test(arguments: [(0, 3, 0), (0, 9, 5), (7, 3, 3), (7, 9, 7), (9, 9, 9), (30, 9, 9)])
  func scrolling(_ top: Int, _ index: Int, _ expected: Int) {
    #expect(BrowserLayout.top(top, showing: index, of: 10, rows: 5) == expected)
  }

  @Test func aLongLineShowsTheCursor() {
    for (width, text, cursor) in [(20, "0123456789", 10), (5, "6789", 4)] {
      #expect(LineField("0123456789").visible(width, LineRenderer(isUTF8: true)) == (text, cursor))
    }
  }
}
