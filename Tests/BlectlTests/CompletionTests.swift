import Foundation
import TestSupport

/// The completion scripts in their shells. scripts/test installs the shells.
@Suite(.timeLimit(.minutes(15))) struct CompletionTests {
  /// Lines typed so far, with the offers, either among others or alone.
  static let typed: [(line: String, offers: [String], isAll: Bool)] = [
    (
      "blectl ",
      ["adapters", "scan", "connect", "services", "read", "write", "notify", "mac-from-adv", "send-file", "peers", "sim", "browse"],
      false
    ),
    ("blectl sc", ["scan"], true),
    ("blectl -i sim sc", ["scan"], true),
    ("blectl scan --so", ["--sort"], true),
    ("blectl scan --sort ", ["rssi", "name", "last", "first"], true),
    ("blectl decode ", ["adv", "att", "hci", "value"], false),
    ("blectl read --wa", ["--wait"], true),
    ("blectl write --exp", ["--expect", "--expect-count"], true),
    ("blectl write --mode re", ["request", "reliable"], true),
    ("blectl read --as u16", ["u16le", "u16be"], true),
    ("blectl send-file --mt", ["--mtu"], true), ("blectl read --phy ", ["1m", "2m", "coded"], true),
    ("blectl sim --l", ["--listen"], true), ("blectl sim --s", ["--stay", "--strict"], true),
  ]

  /// Creates a folder with the scripts and a `blectl` that completes like the real one, or else writes its arguments to `words`.
  private static func folder() throws -> String {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
    var files = [
      "bin/blectl": "[ \"$1\" = ---complete ] && exec \(Blectl.path) \"$@\"\nprintf '%s\\n' \"$@\" >\(folder)/words; echo DONE\n",
      ".bashrc": "source \(folder)/bash; PS1='R> '; set -H\n",
      ".zshrc": "autoload -U compinit; compinit -u -D; source \(folder)/zsh; PS1='R> '\n",
      "fish.fish": "source \(folder)/fish; function fish_prompt; echo 'R> '; end\n",
    ]
    for shell in ["bash", "zsh", "fish"] {
      let result = try Blectl.run("--generate-completion-script", shell)
      #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
      files[shell] = result.text
    }
    for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    files["bin/blectl"].map { try? Data("#!/bin/bash\n\($0)".utf8).write(to: URL(fileURLWithPath: folder + "/bin/blectl")) }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/bin/blectl")
    return folder
  }

  private static func check(_ output: Substring, _ typed: (line: String, offers: [String], isAll: Bool)) {
    let offered = output.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(Set(typed.offers).isSubset(of: offered), "\(typed.line): \(output)")
    if typed.isAll { #expect(Set(offered) == Set(typed.offers), "\(typed.line): \(output)") }
  }

  /// Runs a shell command for each typed line, and checks the output.
  private static func checkAll(_ shell: String, _ start: String, _ each: (String) -> String) throws {
    let folder = try folder()
    let script = try TemporaryFolder.file(
      "\(start) \(folder)/\(shell.prefix { $0 != " " })\n\(typed.map { each($0.line) + "\necho ====\n" }.joined())")
    let result = try Shell.run("PATH=\(folder)/bin:$PATH \(shell) \(script)")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let outputs = result.output.components(separatedBy: "====\n")
    try #require(outputs.count == typed.count + 1)
    for (typed, output) in zip(typed, outputs) { check(output[...], typed) }
  }

  @Test func bash() throws {
    try Self.checkAll("bash", "source") { line in
      "COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count); _blectl blectl; printf '%s\\n' \"${COMPREPLY[@]}\""
    }
  }

  /// fish prints a word, a tab and a description.
  @Test func fish() throws { try Self.checkAll("fish --no-config", "source") { "complete -C '\($0)' | cut -f 1" } }

  /// Files in a folder with a blank in its name, in every spelling.
  @Test func fishFiles() throws {
    let folder = try Self.folder()
    try FileManager.default.createDirectory(atPath: folder + "/a b/sub", withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder + "/a b/t.bin"))
    let typed = ["\(folder)/a\\\\ b/", "\\'\(folder)/a b/", "\"\(folder)/a b/"]
    let script = try TemporaryFolder.file("source \(folder)/fish\n\(typed.map { "complete -C 'blectl decode trace \($0)'\n" }.joined())")
    let result = try Shell.run("PATH=\(folder)/bin:$PATH fish --no-config \(script)")
    let offered = result.output.split(separator: "\n").map(String.init)
    #expect(result.errors.isEmpty && offered == Array(repeating: ["\(folder)/a b/sub/", "\(folder)/a b/t.bin"], count: 3).flatMap(\.self))
  }

  /// Device names that are traps or have blanks, in and out of quotes, and an address with an attribute after its colons.
  @Test(arguments: ["bash", "zsh", "fish"]) func atAPrompt(_ shell: String) throws {
    let folder = try Self.folder()
    let commands = [
      "bash": ["bash", "--rcfile", "\(folder)/.bashrc", "-i"], "zsh": ["zsh", "-i"],
      "fish": ["fish", "-i", "-C", "source \(folder)/fish.fish"],
    ]
    let terminal = try PseudoTerminal(
      ["sh", "-c", "cd \(folder); exec \"$@\"", "sh"] + (commands[shell] ?? []), columns: 200, rows: 50,
      environment: ["PATH": "\(folder)/bin:/usr/bin:/bin", "HOME": folder, "XDG_STATE_HOME": try CompletionStateTests.folder()],
      hasKeys: true)
    // The typed keys, and the text that the shell then shows.
    let lines: [(keys: [(String, String)], words: [String])] = [
      ([("blectl read it\t", "PWNED")], ["read", "name:it's $(touch PWNED)"]),
      ([("blectl read \"name:Two\t", "Words")], ["read", "name:two words"]),
      ([("blectl read d1:00:00:00:00:09\t", "random"), ("bat\t", "level")], ["read", "d1:00:00:00:00:09/random", "battery_level"]),
    ]
    var seen = 0
    func wait(_ text: String) throws {
      try #require(terminal.wait(for: text, after: seen), "\(text): \(String(decoding: terminal.bytes.dropFirst(seen), as: UTF8.self))")
      let bytes = Data(terminal.bytes)
      seen = bytes.range(of: Data(text.utf8), in: seen..<bytes.count)?.upperBound ?? bytes.count
    }
    for line in lines {
      try wait("R> ")
      for (keys, shown) in line.keys {
        terminal.type(keys)
        try wait(shown)
      }
      terminal.type("\r")
      try wait("DONE")
      let words = try String(contentsOfFile: folder + "/words", encoding: .utf8).split(separator: "\n").map { $0.lowercased() }
      #expect(words == line.words.map { $0.lowercased() })
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/PWNED"))
    terminal.type("exit\r")
    _ = terminal.finish()
  }
}
