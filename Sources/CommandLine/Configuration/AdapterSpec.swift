import BluetoothLELinux
package import BluetoothLESimulator
package import Traces

/// The radio that the value of `--adapter` selects, such as a kernel adapter or a recording.
package enum AdapterSpec: Sendable, Equatable {
  /// The kernel's stack on `hciN`. Nil selects the first adapter that is up.
  case kernel(Int?)
  /// The exclusive user channel of `hciN`, where blectl runs its own Bluetooth host. The value is N.
  case user(Int)
  /// A controller that speaks H4 on a socket or serial port, where blectl runs its own Bluetooth host.
  case stream(TransportAddress)
  /// The simulator, with the preset peripherals if `file` is nil, otherwise with the peripherals of the file.
  case simulation(file: String?)
  /// The devices of a recording. `file` is the path of the btsnoop file.
  case replay(file: String)

  package init(_ text: String) throws {
    if text == "sim" {
      self = .simulation(file: nil)
    } else if let file = text.after("sim:"), !file.isEmpty {
      self = .simulation(file: file)
    } else if let file = text.after("replay:"), !file.isEmpty {
      self = .replay(file: file)
    } else if let number = text.after("hci").flatMap(Self.index) {
      self = .kernel(number)
    } else if let number = text.after("user:").flatMap({ Self.index($0.after("hci") ?? $0) }) {
      self = .user(number)
    } else if ["tcp:", "unix:", "serial:"].contains(where: text.hasPrefix) {
      self = .stream(try TransportAddress(text))
    } else {
      throw Self.unknown(text)
    }
  }

  /// Whether the radio is a kernel adapter, which blectl uses through the kernel's stack or through a user channel.
  var isKernel: Bool {
    switch self {
    case .kernel, .user: true
    case .stream, .simulation, .replay: false
    }
  }

  /// Whether the adapter can be opened more than once, each time with a controller of its own.
  var hasManyControllers: Bool {
    switch self {
    case .simulation, .stream(.tcp), .stream(.unix): true
    case .stream(.serial), .kernel, .user, .replay: false
    }
  }

  private static func index(_ text: String) -> Int? { Int(text).flatMap { (0..<65_535).contains($0) ? $0 : nil } }

  /// Whether a word without `-i` names an adapter, such as `replay:TRACE`.
  package static func isPlain(_ text: String) -> Bool { (try? Self(text)) != nil }

  /// Returns the adapter of a file without its prefix, such as `replay:s.btsnoop`. Nil for a file of another kind.
  package static func named(in text: String) -> String? {
    text.split(separator: ".").last.flatMap { FamiliarWords.adapters["\($0)"] }.map { $0 + text }
  }

  /// Returns the adapter that two words mean, such as `replay:s.btsnoop`. Returns nil if the second word does not fit the first one.
  static func joined(_ kind: String, _ rest: String) -> String? {
    let isFile = InputFile.exists(rest) || named(in: rest)?.hasPrefix(kind) ?? false
    let fits = ["tcp": ":", "unix": "/", "serial": "/"][kind].map { rest.contains($0) } ?? (["sim", "replay"].contains(kind) && isFile)
    return fits ? "\(kind):\(rest)" : nil
  }

  private static func unknown(_ text: String) -> Failure {
    if let line = UsageText.partedAdapter(Array(CommandLine.arguments.dropFirst())) { return Failure(.usage, line) }
    let rest = ["replay": "FILE", "tcp": "HOST:PORT", "unix": "PATH", "serial": "/dev/ttyACM0", "user": "0"][text]
    let parted = rest.map { "\(text):\($0)" }
    let plain = text.lowercased()
    let kind = ["simulator", "sim:"].contains(plain) ? "sim" : plain != text && !text.contains(":") && isPlain(plain) ? plain : nil
    let other = kind ?? named(in: text) ?? Int(text).map { "hci\($0)" } ?? TransportAddress.meant(by: text)
    let meant = (parted ?? other).map { "Did you mean \(DisplayText.escape($0))? " }
    return Failure(
      .usage,
      "Unknown adapter \(DisplayText.quote(text)). \(meant ?? "")Use hci0, user:0, tcp:HOST:PORT, unix:PATH, "
        + "serial:/dev/ttyACM0[@BAUD], sim, sim:FILE or replay:TRACE.")
  }
}

extension AdapterSpec {
  /// Opens the radio that `--adapter` selects. `tap` receives the HCI packets, and is nil if the process writes no trace.
  /// - Parameters:
  ///   - isStrict: Whether a request that a recording lacks ends the connection.
  ///   - air: The simulator's radio environment. Nil creates one.
  ///   - number: The number of the simulator's controller in its air, from 0, on which its address depends.
  ///   - bonds: The key store. The devices of the simulator have the same bonds.
  ///   - note: A function that tells the user what a recording lacks.
  ///   - discovered: A function that receives the devices whose services a recording contains.
  ///   - connected: A function that receives the stream to a controller before anything is sent.
  @LoopActor func open(
    tap: (any Tap)?, isStrict: Bool = false, in air: Air? = nil, number: UInt64 = 0, bonds: BondStore,
    note: @escaping @LoopActor (String) -> Void,
    discovered: @LoopActor (Set<PeerAddress>) -> Void = { _ in }, connected: @LoopActor (StreamTransport) -> Void
  ) async throws -> any Central {
    switch self {
    case .kernel(let index):
      return try await KernelCentral.open(adapter: index, tap: tap)
    case .user(let index):
      return try await host(UserChannel.open(index), "user:\(index)", tap, bonds)
    case .stream(let address):
      let transport = try await StreamTransport.connect(to: address, timeout: .seconds(10))
      connected(transport)
      return try await host(transport, "\(address)", tap, bonds)
    case .simulation(let file):
      let air = if let air { air } else { try await Self.air(file) }
      let address = Address(rawValue: VirtualController.defaultAddress.rawValue + number)
      let central = try await host(VirtualController(air: air, address: address), file.map { "sim:\($0)" } ?? "sim", tap)
      // Without them, each process would have to pair again.
      for stored in try bonds.bonds(of: central.adapterInfo.ownAddress) { air.restore(stored.bond, with: central.adapterInfo.ownAddress) }
      return central
    case .replay(let file):
      let recording = try await Self.recording(file, isStrict: isStrict, note)
      if let sentence = recording.holes(in: file) { note(sentence) }
      discovered(recording.discoveredPeers)
      let loop = EventLoop.shared
      // Records show the recorded times.
      if loop.isVirtual { loop.wallClock = recording.start }
      let transport = ReplayTransport(
        recording, isStrict: isStrict, onPause: { if loop.isVirtual { loop.wallClock += $0 } }, onNote: { note($0.text(file)) })
      let central = try await host(transport, "replay:\(file)", tap)
      central.unheardPeer = { recording.unheardPeer($0) }
      return central
    }
  }

  /// Reads a recording from a trace file.
  /// - Parameters:
  ///   - limit: The maximum size of the file in bytes.
  ///   - purpose: The verb for errors.
  ///   - note: Receives the error at which the file becomes invalid.
  @LoopActor package static func recording(
    _ file: String, limit: Int = 100 << 20, isStrict: Bool, for purpose: String = "replay", _ note: (String) -> Void
  ) async throws -> Recording {
    let bytes = try await InputFile.read(file, limit: limit)
    do {
      var host = SniffedHost()
      let recording = try await Recording.read(bytes, isStrict: isStrict) { host.records($0) }
      if let error = recording.end { note(ReplayNote.cut(error).text(file)) }
      return recording
    } catch let error as MalformedPacket {
      let reason = ForeignFile.explain(bytes, named: file) ?? "\(error)"
      throw Failure(.input, "Cannot \(purpose) \(DisplayText.quote(file)): \(reason)")
    }
  }

  @LoopActor private func host(
    _ transport: any Transport, _ name: String, _ tap: (any Tap)?, _ bonds: BondStore? = nil
  ) async throws -> HostCentral {
    let central = HostCentral(transport, name: name, tap: tap, staticAddress: try bonds?.staticAddress())
    do {
      try await central.start()
      return central
    } catch {
      await shielded { await central.close() }
      throw error
    }
  }

  @LoopActor package static func peripherals(in file: String) async throws -> [PeripheralDescription] {
    let bytes = try await InputFile.read(file, limit: 4 << 20)
    do { return try PeripheralFile.parse(bytes, name: file) } catch {
      var host = SniffedHost()
      guard (try? await Recording.read(bytes, isStrict: false) { host.records($0) }) != nil else { throw error }
      let adapter = ShellWords.quoteForShell("replay:\(file)")
      throw Failure(.input, "\(DisplayText.quote(file)) is a recording, not a file of simulated devices. Use: -i \(adapter)")
    }
  }

  /// Creates the simulator's radio environment (air). Uses the peripherals of a file, or the preset peripherals if `file` is nil.
  @LoopActor package static func air(_ file: String?) async throws -> Air {
    let air = Air()
    let descriptions =
      if let file { try await peripherals(in: file) } else { try BuiltInDevices.peripherals() }
    air.add(descriptions)
    return air
  }
}
