import Glibc

/// The settings of an adapter that a pairing changes, and restores at its end.
@LoopActor
final class KernelSettings {
  /// The time that a pairing waits for the end of another one.
  private static let patience = Duration.seconds(10)

  private let management: ManagementSocket
  private let lock: OwnedDescriptor
  private let isBondable: Bool
  private let usesSecureConnections: Bool
  private var undo: [ManagementCommand] = []

  /// Reads the settings. Until the end of the object, all other pairings on the adapter wait, also those of other users.
  /// - Throws: AdapterProblem, KernelPairingProblem, MalformedPacket, CancellationError.
  init(_ management: ManagementSocket, of keyring: KernelKeyring) async throws {
    self.management = management
    // Without /sys there is no lock.
    do { lock = try SystemCall.open(keyring.folder, O_RDONLY) } catch { lock = OwnedDescriptor(-1) }
    let deadline = EventLoop.shared.now.advanced(by: Self.patience)
    while try !StateLog.lock(lock.rawValue, LOCK_EX, tries: 1) {
      guard EventLoop.shared.now < deadline else { throw KernelPairingProblem.otherPairing(keyring.adapter.name, keyring.folder) }
      try await EventLoop.shared.sleep(for: .milliseconds(100))
    }
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

  /// Sets what the adapter can display and enter. The kernel's default, which no command reads, is neither.
  func set(_ capability: IOCapability) async throws {
    if capability != .noInputNoOutput { try await set(.setIOCapability(capability), undoing: .setIOCapability(.noInputNoOutput)) }
  }

  private func set(_ command: ManagementCommand, undoing old: ManagementCommand) async throws {
    undo.append(old)
    try await management.send(command)
  }

  /// Restores all settings that it can.
  func restore() async { while let command = undo.popLast() { _ = try? await management.send(command) } }
}
