extension ScriptParser {
  /// The words of other languages, with what scripts have for the same purpose.
  package static let foreign: [String: String] = {
    let branch = "Scripts have no conditions. A test ends at the first expect that fails."
    let loop = "For a loop, write: repeat 3 … end."
    let check = "To check a result, write: expect == 3c."
    let test = "Write a test as: test \"opens\" … end."
    let print = "To add text to the report, write: note \"text\"."
    return [
      "//": "A comment starts with #.", "rem": "A comment starts with #.",
      "if": branch, "else": branch, "elif": branch, "endif": branch, "then": branch, "switch": branch,
      "for": loop, "while": loop, "foreach": loop, "loop": loop, "assert": check, "verify": check, "should": check,
      "describe": test, "it": test, "scenario": test, "function": test, "def": test, "print": print, "echo": print, "puts": print,
      "log": print, "delay": "To wait, write: sleep 500ms.", "pause": "To wait, write: sleep 500ms.",
      "import": "To include a file, write: include login.txt.", "var": "For a variable, write: set CODE 1b9901.",
      "const": "For a variable, write: set CODE 1b9901.", "{": "A block ends with the word end.", "}": "A block ends with the word end.",
    ]
  }()
}
