import TestSupport

/// The centrals that connected to a host on a scripted controller.
@LoopActor
final class Centrals {
  private(set) var links: [any CentralLink] = []
  let central: HostCentral
  let peripheral: any PeripheralRole
  let controller: ScriptedController

  init(_ central: HostCentral, _ peripheral: any PeripheralRole, _ controller: ScriptedController) {
    (self.central, self.peripheral, self.controller) = (central, peripheral, controller)
    peripheral.onCentral = { [weak self] in self?.links.append($0) }
  }

  /// The address of a phone.
  static func phone(_ number: UInt64) -> PeerAddress { PeerAddress(Address(rawValue: 0x40_00_00_00_00_00 + number), .random) }

  var isExtended: Bool { controller.supported.contains(LESetExtendedAdvertisingEnable.opcode) }

  var enable: CommandPacket {
    isExtended
      ? LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: 0)]).packet : LESetAdvertisingEnable(true).packet
  }
  /// The number of commands that enable advertising so far.
  var enabled: Int { controller.commands.count { $0 == enable } }

  /// Lets a phone connect. Its link gets the handle 0x40 plus its number.
  @discardableResult
  func connect(_ number: UInt64) async throws -> (any CentralLink)? {
    let handle = ConnectionHandle(0x40 + UInt16(number))
    let before = links.count
    controller.emit(controller.connected(Self.phone(number), role: 1, handle: handle))
    if isExtended { controller.emit(.leAdvertisingSetTerminated(status: .success, advertisingHandle: 0, handle: handle, events: 0)) }
    try await settle()
    return links.count > before ? links.last : nil
  }

  func lose(_ number: UInt64, _ reason: ControllerErrorCode = .remoteUserTerminated) async throws {
    controller.emit(.disconnectionComplete(status: .success, handle: ConnectionHandle(0x40 + UInt16(number)), reason: reason))
    try await settle()
  }
}

/// Returns a host on a scripted controller that advertises connectably.
@LoopActor
func advertised(extended: Bool = false, _ controller: ScriptedController = ScriptedController()) async throws -> Centrals {
  controller.supported = extended ? ScriptedController.advertisingExtended : ScriptedController.advertising
  let (central, _) = try await started(controller)
  let centrals = Centrals(central, try #require(central.peripheral), controller)
  var advertising = Advertising()
  advertising.data = [2, 1, 6]
  try await centrals.peripheral.advertise(advertising)
  return centrals
}
