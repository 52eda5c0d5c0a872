/// The boxes of the panes on the screen. A box includes a border of one cell on each side.
struct BrowserLayout: Equatable {
  struct Box: Equatable {
    let row: Int
    let column: Int
    let width: Int
    let height: Int

    /// The number of rows inside the border of the box.
    var inside: Int { max(0, height - 2) }

    /// Returns the zero-based index of the clicked line inside the box. Returns nil for a click on the border or outside.
    func line(atRow hit: Int, column hitColumn: Int) -> Int? {
      guard hit > row, hit < row + height - 1, hitColumn >= column, hitColumn < column + width else { return nil }
      return hit - row - 1
    }

    func contains(row hit: Int, column hitColumn: Int) -> Bool {
      hit >= row && hit < row + height && hitColumn >= column && hitColumn < column + width
    }
  }

  let width: Int
  let height: Int
  /// Whether devices and tree are visible side by side. If false, only one of them is visible.
  let isWide: Bool
  let devices: Box
  let tree: Box
  let log: Box?
  /// The box of the write form at the bottom of the screen. Nil while the user does not write.
  let bottom: Box?

  /// Whether the tree has room for the details of the attribute under the cursor.
  var showsDetails: Bool { tree.inside >= 10 }
  /// The number of rows for attributes in the tree, not counting the details below them.
  var treeRows: Int { max(1, tree.inside - (showsDetails ? 4 : 0)) }

  static let least = (width: 40, height: 10)

  /// Divides a screen of `width` columns and `height` rows into panes.
  /// - Parameter bottom: The number of rows for the write form, which replaces the log. 0 if the user does not write.
  init(width: Int, height: Int, hasLog: Bool, bottom wanted: Int) {
    self.width = width
    self.height = height
    isWide = width >= 90
    // The last line shows hints for keys.
    let body = max(0, height - 1)
    let below = wanted > 0 ? min(wanted, body) : hasLog ? max(4, body / 3) : 0
    let main = max(0, body - below)
    let list = isWide ? max(38, min(56, width * 2 / 5)) : width
    devices = Box(row: 0, column: 0, width: list, height: main)
    tree = isWide ? Box(row: 0, column: list, width: width - list, height: main) : devices
    let rest = Box(row: main, column: 0, width: width, height: below)
    log = wanted == 0 && hasLog ? rest : nil
    bottom = wanted > 0 ? rest : nil
  }

  /// Returns the index of the first visible row after the smallest scroll that makes the row `index` visible. Indices start at 0.
  static func top(_ top: Int, showing index: Int, of count: Int, rows: Int) -> Int {
    let top = max(0, min(top, count - 1, index))
    return index >= top + rows ? index - rows + 1 : top
  }
}
