import Bluetooth
import EventLoop

/// The settings of an adapter that a pairing changes, and restores at its end.
@LoopActor
final class KernelSettings {
  private let management: ManagementSocket
  private let isBondable: Bool
  private let usesSecureConnections: Bool
  private var undo: [ManagementCommand] = []

  /// Reads the settings.
  /// - Throws: AdapterProblem, KernelPairingProblem, MalformedPacket, CancellationError.
  init(_ management: ManagementSocket) async throws {
    self.management = management
    // Address, version, manufacturer and supported settings come first.
    var reader = ByteReader(try await management.send(.readInformation))
    _ = try reader.bytes(13, "information of an adapter")
    let bits = try reader.uint32("settings of an adapter")
    (isBondable, usesSecureConnections) = (bits & 1 << 4 != 0, bits & 1 << 11 != 0)
  }

  func set(bondable: Bool, secureConnections: Bool) async throws {
    if bondable != isBondable { try await set(.setBondable(bondable), undoing: .setBondable(isBondable)) }
    if secureConnections != usesSecureConnections {
      try await set(.setSecureConnections(secureConnections), undoing: .setSecureConnections(usesSecureConnections))
    }
  }

  private func set(_ command: ManagementCommand, undoing old: ManagementCommand) async throws {
    undo.append(old)
    try await management.send(command)
  }

  /// Restores all settings that it can.
  func restore() async {
    while let command = undo.popLast() { _ = try? await management.send(command) }
  }
}
