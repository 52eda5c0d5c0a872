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

  init(file: String) { self.file = file }

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
