/// A script that can be run: its includes are in their places, and all that can be known beforehand is right.
package struct Script: Sendable {
  package struct Test: Sendable {
    package let name: String
    package let tags: [String]
    package let line: ScriptLine
    package let statements: [ScriptStatement]
  }

  /// As it was named.
  package let file: String
  /// Whom it is about; nil: nobody, or whoever is named where it is run.
  package internal(set) var device: String?
  package internal(set) var deviceLine: Int?
  /// A file that it includes was not read, which may name the device.
  package internal(set) var lacksFile = false
  /// What it asks for first that needs a device.
  package internal(set) var firstNeed: ScriptPlace?
  /// Those that it names.
  package internal(set) var variables: Set<String> = []
  /// The lines outside of tests.
  package internal(set) var statements: [ScriptStatement] = []
  package internal(set) var setup: [ScriptStatement] = []
  package internal(set) var teardown: [ScriptStatement] = []
  package internal(set) var tests: [Test] = []

  init(file: String) { self.file = file }

  /// Whether its own lines do something, and are not only names and values for its tests.
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
