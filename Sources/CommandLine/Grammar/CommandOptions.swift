/// The names of a command's options, and which words they take.
package struct CommandOptions {
  private let withValue: Set<String>
  private let ofConnection: Set<String>
  private let ofProcess: Set<String>
  /// Whether PEER is its only argument, besides an optional `-`.
  package let takesOnlyPeer: Bool

  package init(of type: any LoopCommand.Type) {
    let description = CommandDescription(of: type)
    func names(_ isMeant: (CommandDescription.Argument) -> Bool) -> Set<String> {
      Set(description.options.filter(isMeant).flatMap(\.names))
    }
    withValue = names(\.takesValue)
    ofConnection = names { $0.section == HelpPage.connectionTitle }
    ofProcess = names { $0.section == HelpPage.globalTitle }.subtracting(ProcessOptions.timeout)
    takesOnlyPeer = description.arguments.filter { $0.names.isEmpty && $0.values != ["-"] }.count == 1
  }

  package func takesValue(_ option: String) -> Bool { withValue.contains(option) }

  /// Whether an option says how to find and connect the device.
  package func isOfConnection(_ option: String) -> Bool { ofConnection.contains(option) }

  /// Whether an option belongs to the process, not to one command.
  package func isOfProcess(_ option: String) -> Bool { ofProcess.contains(option) }

  /// The index of the first word that is neither an option nor the value of one.
  package func firstArgument(in words: [String]) -> Int? {
    var index = 0
    while index < words.count {
      let word = words[index]
      if word == "--" { return index + 1 < words.count ? index + 1 : nil }
      guard word.utf8.first == UInt8(ascii: "-"), word != "-" else { return index }
      index += withValue.contains(word) ? 2 : 1
    }
    return nil
  }

  /// The index for a first argument if there is none.
  package func end(of words: [String]) -> Int { words.firstIndex(of: "--") ?? words.count }
}
