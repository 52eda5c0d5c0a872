package import BluetoothLEText

/// A checked script, which includes the statements of its included files.
package struct Script: Sendable {
  package struct Test: Sendable {
    package let name: String
    package let tags: [String]
    package let line: ScriptLine
    package let statements: [ScriptStatement]
  }

  /// The name of the script file as the user gave it.
  package let file: String
  /// The device that the script names. Nil if the script has no `device` line.
  package internal(set) var device: String?
  package internal(set) var deviceLine: Int?
  /// The least security of the connection, 2 to 4. Nil if the `device` line has none.
  package internal(set) var level: Int?
  /// Whether the loader could not read an included file, which may contain the `device` line.
  package internal(set) var lacksFile = false
  /// The place of the first line that needs a device. Nil if no line needs one.
  package internal(set) var firstNeed: ScriptPlace?
  /// The names of all variables that the script sets or uses.
  package internal(set) var variables: Set<String> = []
  /// The statements outside of tests, setup and teardown.
  package internal(set) var statements: [ScriptStatement] = []
  package internal(set) var setup: [ScriptStatement] = []
  package internal(set) var teardown: [ScriptStatement] = []
  package internal(set) var tests: [Test] = []

  /// The name of the file without its folders, which is also the name of the result of lines outside of tests.
  package var ownName: String { file.split(separator: "/").last.map(String.init) ?? file }
  /// The first line outside of tests.
  package var ownLine: Int { statements.first?.place.line ?? 1 }

  /// Returns a copy of the script that tests another device.
  package func on(_ device: String) -> Self {
    var copy = self
    copy.device = device
    return copy
  }

  /// Whether the script does more outside of tests than set a device, variables and notes.
  package var hasOwnSteps: Bool {
    statements.contains { statement in
      switch statement.kind {
      case .device, .set, .note: false
      case .command, .capture, .expectResult, .expectValue, .expectSilence, .expectAttribute, .expectSecurity, .expectFirmware,
        .expectDisconnection, .expectPeripheral, .repetition, .sleep,
        .include, .skip, .setup, .teardown, .test, .unreadable:
        true
      }
    }
  }
}

/// A statement of a script with the line that contains it.
package struct ScriptStatement: Sendable {
  package indirect enum Kind: Sendable {
    case device(ShellWord, level: ShellWord?)
    case set(name: String, ShellWord)
    case command(ScriptCommand)
    case capture(name: String, ScriptCommand, Extraction)
    /// `expect` without an attribute, which checks the result of the last command.
    case expectResult(Extraction, Predicate)
    case expectValue(ExpectedValue)
    /// `expect no ATTR`, which fails if a value of the attribute arrives in time.
    case expectSilence(ShellWord, within: ShellWord?)
    case expectAttribute(ExpectedAttribute)
    /// `expect encrypted`, `expect authenticated`, or one of them with `no`, which checks the connection.
    case expectSecurity(isAuthenticated: Bool, isAbsent: Bool)
    /// `expect firmware version V`, which checks the running firmware.
    case expectFirmware(version: ShellWord)
    case expectDisconnection(reason: ShellWord?, within: ShellWord?)
    /// `expect [no] peripheral EVENT …`, which waits for what a central does with the device that the script serves.
    case expectPeripheral(ExpectedCentral)
    case repetition(Repetition, [ScriptStatement])
    case sleep(ShellWord)
    case include(ShellWord)
    case skip(ShellWord?)
    case note(ShellWord)
    case setup([ScriptStatement])
    case teardown([ScriptStatement])
    case test(name: ShellWord, tags: [ShellWord], [ScriptStatement])
    /// A line that the parser could not understand, and the lines of the block that the line opens.
    case unreadable([ScriptStatement])
  }

  package let line: ScriptLine
  package var kind: Kind

  package var place: ScriptPlace { line.place }

  /// Whether a failure of the expectation is only a warning, after which the test continues.
  package var onlyWarns: Bool { line.endsInWarning }

  package init(line: ScriptLine, kind: Kind) { (self.line, self.kind) = (line, kind) }
}

/// A command of a script and the failure that the script expects.
package struct ScriptCommand: Sendable {
  package var words: [ShellWord]
  /// The `fails` line after the command. Nil if the command must succeed.
  package var failure: ExpectedFailure?
}

package struct ExpectedFailure: Sendable {
  /// The kind, name or code of the error. Nil accepts any error except one of the script or the setup.
  package var kind: ShellWord?
  package var line: ScriptLine
}

/// The part of a result or value that `as` and `field` select.
package struct Extraction: Sendable {
  package var format: ShellWord?
  /// The field of the record, such as `mtu` or `heart_rate.value`. Nil selects the bytes of the value.
  package var field: ShellWord?
}

/// An `expect ATTR …` or `expect N of ATTR …` statement.
package struct ExpectedValue: Sendable {
  package var attribute: ShellWord
  /// The number of values that must arrive. Nil stands for one value.
  package var count: ShellWord?
  package var extraction: Extraction
  /// The condition for each value. Nil accepts any value.
  package var predicate: Predicate?
  package var within: ShellWord?
}

/// An `expect [no] service ATTR` or `expect [no] characteristic ATTR [has P …] [lacks P …]` statement.
package struct ExpectedAttribute: Sendable {
  package enum Sort: String, Sendable { case service, characteristic }

  package var sort: Sort
  package var attribute: ShellWord
  /// Whether the device must not have the attribute.
  package var isAbsent = false
  /// The names of properties that the characteristic must have, or must not have if `isWanted` is false.
  package var properties: [(name: ShellWord, isWanted: Bool)] = []
}

/// An `expect [no] peripheral EVENT [ATTR [as FORMAT] [field PATH] [PREDICATE]] [within T]` statement.
package struct ExpectedCentral: Sendable {
  /// The events, by their names in records.
  package enum Event: String, Sendable, CaseIterable {
    case connected, disconnected, paired, subscribed, unsubscribed, read, written, notified

    /// Whether the event concerns an attribute.
    package var hasAttribute: Bool { ![.connected, .disconnected, .paired].contains(self) }
    /// Whether the event has a value, which a predicate can check.
    package var hasValue: Bool { [.read, .written, .notified].contains(self) }
  }

  package var event: Event
  /// Whether no such event may happen.
  package var isAbsent: Bool
  package var attribute: ShellWord?
  package var extraction = Extraction()
  /// The condition for the value. Nil accepts any value.
  package var predicate: Predicate?
  package var within: ShellWord?
}

/// The settings of a `repeat` or `retry` block.
package struct Repetition: Sendable {
  /// Whether the block ends after the first round without a failure, as `retry` does.
  package var endsWithSuccess: Bool
  package var count: ShellWord
  package var every: ShellWord?

  package static let limit = 1_000_000
}
