import BluetoothLEFirmware
import BluetoothLELinux
import CommandLine

/// The connection of a command that may restart its device.
@LoopActor
enum UpdatedLink {
  /// Runs `body` with a device that it may restart. A session that was connected before keeps the last connection.
  /// - Parameter body: Also takes the words before an action in advice, such as `blectl firmware Sensor`.
  static func use<T: Sendable>(
    _ who: PeerOptions, _ context: Context, _ body: @LoopActor (LinkedUpdateDevice, _ firmware: String) async throws -> T
  ) async throws -> T {
    let (links, program) = (context.links, context.process.commands.program)
    let peer = who.peer == .current ? links.currentDevice.map(PeerArgument.selector) ?? .current : who.peer
    // At the prompt of a session, a command means the current device.
    let name = program.isEmpty && who.peer == .current ? "" : " \(ShellWords.quoteForShell(peer.typed))"
    let device = LinkedUpdateDevice(links, try await context.request(who)) { await links.abandon($0) }
    var isKept = false
    links.setReconnecting(true)
    defer { links.setReconnecting(false) }
    func finish() async throws {
      guard let connection = device.connection, !links.keeps(connection) else { return }
      if isKept, connection.isOpen { try await links.keep(connection) } else { await links.release(connection) }
    }
    do {
      _ = try await device.client()
      isKept = device.connection.map { links.keeps($0) } ?? false
      let value = try await body(device, "\(program)firmware\(name)")
      try await finish()
      return value
    } catch {
      let error = device.connection.map { links.reporter.explained(error, on: $0) } ?? error
      try? await finish()
      var failure = Failure(error)
      let message = ["firmware", "services"].reduce(failure.message) { $0.replacing("blectl \($1) PEER", with: "blectl \($1)\(name)") }
      if message == failure.message { throw error }
      failure.message = message
      throw failure
    }
  }

  /// Reads and checks a firmware file.
  /// - Throws: `Failure(.usage)` for standard input in a session; FileError; FirmwareFileError.
  static func file(_ path: String, _ context: Context) async throws -> FirmwareFile {
    if path == "-" { try context.refuseInput() }
    let bytes = try await context.output.reading(path) {
      try await InputFile.read(path, limit: FirmwareFile.fileLimit, whenIdle: $0)
    }
    return try FirmwareFile.recognize(bytes)
  }
}
