// SPDX-License-Identifier: Apache-2.0
/// Lines of text that are sorted by their first bytes, the keys, which have one length. A line that starts with a space continues a record.
package enum SortedTable {
  /// Finds the record whose first line starts with `key`, by binary search. Returns its lines, or nil if no record starts with the key.
  package static func record(_ key: [UInt8], in table: String) -> [UInt8]? {
    let text = table.utf8.span
    let newline = UInt8(ascii: "\n")
    let blank = UInt8(ascii: " ")
    // The first line of a record at or after the start of a line.
    func record(at place: Int) -> Int {
      var place = place
      while place < text.count, text[place] == blank {
        while place < text.count, text[place] != newline { place += 1 }
        place += 1
      }
      return min(place, text.count)
    }
    var low = 0
    var high = text.count
    while low < high {
      var start = low + (high - low) / 2
      while start > low, text[start - 1] != newline || text[start] == blank { start -= 1 }
      var order = 0
      for (index, byte) in key.enumerated() where order == 0 {
        guard start + index < text.count else { return nil }
        order = Int(byte) - Int(text[start + index])
      }
      var end = start
      while end < text.count, text[end] != newline { end += 1 }
      end = record(at: end + 1)
      if order < 0 {
        high = start
      } else if order > 0 {
        low = end
      } else {
        var bytes: [UInt8] = []
        for index in start..<end { bytes.append(text[index]) }
        return bytes
      }
    }
    return nil
  }
}
