import CommandLine

package struct Alias: SessionCommand {
  static let configuration = CommandConfiguration(
    named: "alias", abstract: "Name a device @NAME, for sessions and all command lines.",
    discussion: "Without NAME, lists the aliases. Without PEER, a session names its current device.")
  static let examples = ["blectl -i sim alias band Band-7", "blectl -i sim alias band C0:FF:EE:00:00:07"]
  static let traits = CommandTraits(
    turn: .ofCurrentDevice, recordsNamePeers: true,
    scriptRefusal: "An alias would outlive the script. Use a variable: set NAME VALUE")

  @OptionGroup var process: ProcessOptions
  @Argument(help: "1 to 64 characters") var name: String?
  @Argument(help: "The device (in a session, default: the current one)") var peer: PeerArgument?
  @Flag(help: "Remove the alias") var delete = false

  func validate() throws { if delete, name == nil || peer != nil { throw ValidationError("--delete takes a NAME and no PEER.") } }

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    guard let name, let peer, ["delete", "remove", "rm", "unset"].contains(name) else { return }
    let alias = "\(peer)".after("name:") ?? "\(peer)".after("@") ?? "NAME"
    throw ValidationError("To remove an alias: \(isSession ? "" : "blectl ")alias --delete \(ShellWords.quoteForShell(alias))")
  }

  func run(in context: Context) async throws { try await run(context, nil) }
  func run(in context: Context, _ session: SessionLinks) async throws { try await run(context, session) }

  @LoopActor private func run(_ context: Context, _ session: SessionLinks?) async throws {
    guard let name else { return try await list(context) }
    if delete {
      guard try context.configuration.knownDevices().aliases[name] != nil else {
        throw Failure(.notFound, "Unknown alias @\(DisplayText.escape(name)). List the aliases: alias")
      }
      try context.configuration.setAlias(name, to: nil)
    } else {
      let meant = try await meant(context, session)
      if let note = try unknown(name, meant, context) { context.output.note(note) }
      try context.configuration.setAlias(name, to: meant)
    }
    session?.shell.onAliasChange?()
  }

  @LoopActor private func meant(_ context: Context, _ session: SessionLinks?) async throws -> PeerSelector {
    if let peer, peer != .current { return try await context.configuration.resolve(peer) }
    // `@door=Band-7` is NAME and PEER in one word.
    let typed = name.map { $0.after("@") ?? $0 } ?? "NAME"
    let parts = typed.split(separator: "=", maxSplits: 1).map { ShellWords.quoteForShell(String($0)) }
    guard let session, parts.count < 2 else {
      let words = parts.count == 2 ? parts : [parts.first ?? "NAME", "PEER"]
      throw Failure(.usage, "Name the device: blectl alias \(words.joined(separator: " "))")
    }
    guard let connection = session.sessionDevice?.connection else { throw Failure.notConnected(session.sessionDevice) }
    // A resolvable private address changes, so an alias for it would soon be wrong.
    let peer = connection.identityAddress
    if let selector = connection.selector, peer.randomKind == .resolvablePrivate { return selector }
    return .address(peer.address, peer.type)
  }

  /// Returns a note about a PEER that is the name of no known device.
  /// - Throws: `Failure(.usage)` if NAME is a device instead, because the user has swapped them.
  @LoopActor private func unknown(_ name: String, _ meant: PeerSelector, _ context: Context) throws -> String? {
    guard case .name(let other) = meant else { return nil }
    var known = context.process.memory.names + (try context.configuration.knownDevices().devices.compactMap(\.name))
    if let air = (try? context.process.adapter())?.air {
      known += context.configuration.heard(on: air).records.flatMap(\.devices).compactMap(\.name)
    }
    func isKnown(_ pattern: String) -> Bool { known.contains { Glob.matches(pattern, $0.raw) } }
    if isKnown(other) { return nil }
    if KnownDevices.isAlias(other), PeerSelector(name) != nil || isKnown(name) {
      let words = [other, name].map { ShellWords.quoteForShell($0) }.joined(separator: " ")
      throw Failure(.usage, "\(DisplayText.quote(name)) is a device. The alias comes first: blectl alias \(words)")
    }
    return "@\(DisplayText.escape(name)) means \(DisplayText.escape("\(meant)")), which blectl has not heard yet."
  }

  @LoopActor private func list(_ context: Context) async throws {
    for (name, peer) in try context.configuration.knownDevices().aliases.sorted(by: { $0.key < $1.key }) {
      try await context.output.show("@\(DisplayText.escape(name)) \(DisplayText.escape("\(peer)"))") {
        $0.string("event", "alias")
        $0.string("name", name)
        $0.string("peer", "\(peer)")
      }
    }
  }
}
