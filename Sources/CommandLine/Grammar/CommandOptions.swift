/// The option names of a command, grouped by their section in the help and by whether they take a value.
package struct CommandOptions {
  private let withValue: Set<String>
  /// The options that select the device or set how to connect.
  package let ofConnection: Set<String>
  /// The options that belong to the process, not to one command.
  package let ofProcess: Set<String>
  /// Whether PEER is the command's only argument, besides an optional `-`.
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

  /// Returns the index in `words` of the first word that is neither an option nor an option's value. Nil if there is no such word.
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

  /// Returns the words that are neither options nor values of options.
  package func arguments(in words: [String]) -> [String] {
    var (found, rest) = ([String](), words)
    while let index = firstArgument(in: rest) {
      found.append(rest[index])
      rest.removeFirst(index + 1)
    }
    return found
  }

  /// Returns the index in `words` at which to insert the PEER that the user omitted. Nil if the words name a PEER or ask for help.
  package func omittedPeer(in words: [String]) -> Int? {
    let first = firstArgument(in: words)
    // If the command takes no other argument, the word is a PEER.
    if let first, takesOnlyPeer && words[first] != "-" || PeerArgument(form: words[first]) != nil { return nil }
    if words.contains("-h") || words.contains("--help") { return nil }
    return first ?? words.firstIndex(of: "--") ?? words.count
  }
}
