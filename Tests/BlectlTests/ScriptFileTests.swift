import Foundation
import Scripts
import TestSupport

/// Every script of Tests/Scripts runs, with the results that its first comments state:
///
///     # exit: 7                   the exit code (default: 0)
///     # arguments: --set A=1      of `run`, in the quoting of the shell
///     # adapter: sim:rig.json     the default is sim; paths are relative to that folder
///     # shows: TEXT               a part of stdout; blanks and line ends are equal
///     # hides: TEXT               a text that is not in stdout
///     # error: TEXT               a part of stderr
///
/// Scripts with a name that starts with `_` are for inclusion.
@Suite(.timeLimit(.minutes(15))) struct ScriptFileTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
    "Scripts"
  )
  .path

  static var names: [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return all.filter { $0.hasSuffix(".blectl") && !$0.hasPrefix("_") }.sorted()
  }

  /// The comments at the start of a script.
  struct Header {
    private var entries: [(key: String, text: String)] = []

    init(_ script: String) {
      for line in script.split(separator: "\n") {
        guard line.hasPrefix("# ") else { break }
        guard let colon = line.firstRange(of: ": ") else { continue }
        entries.append((String(line[..<colon.lowerBound].dropFirst(2)), String(line[colon.upperBound...])))
      }
    }

    subscript(key: String) -> [String] { entries.filter { $0.key == key }.map(\.text) }
  }

  private static func squeezed(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  @Test func thereAreScripts() { #expect(Self.names.count >= 70) }

  @Test(arguments: names) func comesToWhatItSays(_ name: String) throws {
    let header = Header(try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8))
    let arguments = try header["arguments"].flatMap { try ShellWords.words(of: $0) }
    let result = try Blectl.run(["run"] + arguments + [name], folder: Self.folder, adapter: header["adapter"].first ?? "sim")
    let said = "\n\(result.text)\(result.errors)"
    #expect(result.status == header["exit"].first.map { Int32($0) ?? -1 } ?? 0, "\(said)")
    let (output, errors) = (Self.squeezed(result.text), Self.squeezed(result.errors))
    for text in header["shows"] { #expect(output.contains(Self.squeezed(text)), "does not show \(text)\(said)") }
    for text in header["hides"] { #expect(!output.contains(Self.squeezed(text)), "shows \(text)\(said)") }
    for text in header["error"] { #expect(errors.contains(Self.squeezed(text)), "does not say \(text)\(said)") }
  }

  /// The examples of blectl-script(5) are scripts that pass in the simulator.
  @Test func examplesOfTheManual() throws {
    let page = try String(contentsOf: ManualTests.root.appendingPathComponent("man/blectl-script.5"), encoding: .utf8)
    let examples = page.components(separatedBy: ".\\\" example\n.Bd -literal\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n.Ed").first?.replacing("\\e", with: "\\")
    }
    #expect(examples.count >= 6)
    for example in examples {
      let result = try Blectl.run(["run", "-"], input: Array(example.utf8))
      #expect(result.status == 0, "\(example)\n\(result.text)\(result.errors)")
    }
  }

  private static let expectationWords = [
    "within", "every", "field", "as", "of", "no", "disconnect", "service", "characteristic", "has", "or", "peripheral", "connected",
    "disconnected", "paired",
    "subscribed", "unsubscribed", "written", "notified",
  ]

  /// Every word and predicate of the language is in the manual, and in a script of Tests/Scripts.
  @Test func everyWordIsShown() throws {
    let page = try String(contentsOf: ManualTests.root.appendingPathComponent("man/blectl-script.5"), encoding: .utf8)
    let scripts = try Self.names.map { try String(contentsOfFile: "\(Self.folder)/\($0)", encoding: .utf8) }.joined(separator: "\n")
    for word in ScriptParser.words + Predicate.words + Self.expectationWords {
      #expect([" ", "\n"].contains { page.contains(" \(word)\($0)") }, "\(word) is not in the manual")
      #expect([" \(word) ", "\n\(word)"].contains { scripts.contains($0) }, "\(word) is in no script")
    }
  }
}
