package import Text

/// A checked script with its included files, ready to run.
package struct Script: Sendable {
  package struct Test: Sendable {
    package let name: String
    package let tags: [String]
    package let line: ScriptLine
    package let statements: [ScriptStatement]
  }

  /// The name of the file as the user gave it.
  package let file: String
  /// The device of the script. Nil if the script names none.
  package internal(set) var device: String?
  package internal(set) var deviceLine: Int?
  /// Whether the loader could not read an included file. That file may name the device.
  package internal(set) var lacksFile = false
  /// The first line that needs a device.
  package internal(set) var firstNeed: ScriptPlace?
  /// The names of the script's variables.
  package internal(set) var variables: Set<String> = []
  /// The lines outside of tests.
  package internal(set) var statements: [ScriptStatement] = []
  package internal(set) var setup: [ScriptStatement] = []
  package internal(set) var teardown: [ScriptStatement] = []
  package internal(set) var tests: [Test] = []

  /// Whether lines outside of tests do more than set names and values.
  package var hasOwnSteps: Bool {
    statements.contains { statement in
      switch statement.kind {
      case .device, .set, .note: false
      case .command, .capture, .expectResult, .expectValue, .expectSilence, .expectDisconnection, .repetition, .sleep, .include, .skip,
        .setup, .teardown, .test, .unreadable:
        true
      }
    }
  }
}

/// A statement of a script.
package struct ScriptStatement: Sendable {
  package indirect enum Kind: Sendable {
    case device(ShellWord)
    case set(name: String, ShellWord)
    case command(ScriptCommand)
    case capture(name: String, ScriptCommand, Extraction)
    /// Checks the last result.
    case expectResult(Extraction, Predicate)
    case expectValue(ExpectedValue)
    /// Fails if a value arrives.
    case expectSilence(ShellWord, within: ShellWord?)
    case expectDisconnection(reason: ShellWord?, within: ShellWord?)
    case repetition(Repetition, [ScriptStatement])
    case sleep(ShellWord)
    case include(ShellWord)
    case skip(ShellWord?)
    case note(ShellWord)
    case setup([ScriptStatement])
    case teardown([ScriptStatement])
    case test(name: ShellWord, tags: [ShellWord], [ScriptStatement])
    /// A line with a reported mistake, and the lines of the block that it opens.
    case unreadable([ScriptStatement])
  }

  package let line: ScriptLine
  package var kind: Kind

  package var place: ScriptPlace { line.place }

  package init(line: ScriptLine, kind: Kind) {
    self.line = line
    self.kind = kind
  }
}

/// A command with its arguments and its expected failure.
package struct ScriptCommand: Sendable {
  package var words: [ShellWord]
  /// The line after the command that expects its failure.
  package var failure: ExpectedFailure?
}

package struct ExpectedFailure: Sendable {
  /// The kind or the name of the error. Nil accepts any.
  package var kind: ShellWord?
  package var line: ScriptLine
}

/// The part of a result to check.
package struct Extraction: Sendable {
  package var format: ShellWord?
  /// The field of the record, such as `mtu` or `heart_rate.value`.
  package var field: ShellWord?
}

/// The statements `expect ATTR …` and `expect N of ATTR …`.
package struct ExpectedValue: Sendable {
  package var attribute: ShellWord
  /// The number of values. Nil for one.
  package var count: ShellWord?
  package var extraction: Extraction
  /// The condition. Nil accepts any value.
  package var predicate: Predicate?
  package var within: ShellWord?
}

/// The blocks `repeat` and `retry`.
package struct Repetition: Sendable {
  /// Whether the block ends with the first success.
  package var endsWithSuccess: Bool
  package var count: ShellWord
  package var every: ShellWord?

  package static let limit = 1_000_000
}
