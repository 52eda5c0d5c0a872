/// The places of the panes on the screen. Boxes have a border of one cell.
struct BrowserLayout: Equatable {
  struct Box: Equatable {
    let row: Int
    let column: Int
    let width: Int
    let height: Int

    /// Rows inside the border.
    var inside: Int { max(0, height - 2) }

    /// The line inside the border that was hit, from 0.
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
  /// Both panes are seen side by side; else the one that has the focus.
  let isWide: Bool
  let devices: Box
  let tree: Box
  let log: Box?
  /// The form.
  let bottom: Box?

  static let least = (width: 40, height: 10)

  static func fits(width: Int, height: Int) -> Bool { width >= least.width && height >= least.height }

  /// - Parameter bottom: rows that a form wants; it takes the place of the log.
  init(width: Int, height: Int, hasLog: Bool, bottom wanted: Int) {
    self.width = width
    self.height = height
    isWide = width >= 90
    // The last line says what the keys do.
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
}
