// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The firmware of a simulated device that takes updates: the protocol that writes it, its flash, and its bootloader.
@LoopActor
package protocol UpdatableFirmware: AnyObject {
  /// The device in which the firmware runs.
  var host: VirtualPeripheral? { get set }
  /// The address, the advertisements and the attributes of the device after its next start.
  var running: PeripheralDescription { get }
  var ledger: UpdateLedger { get set }
  /// Decides about a write, and takes it after the response. Returns nil for an attribute that has nothing to do with updates.
  func decision(on handle: AttributeHandle, _ value: [UInt8], from client: Server) -> Server.Decision?
  /// Drops what belongs to a client that disconnected, or that ended its subscription.
  func forgetClient()
  /// Loses the contents of the RAM. Returns the time from power-on until the bootloader begins.
  func stop() -> Duration
  /// Does the bootloader's next step. Returns the time until the step after it, or nil if what `running` describes runs now.
  func start() -> Duration?
}

/// How a device takes updates.
package protocol UpdateDescription: Sendable {
  /// The service of the application that updates need. Nil if they need none.
  var service: AttributeDatabase.ServiceDescription? { get }
  @LoopActor
  func firmware(_ application: PeripheralDescription) -> any UpdatableFirmware
}

/// Counts what an update costs, and plans a power cut for tests.
package struct UpdateLedger: Sendable {
  /// The bytes of images that arrived, and those among them that the device had, or did not take.
  package private(set) var (received, repeated) = (0, 0)
  /// The pages that were erased, copied or swapped.
  package private(set) var pages = 0
  package var restarts = 0
  /// The count of `received` or `pages` at which the device loses power once.
  package var powerCutAfterBytes, powerCutAfterPages: Int?
  private var mark = 0

  /// Counts bytes of an image that arrive for an offset. Returns the number of bytes before a power cut, or nil without one.
  mutating func receive(_ count: Int, at offset: Int, isTaken: Bool = true) -> Int? {
    let limit = powerCutAfterBytes.map { $0 - received }
    let isCut = limit.map { $0 <= count } ?? false
    let count = isCut ? max(0, limit ?? 0) : count
    if isCut { powerCutAfterBytes = nil }
    received += count
    repeated += isTaken ? max(0, min(mark, offset + count) - offset) : count
    if isTaken { mark = max(mark, offset + count) }
    return isCut ? count : nil
  }

  /// Counts a page. Returns whether the power is cut now.
  mutating func page() -> Bool {
    pages += 1
    guard let limit = powerCutAfterPages, pages >= limit else { return false }
    powerCutAfterPages = nil
    return true
  }

  /// Begins an image that the device had no byte of.
  mutating func beginImage() { mark = 0 }
}

extension PeripheralDescription {
  /// The value handle of the first characteristic of a type.
  func valueHandle(_ uuid: UUID) -> AttributeHandle? {
    database.attributes.first { if case .value = $0.role { $0.type == uuid } else { false } }?.handle
  }
}

extension AttributeDatabase.CharacteristicDescription {
  /// Demands security of writes, also to the client configuration.
  mutating func protect(_ permissions: AttributeDatabase.Permissions) {
    self.permissions = permissions
    var configuration = AttributeDatabase.DescriptorDescription(.clientCharacteristicConfiguration)
    configuration.permissions = permissions.subtracting(.writeWithoutResponse).union([.read, .write])
    descriptors = [configuration]
  }
}
