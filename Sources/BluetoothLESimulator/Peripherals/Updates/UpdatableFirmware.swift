// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The firmware of a simulated device that takes updates: the protocol that writes it, its flash, and its bootloader.
@LoopActor
package protocol UpdatableFirmware: AnyObject {
  /// The device in which the firmware runs.
  var host: (any UpdateHost)? { get set }
  /// What the device shows after its next start: address, advertisements, attributes.
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

/// The device around firmware that takes updates.
@LoopActor
package protocol UpdateHost: AnyObject {
  /// Stops the device, ends its links, and starts it again.
  func restart(_ how: Reaction.Disconnection)
  func isBonded(_ client: Server) -> Bool
}

/// How a device takes updates.
package enum UpdateDescription: Sendable {
  case management(ManagementSettings)
  case secureDFU(BootloaderSettings)

  @LoopActor
  func firmware(_ application: PeripheralDescription) -> any UpdatableFirmware {
    switch self {
    case .management(let settings): ManagementDevice(settings, application)
    case .secureDFU(let settings): SecureBootloader(settings, application)
    }
  }

  /// The service of the application that updates need. Nil if they need none.
  var service: AttributeDatabase.ServiceDescription? {
    switch self {
    case .management(let settings): settings.service
    case .secureDFU(let settings): settings.applicationService
    }
  }
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
  /// Takes the name of a bootloader, also in advertisements, before other advertising data.
  mutating func rename(_ name: String, services: [UInt8]) {
    let text = Array(name.utf8.prefix(20))
    (self.name, advertising.data) = (name, [2, 1, 6, UInt8(text.count + 1), 9] + text + services)
    (advertising.scanResponse, advertisement, scanResponse) = ([], nil, nil)
    if let handle = valueHandle(UUID(0x2A00)) { database.setValue(text, of: handle) }
  }

  /// The value handle of the first characteristic of a type.
  func valueHandle(_ uuid: UUID) -> AttributeHandle? {
    database.attributes.first { if case .value = $0.role { $0.type == uuid } else { false } }?.handle
  }
}

extension PeerAddress {
  /// The address whose last byte is greater by one.
  var next: Self { Self(Address(rawValue: address.rawValue & ~0xFF | (address.rawValue + 1) & 0xFF), type) }
}

extension AttributeDatabase.ServiceDescription {
  init(_ uuid: UUID, _ characteristics: [AttributeDatabase.CharacteristicDescription]) {
    self.init(uuid)
    self.characteristics = characteristics
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
