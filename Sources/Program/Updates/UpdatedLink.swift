import BluetoothLEFirmware
import BluetoothLELinux
import CommandLine

/// The connection of a command that may restart its device.
@LoopActor
enum UpdatedLink {
  /// Runs `body` with a device that it may restart. A session that was connected before keeps the last connection.
  static func use<T: Sendable>(
    _ target: Target, _ context: Context, _ body: @LoopActor (LinkedUpdateDevice) async throws -> T
  ) async throws -> T {
    let links = context.links
    let device = LinkedUpdateDevice(links, try await context.request(target)) { await links.abandon($0) }
    var isKept = false
    func finish() async throws {
      guard let connection = device.connection, !links.keeps(connection) else { return }
      if isKept, connection.isOpen { try await links.keep(connection) } else { await links.release(connection) }
    }
    do {
      _ = try await device.client()
      isKept = device.connection.map { links.keeps($0) } ?? false
      let value = try await body(device)
      try await finish()
      return value
    } catch {
      let error = device.connection.map { links.reporter.explained(error, on: $0) } ?? error
      try? await finish()
      throw error
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
