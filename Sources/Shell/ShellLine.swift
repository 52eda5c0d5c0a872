import ArgumentParser
package import CommandLine
package import EventLoop
import Presentation
package import Terminal
import Text

/// One line of a session, parsed by the same types as the command line.
package struct ShellLine {
  /// The command's name.
  package let name: String
  /// The command with the defaults of the session.
  package let command: any LoopCommand
  /// Whether the line names no device, so that the command uses the current device.
  package let isAboutCurrent: Bool

  /// Parses the words of a line.
  /// - Parameter words: The words of the line, at least one.
  /// - Throws: Failure(.usage); HelpText.
  @LoopActor
  package init(_ words: [String], _ settings: ShellSettings, _ commands: SessionCommands) throws {
    let typed = commands.commandFirst(words)
    name = typed.first ?? ""
    guard let type = commands.type(named: name) else { throw commands.unknown(name) }
    let place = Self.placeOfPeer(missingIn: typed, of: type, commands)
    isAboutCurrent = place != nil
    var rest = typed
    // ArgumentParser cannot omit an argument before others.
    if let place { rest.insert(PeerArgument.current.description, at: place) }
    rest.removeFirst()
    do {
      try Arguments.refuseRepeated(typed) { type }
      guard var command = try type.command(from: rest) else { throw HelpText(type, rest) }
      try command.check(typed, commands.set, isSession: true)
      command.take(settings)
      self.command = command
    } catch {
      if error is Failure || error is HelpText { throw error }
      if type.exitCode(for: error) == .success {
        throw rest.contains("--version") ? HelpText(text: type.fullMessage(for: error)) : HelpText(type, rest)
      }
      throw Failure(.usage, UsageText(error, typed, commands.set, of: type, withoutPeerAt: place).sentence)
    }
  }

  /// Returns the index at which to insert the PEER that a line omits. Nil if the line names one, takes none or asks for help.
  @LoopActor
  private static func placeOfPeer(missingIn words: [String], of type: any LoopCommand.Type, _ commands: SessionCommands) -> Int? {
    guard type.takesPeer else { return nil }
    let rest = Array(words.dropFirst())
    let options = commands.options(of: type)
    let first = options.firstArgument(in: rest)
    // If the command takes no other argument, the word is a PEER.
    if let first, options.takesOnlyPeer && rest[first] != "-" || PeerArgument(form: rest[first]) != nil { return nil }
    guard !rest.contains(where: { ["-h", "--help"].contains($0) }) else { return nil }
    // Insert PEER before the first argument. Without arguments, insert it at the end, or before `--`.
    return 1 + (first ?? options.end(of: rest))
  }
}

/// The help that a line asks for.
package struct HelpText: Error {
  let text: String

  /// The reason why a script cannot ask for help.
  package static let refusal = "Scripts cannot show help."

  init(text: String) { self.text = text }

  init(_ type: any LoopCommand.Type, _ words: [String]) {
    text = HelpPage(of: type, isSession: true).text(isShort: words.contains("-h") && !words.contains("--help"))
  }
}

/// Records the lines of a session.
@LoopActor
package protocol LineRecorder: CommandRecorder {
  /// Adds a line. `lane` is the lane of its device, and nil for a command without a device.
  func begin(_ line: ShellLine, _ words: [String], _ lane: Lane?, _ output: Output) -> any CommandObserver
}
