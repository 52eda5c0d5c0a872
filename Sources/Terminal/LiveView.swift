import Glibc

/// A block of lines at the bottom of the terminal that is drawn again in place.
package struct LiveView {
  private var drawn = 0

  package init() {}

  /// Replaces what was drawn before. Lines must fit the width and the block the height, or the cursor arithmetic is wrong: the caller clips.
  package mutating func draw(_ lines: [String], on output: Output) throws(OutputFailure) {
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r" : ""
    for line in lines { text += line + "\u{1B}[K\n" }
    text += "\u{1B}[J"
    drawn = lines.count
    try output.write(Array(text.utf8))
  }
}
