import ArgumentParser
import Bluetooth
import CommandLine
import EventLoop
import Finding
import GATT
import Operations
import Presentation
import Terminal
import Text

/// Which device a command is about.
extension Shell {
  /// The words of a typed command with the full name of its device, if that is the beginning of the name of one that this session has heard.
  /// A word that may be an attribute, or a command of `call`, stays as it is; what a program writes does not depend on what was heard.
  /// - Throws: Failure(.ambiguous) if several names begin so.
  func withFullName(_ typed: [String]) throws -> [String] {
    let words = process.commands.commandFirst(typed)
    guard isTyped, let name = words.first, let type = process.commands.type(named: name), type.traits.completesNames,
      type.takesPeer || type.traits.deviceChange == .chooses
    else { return typed }
    let options = process.commands.options(of: type)
    let rest = Array(words.dropFirst())
    guard let index = options.firstArgument(in: rest), PeerArgument(form: rest[index]) == nil else { return typed }
    let word = rest[index].lowercased()
    let isOnly = options.firstArgument(in: Array(rest[(index + 1)...])) == nil
    guard options.takesOnlyPeer || !isOnly && (try? Selector(word, abbreviating: false)) == nil else { return typed }
    let connected = lanes.compactMap { $0.connection?.name }
    let heard = Set([.chooses, .disconnects].contains(type.traits.deviceChange) ? connected : connected + process.memory.names)
    let same = heard.filter { $0.raw.lowercased() == word }
    let names = same.isEmpty && !word.isEmpty ? heard.filter { $0.raw.lowercased().hasPrefix(word) } : same
    guard let full = names.first else { return typed }
    guard names.count == 1 else {
      let list = names.sorted { $0.raw < $1.raw }.map(\.description).joined(separator: ", ")
      throw Failure(.ambiguous, "\(DisplayText.quote(rest[index])) matches \(names.count) devices: \(list). Type more of the name.")
    }
    if same.isEmpty { process.output.note("\(DisplayText.escape(rest[index])) means \(full)") }
    return words[...index] + ["name:\(Glob.literal(full.raw))"] + words[(index + 2)...]
  }

  func lane(for line: ShellLine) async throws -> Lane? {
    let traits = line.command.traits
    guard let options = line.command.peerOptions else { return traits.turn == .ofCurrentDevice ? current : nil }
    if line.isAboutCurrent || options.peer == .current {
      guard let current else { throw traits.deviceChange == .connects ? Failure.nothingToConnect : Failure.notConnected(nil) }
      // Now, and not when its turn has come: lines behind it may have connected another.
      if traits.deviceChange == .disconnects { self.current = nil }
      return current
    }
    let known = try await lane(for: options.peer, demandingOne: options.choice.unique)
    let lane = if let known { known } else { add(try await process.configuration.resolve(options.peer)) }
    if traits.deviceChange == .connects { choose(lane) }
    if traits.deviceChange == .disconnects, lane === current { current = nil }
    return lane
  }

  /// The device that is meant; nil for one that the session does not know.
  /// - Throws: PeerSearchError.several, where one is demanded.
  func lane(for peer: PeerArgument, demandingOne: Bool = false) async throws -> Lane? {
    if peer == .current { return current }
    let selector = try await process.configuration.resolve(peer)
    let meant = lanes.filter { $0.isMeant(by: selector) }
    let linked = meant.filter(\.isConnected)
    guard linked.count > 1 else { return linked.first ?? meant.last }
    if demandingOne {
      throw PeerSearchError.several(linked.compactMap { $0.connection.map { .init(peer: $0.peer, rssi: nil) } }, selector)
    }
    let taken = linked.first { $0 === current } ?? linked[linked.count - 1]
    // Their names may be the same.
    let others = linked.filter { $0 !== taken }.compactMap { $0.connection.map { "\($0.peer)" } }.joined(separator: ", ")
    process.output.note(
      "\(selector) matches \(linked.count) connected devices. Using \(taken.connection.map { "\($0.peer)" } ?? ""), not \(others).")
    return taken
  }

  /// For lines behind the one that connects it, which may be looked at before it has.
  private func choose(_ lane: Lane) {
    if lane === current { return }
    lane.before = current
    current = lane
  }

  /// After a failure, restores the former current device, unless another one was chosen meanwhile.
  func connectEnded(_ lane: Lane) {
    if lane.isConnected {
      // It is the current one also when a try before this one had failed.
      if lane.hasFailed, current === lane.before { use(lane) }
      lane.before = nil
      lane.hasFailed = false
    } else if lane === current, lane.lastPeer == nil || lane.before != nil {
      var before = lane.before?.present
      // That one was not connected either.
      while let candidate = before, !lanes.contains(where: { $0 === candidate }) { before = candidate.before?.present }
      lane.before = before
      lane.hasFailed = true
      use(before)
    }
  }

  package func use(_ lane: Lane?) {
    current = lane
    onChange?()
  }

  func add(_ selector: PeerSelector) -> Lane {
    let lane = Lane(selector)
    lanes.append(lane)
    return lane
  }

  /// Devices that were named for one command only are not kept.
  func tidy(_ lane: Lane) {
    guard lane !== current, lane.connection == nil, lane.queue.isEmpty else { return }
    lanes.removeAll { $0 === lane }
  }

  // MARK: One device, named in several ways

  /// Another name of the device, whose link would keep a search from finding it.
  func lane(holding selector: PeerSelector, besides lane: Lane) -> Lane? { lanes.last { $0 !== lane && $0.holds(selector) } }

  func lane(of peer: PeerAddress, besides lane: Lane) -> Lane? { lanes.last { $0 !== lane && $0.isOf(peer) } }

  /// Returns when somebody else has the device. - Throws: CancellationError.
  func untilHeld(_ selector: PeerSelector, besides lane: Lane) async throws -> Lane {
    while true {
      if let other = self.lane(holding: selector, besides: lane) { return other }
      try await untilChanged()
    }
  }

  /// Both are one device: what waits for the one waits for the other.
  /// - Returns: false when the other is not there any more.
  func join(_ lane: Lane, to other: Lane) async -> Bool {
    let other = other.present
    guard other !== lane, lanes.contains(where: { $0 === other }) else { return false }
    let lost = lane.connection
    lane.join(other)
    lanes.removeAll { $0 === lane }
    if current === lane { current = other }
    if let lost { await process.session.disconnect(lost) }
    changed()
    return true
  }
}
