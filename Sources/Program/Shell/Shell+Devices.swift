import CommandLine

/// The choice of the device for each command.
extension Shell {
  /// Marks a plain first word as the name of a device if an earlier line named this device, if the session has no device and the command takes
  /// the word as PEER on the command line, or if a user types the beginning of a name that the session has heard. Changes no attribute.
  /// - Throws: Failure(.ambiguous) if several names match; Failure(.usage) for a device without the attribute that the command needs;
  ///   Failure(.notFound) for the name of a device that the session has only heard.
  func withFullName(_ typed: [String]) throws -> [String] {
    guard let word = plainWord(in: typed) else { return typed }
    if let full = try fullName(of: word) { return word.named(full) }
    return try isDevice(word) ? word.named(word.text) : typed
  }

  /// The first argument of a line, if it may be the plain name of a device.
  private struct PlainWord {
    let words: [String]
    let type: any LoopCommand.Type
    let takesOnlyPeer: Bool
    /// The index of the argument among the words after the command's name.
    let index: Int
    /// Whether the line has no other argument.
    let isAlone: Bool
    /// Whether a line of the session named this device.
    let isKnown: Bool

    var rest: [String] { Array(words.dropFirst()) }
    var text: String { words[index + 1] }
    var completesNames: Bool { type.traits.completesNames }

    func named(_ name: String) -> [String] { words[...index] + ["name:\(name)"] + words[(index + 2)...] }
  }

  /// Returns the first argument of a line. Nil if it has the form of a PEER or may only be an attribute.
  private func plainWord(in typed: [String]) -> PlainWord? {
    let words = process.commands.commandFirst(typed)
    guard let name = words.first, let type = process.commands.type(named: name), type.takesPeer || type.traits.deviceChange == .chooses
    else { return nil }
    let options = process.commands.options(of: type)
    let rest = Array(words.dropFirst())
    guard isTyped || !options.takesOnlyPeer, let index = options.firstArgument(in: rest), PeerArgument(form: rest[index]) == nil
    else { return nil }
    let text = rest[index]
    let isAlone = options.firstArgument(in: Array(rest[(index + 1)...])) == nil
    // Alone, * means all attributes.
    let meant = PeerSelector.name(isAlone ? Glob.literal(text) : text)
    let isKnown = type.traits.completesNames && devices.contains { $0.isMeant(by: meant) }
    // Names of attributes have no capitals, but a device may have such a name: Mute.
    let isName = { [self] in text != text.lowercased() && (isKnown || process.memory.names.contains { $0.raw == text }) }
    let mayBeName = type.traits.completesNames || current == nil
    guard options.takesOnlyPeer || mayBeName && ((try? Selector(text.lowercased(), abbreviating: false)) == nil || isName())
    else { return nil }
    return PlainWord(words: words, type: type, takesOnlyPeer: options.takesOnlyPeer, index: index, isAlone: isAlone, isKnown: isKnown)
  }

  /// Returns the only name that the session has heard and that starts with the word. Nil if no name fits, or if no user types.
  /// - Throws: Failure(.ambiguous) if several names fit.
  private func fullName(of word: PlainWord) throws -> String? {
    guard isTyped, word.completesNames, word.takesOnlyPeer || !word.isAlone else { return nil }
    let connected = devices.compactMap { $0.connection?.name }
    let isOfConnected = [.chooses, .disconnects].contains(word.type.traits.deviceChange)
    let heard = Set(isOfConnected ? connected : connected + process.memory.names)
    let text = word.text.lowercased()
    let same = heard.filter { $0.raw.unpadded.lowercased() == text }
    let names = same.isEmpty && !text.isEmpty ? heard.filter { $0.raw.unpadded.lowercased().hasPrefix(text) } : same
    guard names.count < 2 else {
      let list = names.sorted { $0.raw < $1.raw }.map { DisplayText.escape($0.raw.unpadded) }.joined(separator: ", ")
      throw Failure(.ambiguous, "\(DisplayText.quote(word.text)) matches \(names.count) devices: \(list). Type more of the name.")
    }
    if same.isEmpty, let full = names.first {
      process.output.note("\(DisplayText.escape(word.text)) means \(DisplayText.escape(full.raw.unpadded))")
    }
    return names.first.map { Glob.literal($0.raw) }
  }

  /// Returns whether a word that completes no name is a device.
  /// - Throws: Failure(.usage) for a device without the attribute that the command needs; Failure(.notFound) for one that is not connected.
  private func isDevice(_ word: PlainWord) throws -> Bool {
    func isComplete(_ words: some Sequence<String>) -> Bool { (try? word.type.command(from: Array(words))) != nil }
    if word.takesOnlyPeer { return false }
    let line = word.named(word.text).dropFirst()
    if word.isKnown {
      let asksHelp = word.rest.contains("-h") || word.rest.contains("--help")
      if !word.isAlone || isComplete(line) || isComplete(["name:\(word.text)"]) || asksHelp { return true }
      throw missingAttribute(of: word.type, word.text)
    }
    let isAttribute = !word.completesNames && (try? word.type.command(from: word.rest, currentDeviceAt: word.index)) != nil
    if current == nil, isComplete(line), !isAttribute { return true }
    if word.completesNames, process.memory.names.contains(where: { $0.raw.unpadded.lowercased() == word.text.lowercased() }) {
      throw notConnected(.name(word.text))
    }
    return false
  }

  /// Returns the failure of a line that names a device but not the attribute that its command needs.
  private func missingAttribute(of type: any LoopCommand.Type, _ name: String) -> Failure {
    let table = devices.last { $0.isMeant(by: .name(name)) }?.connection?.client.table
    let attribute = table?.characteristics.last.map { "\($0.uuid)" } ?? "2a00"
    let rest = (try? type.command(from: ["name:\(name)", attribute])) == nil ? " …" : ""
    return Failure(
      .usage,
      "Missing ATTRIBUTE of the device \(DisplayText.escape(name)). For example: \(type.commandName) \(ShellWords.quote(name)) \(attribute)\(rest)"
    )
  }

  /// Returns the failure of a command whose `device` is not connected. Names the connected devices if the user named another one.
  func notConnected(_ device: SessionDevice?, isLeaving: Bool = false) -> Failure {
    guard let device, device !== current, device.problem == nil, devices.contains(where: \.isConnected) else {
      return .notConnected(device)
    }
    return notConnected(device.selector, isLeaving: isLeaving)
  }

  /// Returns the failure of a command for a device that is not connected, with the names of the connected devices.
  /// - Parameter isLeaving: Whether the command ends a connection.
  func notConnected(_ selector: PeerSelector, isLeaving: Bool = false) -> Failure {
    let known = devices.filter(\.isConnected).compactMap { $0.connection?.title }
    let name = selector.description.after("name:") ?? selector.description
    let word = PeerArgument(argument: name) == nil ? selector.description : name
    let last = devices.last(where: \.isConnected)?.connection
    let left = last?.name.flatMap { $0.raw.unpadded.isEmpty ? nil : Glob.typable($0.raw) } ?? last.map { "\($0.peer)" }
    let (verb, next) = isLeaving ? ("disconnect", left ?? word) : ("connect", word)
    return Failure(
      .notFound,
      "\(name) is not connected." + (known.isEmpty ? "" : " Connected: \(known.joined(separator: ", ")).")
        + " To \(verb): \(verb) \(ShellWords.quote(next))")
  }

  func device(for line: ShellLine) async throws -> SessionDevice? {
    let traits = line.command.traits
    guard let options = line.command.peerOptions else { return traits.turn == .ofCurrentDevice ? current : nil }
    if line.isAboutCurrent {
      guard let current else { throw traits.deviceChange == .connects ? Failure.nothingToConnect : Failure.notConnected(nil) }
      // Clear it now, not at the command's turn: later lines may connect another device.
      if traits.deviceChange == .disconnects { self.current = nil }
      return current
    }
    let known = try await device(for: options.peer, demandingOne: options.choice.unique)
    let device = if let known { known } else { add(try await process.configuration.resolve(options.peer)) }
    if traits.deviceChange == .connects { choose(device) }
    if traits.deviceChange == .disconnects, device === current { current = nil }
    return device
  }

  /// Returns the session's `SessionDevice` for a PEER. Nil if the session does not know the device.
  /// - Throws: PeerSearchError.several if `demandingOne` is true and several connected devices match.
  func device(for peer: PeerArgument, demandingOne: Bool = false) async throws -> SessionDevice? {
    if peer == .current { return current }
    let selector = try await process.configuration.resolve(peer)
    let meant = devices.filter { $0.isMeant(by: selector) }
    let linked = meant.filter(\.isConnected)
    guard linked.count > 1 else { return linked.first ?? meant.last }
    if demandingOne {
      throw PeerSearchError.several(linked.compactMap { $0.connection.map { .init(peer: $0.peer, rssi: nil) } }, selector)
    }
    let taken = linked.first { $0 === current } ?? linked[linked.count - 1]
    // Show addresses, because the names may be the same.
    let others = linked.filter { $0 !== taken }.compactMap { $0.connection.map { "\($0.peer)" } }.joined(separator: ", ")
    process.output.note(
      "\(selector) matches \(linked.count) connected devices. Using \(taken.connection.map { "\($0.peer)" } ?? ""), not \(others).")
    return taken
  }

  /// Makes the device current when `connect` starts, so that later lines use the device.
  private func choose(_ device: SessionDevice) {
    if device === current { return }
    device.before = current
    current = device
  }

  /// Ends a `connect` command. After a failure, makes the former current device current again, unless a later command chose another device.
  func connectEnded(_ device: SessionDevice) {
    if device.isConnected {
      // Make it current again, even if an earlier attempt failed.
      if device.hasFailed, current === device.before { use(device) }
      device.before = nil
      device.hasFailed = false
    } else if device === current, device.lastPeer == nil || device.before != nil {
      var before = device.before?.present
      // Skip former devices that did not connect either.
      while let candidate = before, !devices.contains(where: { $0 === candidate }) { before = candidate.before?.present }
      device.before = before
      device.hasFailed = true
      use(before)
    }
  }

  package func use(_ device: SessionDevice?) {
    current = device
    onChange?()
  }

  func add(_ selector: PeerSelector) -> SessionDevice {
    let device = SessionDevice(selector)
    devices.append(device)
    return device
  }

  /// Removes a device from the session if the device is not current, has no connection and no command waits for it.
  func removeIfUnused(_ device: SessionDevice) {
    guard device !== current, device.connection == nil, device.queue.isEmpty else { return }
    devices.removeAll { $0 === device }
  }

  // MARK: One device, named in several ways

  /// Returns another `SessionDevice` that is connected or connecting to the device that the selector names. Nil if there is none.
  func device(holding selector: PeerSelector, besides device: SessionDevice) -> SessionDevice? {
    devices.last { $0 !== device && $0.holds(selector) }
  }

  func device(of peer: PeerAddress, besides device: SessionDevice) -> SessionDevice? { devices.last { $0 !== device && $0.isOf(peer) } }

  /// Waits until another `SessionDevice` is connected or connecting to the device that the selector names. Throws CancellationError.
  func untilHeld(_ selector: PeerSelector, besides device: SessionDevice) async throws -> SessionDevice {
    while true {
      if let other = self.device(holding: selector, besides: device) { return other }
      try await untilChanged()
    }
  }

  /// Joins `device` and its waiting commands to another `SessionDevice` of the same physical device.
  /// - Returns: False if the session has removed `other`.
  func join(_ device: SessionDevice, to other: SessionDevice) async -> Bool {
    let other = other.present
    guard other !== device, devices.contains(where: { $0 === other }) else { return false }
    let lost = device.connection
    device.join(other)
    devices.removeAll { $0 === device }
    if current === device { current = other }
    if let lost { await process.session.disconnect(lost) }
    changed()
    return true
  }
}
