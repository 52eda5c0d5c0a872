import Glibc

/// Shell patterns over names, case-insensitive.
enum Glob {
  static func matches(_ pattern: String, _ text: String) -> Bool {
    unsafe fnmatch(pattern.lowercased(), text.lowercased(), 0) == 0
  }
}
