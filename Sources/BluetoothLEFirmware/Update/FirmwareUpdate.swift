// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// An update of one device. Finds out what the device speaks, and installs a file that fits.
@LoopActor
package final class FirmwareUpdate {
  private let file: FirmwareFile
  private let options: UpdateOptions
  /// The protocol of the device, and the procedure for it. Nil before `plan`.
  private var chosen: (kind: UpdateProtocol, procedure: any UpdateProcedure)?

  package init(_ file: FirmwareFile, _ options: UpdateOptions = UpdateOptions()) { (self.file, self.options) = (file, options) }

  /// The protocol of the device. Nil before `plan`.
  package var kind: UpdateProtocol? { chosen?.kind }

  /// Recognizes the protocol of the device, and plans the update. Changes nothing on the device.
  /// - Throws: FirmwareUpdateError; the errors of `UpdateProcedure.plan`.
  package func plan(_ device: any UpdateDevice) async throws -> UpdatePlan {
    let table = try await device.client().discover()
    let chosen = try procedure(for: table)
    self.chosen = chosen
    return try await chosen.procedure.plan(device)
  }

  /// Does what `plan` returned. Calls `plan` first if no caller has.
  /// - Throws: The errors of `plan` and of `UpdateProcedure.run`.
  @discardableResult
  package func run(
    _ device: any UpdateDevice, _ onEvent: @escaping @LoopActor (UpdateEvent) throws -> Void = { _ in }
  ) async throws -> UpdateOutcome {
    if chosen == nil { _ = try await plan(device) }
    guard let procedure = chosen?.procedure else { throw FirmwareUpdateError.unknownDevice }
    return try await procedure.run(device, onEvent)
  }

  private func procedure(for table: AttributeTable) throws(FirmwareUpdateError) -> (kind: UpdateProtocol, procedure: any UpdateProcedure) {
    let spoken = UpdateProtocol.spoken(table)
    switch file.contents {
    case .image(let image):
      guard spoken.contains(.mcumgr) else { throw spoken.isEmpty ? .unknown(table) : .imageForDFU }
      if options.prn != nil { throw .unusedOption(.prn, .mcumgr) }
      return (.mcumgr, MCUmgrUpdate(image, options: options))
    case .package(let package):
      guard spoken.contains(.nordicDFU) else { throw spoken.isEmpty ? .unknown(table) : .packageForMCUmgr }
      if options.image != nil { throw .unusedOption(.image, .nordicDFU) }
      if !options.confirms { throw .unusedOption(.confirms, .nordicDFU) }
      return (.nordicDFU, SecureDFUUpdate(package, options: options))
    }
  }
}

/// A protocol with which devices take firmware.
package enum UpdateProtocol: String, Sendable {
  case mcumgr
  case nordicDFU = "nordic_dfu"

  /// The characteristics with which devices answer an update. Nobody else waits for these values.
  package static let answers: Set<UUID?> = [
    ManagementClient.characteristic, .dfu(0x8EC9_0001), .dfu(0x8EC9_0003), .dfu(0x8EC9_0004), .dfu(0x8E40_0001),
  ]

  /// Returns the protocols of a device. It may have several.
  package static func spoken(_ table: AttributeTable) -> Set<Self> {
    var found: Set<Self> = []
    if ManagementClient.isServer(table) { found.insert(.mcumgr) }
    if DFUTarget.isTarget(table) || DFUTarget.isButtonless(table) { found.insert(.nordicDFU) }
    return found
  }
}

/// The reason why a file cannot be installed on a device.
package enum FirmwareUpdateError: Error, Hashable, Sendable {
  /// The device has neither the service of MCUmgr nor that of Nordic's Secure DFU.
  case unknownDevice
  /// The device speaks only the DFU of nRF5 SDK 11 and before.
  case legacyDFU
  /// The file is a package, but the device speaks MCUmgr.
  case packageForMCUmgr
  /// The file is an image, but the device speaks Nordic's Secure DFU.
  case imageForDFU
  /// The protocol of the device does not know this option.
  case unusedOption(UpdateOptions.Member, UpdateProtocol)

  static func unknown(_ table: AttributeTable) -> Self {
    let legacy = UUID(high: 0x0000_1530_1212_EFDE, low: 0x1523_785F_EABC_D123)
    return table.services.contains { $0.uuid == legacy } ? .legacyDFU : .unknownDevice
  }
}
