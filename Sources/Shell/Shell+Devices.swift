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

/// Chooses the device for each command.
extension Shell {
  /// Completes the device name in a typed command from the names that this session has heard.
  /// Keeps a word that may be an attribute or a command of `call`, and all words from a program.
  /// - Throws: Failure(.ambiguous) if several names match.
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
      // Clear it now, not at the command's turn: later lines may connect another device.
      if traits.deviceChange == .disconnects { self.current = nil }
      return current
    }
    let known = try await lane(for: options.peer, demandingOne: options.choice.unique)
    let lane = if let known { known } else { add(try await process.configuration.resolve(options.peer)) }
    if traits.deviceChange == .connects { choose(lane) }
    if traits.deviceChange == .disconnects, lane === current { current = nil }
    return lane
  }

  /// Returns the lane of the device. Nil if the session does not know it.
  /// - Throws: PeerSearchError.several if `demandingOne` and several connected devices match.
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
    // Show addresses, because the names may be the same.
    let others = linked.filter { $0 !== taken }.compactMap { $0.connection.map { "\($0.peer)" } }.joined(separator: ", ")
    process.output.note(
      "\(selector) matches \(linked.count) connected devices. Using \(taken.connection.map { "\($0.peer)" } ?? ""), not \(others).")
    return taken
  }

  /// Makes the device current for the lines after `connect`, which the session may parse before the device is connected.
  private func choose(_ lane: Lane) {
    if lane === current { return }
    lane.before = current
    current = lane
  }

  /// Restores the former current device after a failed connection, unless a later command chose another device.
  func connectEnded(_ lane: Lane) {
    if lane.isConnected {
      // Make it current again, even if an earlier attempt failed.
      if lane.hasFailed, current === lane.before { use(lane) }
      lane.before = nil
      lane.hasFailed = false
    } else if lane === current, lane.lastPeer == nil || lane.before != nil {
      var before = lane.before?.present
      // Skip former devices that did not connect either.
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

  /// Forgets a device that only one command named.
  func removeIfUnused(_ lane: Lane) {
    guard lane !== current, lane.connection == nil, lane.queue.isEmpty else { return }
    lanes.removeAll { $0 === lane }
  }

  // MARK: One device, named in several ways

  /// Returns another lane that has the device. Its link keeps a search from finding the device.
  func lane(holding selector: PeerSelector, besides lane: Lane) -> Lane? { lanes.last { $0 !== lane && $0.holds(selector) } }

  func lane(of peer: PeerAddress, besides lane: Lane) -> Lane? { lanes.last { $0 !== lane && $0.isOf(peer) } }

  /// Waits until another lane has the device. Throws CancellationError.
  func untilHeld(_ selector: PeerSelector, besides lane: Lane) async throws -> Lane {
    while true {
      if let other = self.lane(holding: selector, besides: lane) { return other }
      try await untilChanged()
    }
  }

  /// Joins two lanes of one device, and the commands that wait for it.
  /// - Returns: False if the other lane no longer exists.
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
