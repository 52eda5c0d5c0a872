// SPDX-License-Identifier: Apache-2.0
/// The search for the known word that is most similar to an unknown word. `UsageText` suggests options and commands with it.
package enum SpellingSuggestion {
  /// Returns the shortest candidate that starts with a `word` of 5 or more bytes, or else the candidate with the fewest edits.
  /// A `word` of 3 to 5 bytes allows one edit, and a longer one allows two. Returns nil if no candidate is similar.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    if word.utf8.count > 4, let whole = candidates.filter({ $0.hasPrefix(word) }).min(by: { $0.utf8.count < $1.utf8.count }) {
      return whole
    }
    let limit = word.utf8.count < 3 ? 0 : word.utf8.count < 6 ? 1 : 2
    let near = candidates.map { (name: $0, distance: distance($0, word)) }.filter { $0.distance <= limit }
    return near.min { $0.distance < $1.distance }?.name
  }

  /// Returns the number of edits that turn one word into the other. An edit inserts, removes or replaces a byte, or swaps two neighbors.
  /// Returns `Int.max` if a word is longer than 64 bytes.
  static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one.utf8), Array(other.utf8))
    // A very long text is not a misspelled word.
    guard a.count <= 64, b.count <= 64 else { return .max }
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        row.append(best)
      }
      before = last
      last = row
    }
    return last[b.count]
  }
}
