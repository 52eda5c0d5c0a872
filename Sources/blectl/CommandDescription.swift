import ArgumentParser
import Text

/// What the argument parser says of a command. Asking takes it a millisecond.
struct CommandDescription {
  struct Argument {
    /// With their hyphens; empty for one that is told by its place.
    let names: [String]
    let valueName: String
    let takesValue: Bool
    let isRepeating: Bool
    /// The first sentence of its help.
    let hint: String
    /// What it takes, where that is a list.
    let values: [String]
    let isFile: Bool
  }

  /// The first sentence of its help.
  let hint: String
  /// In their order.
  let arguments: [Argument]

  init(of command: any ParsableCommand.Type) {
    let dump = try? JSONTree.parse(Array(command._dumpHelp().utf8))["command"]
    hint = Self.sentence(dump?["abstract"])
    arguments = if case .array(let items)? = dump?["arguments"]?.kind { items.map(Self.argument) } else { [] }
  }

  var options: [Argument] { arguments.filter { !$0.names.isEmpty } }

  private static func argument(_ item: JSONTree) -> Argument {
    let kind = item["kind"]?.string
    let isRepeating = if case .bool(true)? = item["isRepeating"]?.kind { true } else { false }
    let completion = item["completionKind"]
    var names: [String] = []
    if kind != "positional", case .array(let all)? = item["names"]?.kind {
      names = all.compactMap { name in name["name"]?.string.map { (name["kind"]?.string == "short" ? "-" : "--") + $0 } }
    }
    var values: [String] = []
    if case .array(let all)? = (completion?["list"]?["values"] ?? item["allValues"])?.kind { values = all.compactMap(\.string) }
    return Argument(
      names: names, valueName: item["valueName"]?.string?.lowercased() ?? "", takesValue: kind == "option", isRepeating: isRepeating,
      hint: sentence(item["abstract"]), values: values, isFile: completion?["file"] != nil)
  }

  private static func sentence(_ text: JSONTree?) -> String {
    let line = (text?.string ?? "").prefix { $0 != "\n" }
    // Not the one of a number.
    let end = line.indices.first { line[$0] == "." && (line.index(after: $0) == line.endIndex || line[line.index(after: $0)] == " ") }
    return String(line[..<(end ?? line.endIndex)])
  }
}
