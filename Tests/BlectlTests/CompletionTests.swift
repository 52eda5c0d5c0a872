import TestSupport
import Testing

/// The completion scripts, in the shells they are for; scripts/test installs these.
@Suite(.timeLimit(.minutes(15))) struct CompletionTests {
  /// What is typed so far, and what is offered, among other things or alone.
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
    ("blectl sim --l", ["--listen"], true), ("blectl sim --s", ["--stay"], true),
  ]

  private static func script(_ shell: String) throws -> String {
    let result = try Blectl.run("--generate-completion-script", shell)
    #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
    return try TemporaryFolder.file(result.output)
  }

  private static func check(_ output: String, _ typed: (line: String, offers: [String], isAll: Bool)) {
    let offered = output.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(Set(typed.offers).isSubset(of: offered), "\(typed.line): \(output)")
    if typed.isAll { #expect(Set(offered) == Set(typed.offers), "\(typed.line): \(output)") }
  }

  @Test func bash() throws {
    let script = try Self.script("bash")
    for typed in Self.typed {
      let words = typed.line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }.joined(separator: " ")
      let result = try Shell.run(
        """
        source \(script); complete -p blectl >/dev/null || exit 1
        COMP_LINE='\(typed.line)' COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE}
        _blectl blectl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """)
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      Self.check(result.output, typed)
    }
  }

  @Test func fish() throws {
    let script = try Self.script("fish")
    for typed in Self.typed {
      // A completion of fish is the word, a tab and what it is.
      let result = try Shell.run("fish --no-config -c \"source \(script); complete -C '\(typed.line)'\" | cut -f 1")
      #expect(result.errors.isEmpty, "\(result.errors)")
      Self.check(result.output, typed)
    }
  }

  @Test func zsh() throws {
    let result = try Shell.run("zsh -n \(try Self.script("zsh"))")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
  }
}
