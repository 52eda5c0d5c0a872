import TestSupport

/// Errors do not start with the user's input.
@Suite(.timeLimit(.minutes(15))) struct ErrorWordTests {
  private func blectl(_ arguments: [String]) throws -> Blectl.Result {
    try Blectl.run(
      arguments,
      adapter: Blectl.simulator(
        """
        { "name": "Sensor", "address": "D1:00:00:00:00:30/random", "advertisement": { "name": "Sensor" }, "services": [
          { "uuid": "fff0", "characteristics": [ { "uuid": "fff3", "properties": ["indicate"] } ] } ] }
        """))
  }

  @Test(arguments: [
    ["write", "name:Sensor", "fff1", "0x41", "0x54", "0x2b"],
    ["write", "name:Sensor", "fff1", "0x41", "0x41", "0x41", "--mode", "command"],
    ["-e", "write fff1 0x41 0x54 0x2b", "name:Sensor"],
  ]) func aValueOfSeveralWordsNamesTheQuotes(_ words: [String]) throws {
    let result = try blectl(words)
    let value = words.contains("0x54") || words[0] == "-e" ? "'0x41 0x54 0x2b'" : "'0x41 0x41 0x41'"
    #expect(result.status == 64 && result.errors.contains("write takes one VALUE. Put it in quotes: \(value)"), "\(result.errors)")
  }

  /// A thousand digits at the start would hide the error.
  @Test func anErrorDoesNotBeginWithAThousandDigits() throws {
    let long = String(repeating: "0123456789abcdef", count: 64)
    for words in [
      ["write", "name:Sensor", "fff3", long + "x"], ["write", "name:Sensor", "fff3", "00", long], ["read", "name:Sensor", long],
      ["-e", "write fff3 \(long)", "name:Sensor"], ["-e", "read \(long)", "name:Sensor"], ["-e", long, "name:Sensor"], [long],
      ["notify", "name:Sensor", long], ["scan", "--service", long], ["-e", "subscribe fff3; unsubscribe \(long)", "name:Sensor"],
      ["read", "name:Sensor", "\(long.prefix(32))/\(long.prefix(32))[7]"], ["read", "name:\(long)", "fff3"], ["read", "@\(long)", "fff3"],
      ["-i", long, "scan"], ["call", "name:Sensor", long], ["call", "name:Sensor", "x", long], ["decode", "adv", long + "x"],
      ["run", long],
      ["mac-from-adv", "--hex", long + "x"], ["write", "name:Sensor", "fff3", "@\(long)"], ["read", "name:Sensor", "fff3", "--as", long],
      ["-e", "alias \(long) name:Sensor", "name:Sensor"], ["-e", "use \(long)", "name:Sensor"], ["-e", "set \(long) 1", "name:Sensor"],
      ["gatttool", "-b", long, "--primary"], ["help", long], ["--\(long)"], ["read", "--\(long)", "name:Sensor", "fff3"],
    ] {
      let result = try blectl(words)
      #expect(result.status != 0, "\(words)")
      let first = result.errors.split(separator: "\n").first.map(String.init) ?? ""
      let message = first.hasPrefix("blectl: ") ? String(first.dropFirst("blectl: ".count)) : first
      // The input is not even there after an opening quote.
      let begin = message.drop { "\"'@/".contains($0) }.prefix(61)
      #expect(!words.contains { $0.contains(begin) }, "\(words.first ?? "") \(message.prefix(100))")
    }
  }
}
