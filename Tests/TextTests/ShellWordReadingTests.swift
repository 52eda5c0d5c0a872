import TestSupport

/// Tests words with variables.
@Suite(.timeLimit(.minutes(15))) struct ShellWordReadingTests {
  private static func words(_ text: String) throws -> [ShellWord] {
    var reading = ShellWordReading(expands: true)
    for character in text { reading.take(character) }
    return try reading.finishedWords().flatMap { $0 }
  }

  private static func replaced(_ text: String) throws -> [String] {
    let values = ["A": "1", "B_2": "two words", "_": "", "LONG": "$A"]
    return try words(text).map { word in word.replaced { values[$0] ?? "?" } }
  }

  @Test(arguments: [
    ("$A", ["1"]), ("${A}", ["1"]), ("x$A", ["x1"]), ("$A.x", ["1.x"]), ("$A$A", ["11"]), ("${A}5", ["15"]), ("$A5", ["?"]),
    ("$B_2", ["two words"]), ("\"$B_2\"", ["two words"]), ("'$A'", ["$A"]), ("\\$A", ["$A"]), ("\"\\$A\"", ["$A"]), ("$", ["$"]),
    ("$ $A", ["$", "1"]),
    ("$5", ["$5"]), ("a$", ["a$"]), ("\"$\"", ["$"]), ("$'A'", ["$A"]), ("$\"A\"", ["$A"]), ("\"a${A}b\"c", ["a1bc"]), ("$_", [""]),
    ("$A#x", ["1#x"]), ("$A;$A", ["1", "1"]), ("$A # $A", ["1"]), ("$LONG", ["$A"]), ("$-", ["$-"]), ("$ü", ["$ü"]), ("$Aü", ["1ü"]),
    ("$A'$A'\"$A\"", ["1$A1"]), ("$A\\ $A", ["1 1"]), ("x${A}y${B_2}z", ["x1ytwo wordsz"]),
  ])
  func areReplaced(_ text: String, _ words: [String]) throws { #expect(try Self.replaced(text) == words) }

  @Test(arguments: [
    ("${A", ShellWordsError.unterminated("{")), ("${}", .notAVariable("")), ("${5}", .notAVariable("5")), ("${a-b}", .notAVariable("a-b")),
    ("${a b}", .notAVariable("a b")), ("\"${A\"", .unterminated("{")), ("${ü}", .notAVariable("ü")), ("$A '", .unterminated("'")),
  ])
  func whatIsNone(_ text: String, _ error: ShellWordsError) { #expect(throws: error) { try Self.words(text) } }

  @Test func wordsKnowWhereTheyStand() throws {
    #expect(try Self.words("  ab 'c d' \\ e $A ${A}x \"\" #").map(\.offset) == [2, 5, 11, 15, 18, 24])
  }

  @Test func onlyWhatHasNoQuotesIsAWordOfTheLanguage() throws {
    #expect(try Self.words("test 'test' te\\st t\"es\"t $A").map(\.keyword) == ["test", nil, "test", nil, nil])
  }

  @Test func withoutExpansionADollarSignIsOne() throws { #expect(try ShellWords.words(of: "$A ${A") == ["$A", "${A"]) }

  /// A name of a megabyte is read in linear time. Otherwise, the time limit of the suite would pass.
  @Test(arguments: ["$", "${"]) func aLongName(_ before: String) {
    _ = try? Self.words(before + String(repeating: "A", count: 1 << 20))
  }
}
