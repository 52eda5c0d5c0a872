package import Text

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
