import Foundation
import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ScriptParserTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
    "Scripts")

  /// The commands that the tests need.
  private static var program: ScriptCheck.Program {
    ScriptCheck.Program(
      command: { command throws(ScriptCheck.CommandMistake) in
        switch command.words.first {
        case "read", "write", "services": return .device
        case "connect", "use": return .namesDevice
        case "scan", "peripheral": return .nothing
        default: throw ScriptCheck.CommandMistake("no such command")
        }
      }, errors: ["att", "timeout", "write_not_permitted"], reasons: ["connection_timeout"])
  }

  @discardableResult static func script(_ bytes: [UInt8], variables: [String: String] = [:]) throws(ScriptError) -> Script {
    let (statements, wrong) = try ScriptParser.parse(bytes, file: "x", settings: ["format"])
    let (script, mistakes) = ScriptCheck.script(statements, file: "x", variables: variables, program)
    if let first = ScriptErrors(wrong + mistakes, of: "x").errors.first { throw first }
    return script
  }

  /// Returns the places of all errors as `LINE:COLUMN`.
  private static func places(_ text: String) throws -> [String] {
    let (statements, wrong) = try ScriptParser.parse(Array(text.utf8), file: "x", settings: ["format"])
    let mistakes = wrong + ScriptCheck.script(statements, file: "x", variables: [:], program).mistakes
    return ScriptErrors(mistakes, of: "x").errors.map { "\($0.place.line):\($0.place.column ?? 0)" }
  }

  /// After too many mistakes, neither the lines nor the blocks nor the check go on.
  @Test(arguments: ["frobnicate", "'", "end", "set A", "test t\nfrobnicate\nend"]) func tooManyMistakes(_ line: String) throws {
    let text = Array(repeating: line, count: 500).joined(separator: "\n")
    let (statements, wrong) = try ScriptParser.parse(Array(text.utf8), file: "x", settings: [])
    #expect(wrong.count <= ScriptErrors.limit + 1)
    let found = wrong.count + ScriptCheck.script(statements, file: "x", variables: [:], Self.program).mistakes.count
    #expect((ScriptErrors.limit + 1...2 * ScriptErrors.limit + 3).contains(found), "\(found)")
  }

  /// The parser reports every error, and none that only follows from another.
  @Test(arguments: [
    ("frobnicate\nread a\nfrobnicate", ["1:1", "3:1"]), ("sleep 5x\nread $A\nread $A\nnote", ["1:7", "2:6", "4:1"]),
    // What a line with a mistake was to bring
    ("frobnicate\nexpect == 1\nfails", ["1:1", "3:1"]), ("let A = frobnicate\nread $A\nexpect == $A", ["1:1"]),
    ("$A x\nread b", ["1:1"]), ("let A = read a\n$A x", ["2:1"]),
    ("set A\nread $A", ["1:1"]), ("let A read a\nread $A", ["1:1"]),
    ("set A 'b\nread $A\nread 'c", ["1:7", "3:6"]),
    ("expect == 1\nexpect == 2", ["1:1"]), ("read a b c 'd\nfails\nexpect == 1", ["1:12"]), ("note a\0\nnote \0", ["1:7", "2:6"]),
    ("expect xyz! as u9 == 1 within 5\nread a", ["1:8", "1:16", "1:31"]),
    // Blocks
    ("test\nread a\nend\ntest u\nfrobnicate\nend", ["1:1", "5:1"]), ("test 'a\nread a\nexpect == 1\nend\ntest u\nread a\nend", ["1:6"]),
    ("repeat x\nfrobnicate\nend", ["1:8", "2:1"]), ("repeat\nread a\nend", ["1:1"]),
    ("test t\nread a\nend x\nread a\nend", ["3:5", "5:1"]),
    // An end that is missing
    ("test t\nread a\ntest u\nread a\nend\ntest v\nread a\nend", ["3:1"]), ("test t\nrepeat 2\nread a\nend\n", ["1:1"]),
    ("test t\nrepeat 2\nread a", ["2:1"]), ("repeat 2\ntest t\nread a\nend\nend\nfrobnicate", ["2:1", "6:1"]),
    // One that is too many
    ("read a\nend\nfrobnicate", ["2:1", "3:1"]), ("tset t\nread a\nexpect == 1\nend\nfrobnicate", ["4:1", "5:1"]),
    ("test t\nrepaet 2\nread a\nend\nend\nfrobnicate", ["5:1", "6:1"]),
    // Tests
    ("test t\nend\ntest t\nread a\nend\ntest \"\"\nread $B\nend", ["1:1", "3:1", "6:6", "7:6"]),
    ("setup\nlet A = read a\nend\ntest\nread $A\nexpect == 1\nend", ["4:1"]),
  ])
  func allMistakesAreTold(_ text: String, _ places: [String]) throws { #expect(try Self.places(text) == places, "\(text)") }

  static func script(_ text: String, variables: [String: String] = [:]) throws(ScriptError) -> Script {
    try script(Array(text.utf8), variables: variables)
  }

  // MARK: What is wrong

  @Test(arguments: [
    // Words
    ("frobnicate", 1, 1, "no such command"), ("read a\n\n  frobnicate", 3, 3, "no such command"),
    ("read a; frobnicate", 1, 9, "no such command"),
    ("!ls", 1, 1, "cannot run other programs"), ("\"expect\" == 1", 1, 1, "no such command"),
    // Quotes
    ("read 'a", 1, 6, "is never closed"), ("read \"a\nread b", 1, 6, "is never closed"), ("read a \\", 1, 1, "no line follows"),
    ("read ${A", 1, 1, "{"),
    ("read ${5}", 1, 1, "Invalid variable ${5}"),
    // Bytes
    ("read a\0", 1, 7, "NUL"), ("read a\nread \0", 2, 6, "NUL"),
    // Device
    ("device", 1, 1, "takes one word"), ("device a b", 1, 1, "takes one word"), ("device a\ndevice b", 2, 1, "only one device"),
    ("test t\ndevice a\nend", 2, 1, "outside of blocks"), ("device $A", 1, 8, "sets the variable A"),
    ("let A = read a\ndevice $A", 2, 8, "must be known before the script runs"),
    // Variables
    ("set", 1, 1, "no such command"), ("set A", 1, 1, "name and a value"), ("set A 1 2", 1, 1, "name and a value"),
    ("set 5 1", 1, 5, "Do not start with a digit"),
    ("set a-b 1", 1, 5, "letters, digits"), ("set \"A\" 1", 1, 5, "letters, digits"),
    ("read $A", 1, 6, "No line before this one sets the variable A"),
    ("read $LEVE\nset LEVEL 1", 1, 6, "sets the variable LEVE"), ("set LEVEL 1\nread $LEVE", 2, 6, "Did you mean LEVEL"),
    ("set A $A", 1, 7, "sets the variable A"),
    ("read a\nexpect == $A", 2, 11, "sets the variable A"), ("sleep ${A}ms", 1, 7, "sets the variable A"),
    ("let A read a", 1, 1, "a name, ="),
    ("let A =", 1, 1, "a name, ="), ("let A = frobnicate", 1, 1, "no such command"), ("let format = read a", 1, 5, "is a setting"),
    ("let A = expect == 1", 1, 9, "has no result"), ("let A = read a as u9", 1, 19, "Unknown format"),
    ("let A = read a as u16", 1, 19, "byte order"),
    // Blocks
    ("end", 1, 1, "`end` without"), ("test\nend", 1, 1, "needs a name"), ("test t", 1, 1, "Missing `end` for `test`"),
    ("test t\nrepeat 2\nend", 1, 1, "Missing `end` for `test`"),
    ("test t\ntest u\nend\nend", 2, 1, "inside another block"), ("test t\nsetup\nend\nend", 2, 1, "outside of tests"),
    ("repeat 2\nteardown\nend\nend", 2, 1, "outside of tests"), ("test t\nskip\nend t", 3, 5, "Unexpected word \"t\""),
    ("setup t\nend", 1, 7, "Unexpected word \"t\""),
    ("test t\nskip\nend\ntest t\nskip\nend", 4, 1, "Line 1 already has a test \"t\""), ("test t\nend", 1, 1, "is empty"),
    ("test \"\"\nskip\nend", 1, 6, "The test needs a name"), ("repeat 2\ntest t\nend\nend", 2, 1, "inside another block"),
    ("repeat\nend", 1, 1, "takes a count"), ("repeat 0\nend", 1, 8, "Invalid count"), ("repeat -1\nend", 1, 8, "Invalid count"),
    ("repeat x\nend", 1, 8, "Invalid count"), ("repeat 1000001\nend", 1, 8, "Invalid count"),
    ("repeat 99999999999999999999999\nend", 1, 8, "Invalid count"), ("repeat 2 5s\nend", 1, 1, "takes a count"),
    ("repeat 2 every\nend", 1, 1, "takes a count"), ("repeat 2 every x\nend", 1, 16, "Invalid time"),
    ("retry 2 every 5\nend", 1, 15, "Add a unit: 5s"),
    // Expectations
    ("expect", 1, 1, "`expect` needs a condition"), ("expect == 1", 1, 1, "No command before this line has a result"),
    ("read a\nexpect ==", 2, 8, "needs a value"),
    // The device of the script
    ("peripheral x\nexpect peripheral", 2, 1, "needs an event. Use one of: connected"),
    ("peripheral x\nexpect peripheral conected", 2, 19, "Did you mean connected?"),
    ("peripheral x\nexpect no peripheral gone", 2, 22, "needs an event"),
    ("peripheral x\nexpect peripheral written", 2, 19, "needs an attribute: expect peripheral written ffe1"),
    ("peripheral x\nexpect peripheral connected ffe1", 2, 29, "Unexpected word"),
    ("peripheral x\nexpect peripheral subscribed ffe1 == 01", 2, 35, "Unexpected word"),
    ("peripheral x\nexpect peripheral written ffe1 as u8", 2, 35, "The condition is missing"),
    ("peripheral x\nexpect peripheral written ffe1 as u8 == 256", 2, 41, "does not fit"),
    ("peripheral x\nexpect peripheral written a b", 2, 29, "Unknown predicate"),
    ("peripheral x\nexpect peripheral written nothing", 2, 27, "Unknown characteristic"),
    ("peripheral x\nexpect peripheral connected within 5x", 2, 36, "Invalid time"),
    ("expect no peripheral connected", 1, 1, "No line before this one serves a device"),
    ("read a\nexpect = 1", 2, 8, "Did you mean ==?"), ("read a\nexpect as u8", 2, 1, "The condition is missing"),
    ("read a\nexpect as", 2, 8, "needs a name"),
    ("read a\nexpect as u9 == 1", 2, 11, "Unknown format"), ("read a\nexpect as u16 == 1", 2, 11, "byte order"),
    ("read a\nexpect as u8 as u8 == 1", 2, 14, "`as` can be used only once"),
    ("read a\nexpect field a field b == 1", 2, 16, "`field` can be used only once"),
    ("read a\nexpect == xy", 2, 11, "Invalid hex"), ("read a\nexpect as u8 == xy", 2, 17, "not an integer"),
    ("read a\nexpect as u8 == 256", 2, 17, "does not fit"),
    ("read a\nexpect < 5", 2, 10, "Add the format of a number: `as u8`"),
    ("read a\nexpect as u8 < x", 2, 16, "`<` needs a number, not \"x\""),
    ("read a\nexpect as u8 ==5", 2, 14, "Put a space after =="),
    ("read a\nexpect as u8 like 5", 2, 14, "Unknown predicate \"like\". Use one of: =="),
    ("read a\nexpect in 5", 2, 11, "two dots"), ("read a\nexpect in 1..2 3", 2, 16, "Unexpected word \"3\""),
    ("read a\nexpect as u8 in a..b", 2, 17, "Invalid range \"a..b\""), ("read a\nexpect as u8 in 1...5", 2, 17, "two dots"),
    ("read a\nexpect as u8 in 6..5", 2, 17, "smaller number"), ("read a\nexpect starts \"\"", 2, 15, "The text to look for is empty"),
    ("read a\nexpect matches //", 2, 16, "would match everything"),
    ("read a\nexpect matches OPEN", 2, 16, "between two /"), ("read a\nexpect matches /a", 2, 16, "second /"),
    ("read a\nexpect matches /a/g", 2, 16, "Use i to ignore case"), ("read a\nexpect matches /(/", 2, 16, "at character 2"),
    ("read a\nexpect matches $A", 2, 16, "cannot contain variables"),
    ("read a\nexpect matches /a{9999}/", 2, 16, "too long after expanding its repetitions"),
    ("read a\nexpect length", 2, 8, "`length` needs a condition"), ("read a\nexpect length starts 1", 2, 8, "A length is a number"),
    ("read a\nexpect length length == 1", 2, 15, "Write `length` only once"), ("read a\nexpect length == x", 2, 18, "A length is a number"),
    ("read a\nexpect is", 2, 8, "needs a format"), ("read a\nexpect is blue", 2, 11, "Unknown format"),
    ("read a\nexpect is u8 x", 2, 14, "Unexpected word \"x\""),
    ("read a\nexpect == 1 within 5s", 2, 20, "needs a characteristic"), ("expect ffe2 within", 1, 1, "`within` needs a time"),
    ("expect ffe2 within 5", 1, 20, "Add a unit: 5s"), ("expect ffe2 within 99h", 1, 20, "Invalid time"),
    ("expect ffe2 within 1e9s", 1, 20, "Invalid time"),
    ("expect ffe2 within 999999999999999999999s", 1, 20, "Invalid time"), ("expect ffe2 within -1s", 1, 20, "Invalid time"),
    ("expect ffe2 == zz", 1, 16, "Invalid hex"),
    ("expect ffe2 as u8", 1, 16, "The condition is missing"), ("expect xyz!", 1, 8, "Unknown characteristic \"xyz!\""),
    ("expect 0 of ffe2", 1, 8, "Invalid count"),
    ("expect x of ffe2", 1, 8, "Invalid count"), ("expect no", 1, 8, "`expect no` needs a characteristic"),
    ("expect no ffe2 == 1", 1, 16, "Unexpected word \"==\""),
    ("expect service", 1, 1, "`service` needs a UUID or a name"), ("expect no characteristic or warn", 1, 1, "`characteristic` needs"),
    ("expect service 180d has notify", 1, 21, "Unexpected word \"has\""), ("expect characteristic a/b", 1, 23, "Unknown characteristic"),
    ("expect no characteristic 2a37 lacks read", 1, 31, "Unexpected word \"lacks\""),
    ("expect characteristic 2a37 has", 1, 28, "`has` needs a property"),
    ("expect characteristic 2a37 lacks has notify", 1, 28, "`lacks` needs a property"),
    ("expect characteristic 2a37 has notfy", 1, 32, "Unknown property \"notfy\". Did you mean notify?"),
    ("expect characteristic 2a37 has read lacks all", 1, 43, "Use one of: broadcast read write_without_response write"),
    ("expect characteristic 2a37 notify", 1, 28, "Unexpected word \"notify\""),
    ("expect service 180d/2a37", 1, 16, "does not name a service"),
    ("expect characteristic 2a37@2902", 1, 23, "does not name a characteristic"),
    // Natural mistakes
    ("read a\nexpect u8 == 3", 2, 8, "Did you mean `as u8`?"),
    ("expect ffe2 u16le > 3", 1, 13, "Did you mean `as u16le`?"),
    ("expect ffe2 == 3c within 5 seconds", 1, 26, "Write the time as one word: within 5s"),
    ("expect ffe2 within 5 s or warn", 1, 20, "Write the time as one word: within 5s"),
    ("expect not service 180d", 1, 8, "Use `no`: expect no service 180d"),
    ("expect service not 180d", 1, 16, "Write `no` before `service`: expect no service 180d"),
    ("expect not ffe2 within 1s", 1, 8, "Use `no`"),
    ("expect no authenticated within 1s", 1, 32, "`within` has no effect on the security of the connection."),
    ("read a\nexpect as u8 in 20-100", 2, 17, "Use two dots: in 20..100"), ("expect ffe2 in 1s", 1, 13, "use `within`: within 1s"),
    ("expect ffe2 == 01 in 500ms", 1, 19, "use `within`: within 500ms"),
    ("read a\nexpect value == 3c", 2, 8, "The result of the last command has no name: expect == 3c"),
    ("expect no encrypted 1", 1, 21, "Unexpected word \"1\""),
    ("read a\nexpect not == 3c", 2, 8, "Use `!=` or `lacks`."),
    ("read a or warn", 1, 8, "Only lines with `expect` can end in `or warn`."),
    ("expect characteristic 2a37 has read and notify", 1, 37, "List the properties without `and`: has read notify"),
    ("expect service 180d within 1s", 1, 28, "`within` has no effect"), ("expect or warn", 1, 1, "`expect` needs a condition"),
    ("read a\nexpect == 01 or fail", 2, 11, "Invalid hex"),
    ("expect disconnect gone", 1, 19, "Unknown disconnection reason"), ("expect disconnect 0x100", 1, 19, "Unknown disconnection reason"),
    ("expect disconnect 19", 1, 19, "Unknown disconnection reason"),
    ("expect disconnect 0x13 x", 1, 24, "Unexpected word \"x\""),
    // Failures
    ("fails", 1, 1, "must follow a command"), ("read a\nexpect == 1\nfails", 3, 1, "must follow a command"),
    ("read a\nfails\nfails", 3, 1, "must follow a command"),
    ("read a\nfails a b", 2, 1, "one word"), ("read a\nfails nothing", 2, 7, "Unknown error"),
    ("read a\nfails 0x100", 2, 7, "Unknown error"),
    ("let A = read a\nfails", 2, 1, "cannot follow `let`"), ("read a\nfails write_not_permited", 2, 7, "Did you mean write_not_permitted"),
    // Others
    ("sleep", 1, 1, "takes one word"), ("sleep x", 1, 7, "Invalid time"), ("sleep 25h", 1, 7, "Invalid time"),
    ("sleep 1d", 1, 7, "Invalid time"),
    ("sleep .s", 1, 7, "Invalid time"),
    ("sleep 1.2.3s", 1, 7, "Invalid time"), ("sleep inf", 1, 7, "Invalid time"), ("note", 1, 1, "takes one word"),
    ("note a b", 1, 1, "takes one word"),
    ("skip a b", 1, 1, "one reason"), ("include", 1, 1, "takes one word"),
  ])
  func aMistakeHasItsPlace(_ text: String, _ line: Int, _ column: Int, _ reason: String) {
    let error = #expect(throws: ScriptError.self) { try Self.script(text) }
    #expect(
      error?.place == ScriptPlace(file: "x", line: line, column: column) && error?.reason.contains(reason) == true,
      "\(String(describing: error))")
  }

  @Test func badUTF8HasItsLine() {
    for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
      let error = #expect(throws: ScriptError.self) { try Self.script(Array("read a\nread ".utf8) + bad + Array("\nread b".utf8)) }
      #expect(error?.place.line == 2 && error?.reason.contains("UTF-8") == true)
    }
  }

  @Test func blocksAreLimited() throws {
    func nested(_ count: Int) -> String {
      "test t\n" + String(repeating: "repeat 2\n", count: count - 1) + "read a\n" + String(repeating: "end\n", count: count)
    }
    _ = try Self.script(nested(16))
    let error = #expect(throws: ScriptError.self) { try Self.script(nested(17)) }
    #expect(error?.place.line == 17 && error?.reason.contains("deeper than 16 levels") == true)
    #expect(throws: ScriptError.self) { try Self.script(String(repeating: "repeat 2\n", count: 100_000)) }
  }

  @Test func whatIsTooLargeIsRefused() {
    let error = #expect(throws: ScriptError.self) { try Self.script([UInt8](repeating: 0x23, count: ScriptLine.maximumLength + 1)) }
    #expect(error?.place.line == 1 && error?.reason.contains("The script is too long") == true)
  }

  // MARK: What is right

  /// Lines may end as on Unix, Windows or old Macs, with or without a byte order mark.
  @Test(arguments: ["\n", "\r\n", "\r"]) func linesEnd(_ end: String) throws {
    let text = ["\u{FEFF}device a", "test t", "read a \\", "  b", "expect == 1", "end", ""].joined(separator: end)
    let script = try Self.script(text)
    #expect(script.device == "a" && script.tests.map(\.name) == ["t"])
    #expect(script.tests.first?.statements.map(\.place.line) == [3, 5])
    #expect(script.tests.first?.statements.first?.line.source == "read a b")
  }

  @Test func partsOfAScript() throws {
    let script = try Self.script(
      """
      # a comment
      device name:X; set A 1
      setup
      read a
      end
      read b
      test "first" one two
      expect == 1
      end
      teardown; read c; end
      test $A
      read $A ; fails 0x80
      end
      let B = read b
      """)
    #expect(script.device == "name:X" && script.deviceLine == 2 && script.firstNeed?.line == 6)
    #expect(script.tests.map(\.name) == ["first", "1"] && script.tests.map(\.tags) == [["one", "two"], []])
    #expect(script.setup.count == 1 && script.teardown.count == 1 && script.statements.count == 3 && script.hasOwnSteps)
  }

  /// Every test sees the variables of the setup, but not those of other tests.
  @Test func eachTestBeginsAnew() throws {
    _ = try Self.script("setup\nread a\nend\ntest a\nexpect == 1\nend\ntest b\nexpect == 1\nend")
    let error = #expect(throws: ScriptError.self) { try Self.script("test a\nread a\nend\ntest b\nexpect == 1\nend") }
    #expect(error?.place.line == 5)
  }

  @Test func variablesOfTheCommandLineAreKnown() throws {
    _ = try Self.script("read $A", variables: ["A": "1"])
    #expect(try Self.script("device $A", variables: ["A": "x"]).device == "x")
  }

  /// A command that names its device sets the device of later commands.
  @Test func aCommandMayNameTheDevice() throws {
    #expect(try Self.script("connect a\nread b").firstNeed == nil)
    #expect(try Self.script("scan\nread b\nconnect a").firstNeed?.line == 2)
  }

  /// The file's own lines run before its tests, wherever they appear.
  @Test func ownLinesAreBeforeTests() throws { _ = try Self.script("test t\nread $A\nend\nset A 1") }

  /// A variable's value is unknown before the run, so a command is valid if some value fits.
  @Test func aResultMayBeAnything() throws { _ = try Self.script("let A = read a\nread $A\nexpect == $A\nsleep $A\nrepeat $A\nend") }

  // MARK: Hostile

  static var seeds: [[UInt8]] {
    let names = ["set", "value-order", "fails", "quoting", "retry", "include", "matches"]
    return names.compactMap { try? Array(Data(contentsOf: folder.appendingPathComponent("\($0).blectl"))) }
  }

  /// A truncated script is valid, or its error has a place in it.
  @Test func truncatedScripts() throws {
    let seeds = Self.seeds
    try #require(seeds.count == 7)
    for bytes in seeds {
      for count in 0..<bytes.count {
        do { try Self.script(Array(bytes.prefix(count))) } catch {
          #expect(
            (1...bytes.count(where: { $0 == 10 }) + 1).contains(error.place.line) && !error.reason.isEmpty, "\(count) octets: \(error)")
        }
      }
    }
  }

  @Test func hostileScripts() {
    hostile(Self.seeds, mutations: 3000) { _ = try? Self.script($0, variables: ["A": "1"]) }
  }

  /// Parsing time grows linearly with the length. Otherwise, the time limit of the suite would pass.
  @Test(arguments: [
    "test ", "set A", "read $", "read ${", "read 'x", "expect /", "a;", "read a\\\n", "expect matches /a/ /", "include a\n", "#", "\\\n",
    "\"\" ",
  ])
  func longScripts(_ piece: String) {
    let count = 100_000 / piece.utf8.count
    _ = try? Self.script(Array(String(repeating: piece, count: count).utf8))
    _ = try? Self.script(Array((piece + String(repeating: "A", count: 100_000)).utf8))
  }

  @Test func manyTests() throws {
    let tests = (0..<10_000).map { "test t\($0)\nexpect == 1\nend\n" }.joined()
    #expect(try Self.script("setup\n" + String(repeating: "read a\n", count: 1000) + "end\n" + tests).tests.count == 10_000)
  }
}
