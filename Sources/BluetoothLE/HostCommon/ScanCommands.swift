// SPDX-License-Identifier: Apache-2.0
/// The HCI commands that configure, start and stop a scan (Vol 4 Part E §7.8.10 and §7.8.11, or §7.8.64 and §7.8.65).
package struct ScanCommands: Sendable, Equatable {
  /// The scan window, 60 ms (0x60 slots of 0.625 ms), into which a whole advertising event fits.
  static let window: Slots = 0x60

  package let isExtended: Bool
  package let configure: CommandPacket
  package let enable: CommandPacket
  package let disable: CommandPacket

  /// Creates the commands for a scan.
  /// - Parameters:
  ///   - adapter: the name of the adapter for error messages.
  ///   - controller: the controller. If it supports extended scanning, the scan uses only extended commands, as the kernel does.
  ///   - sharing: whether to leave radio time for links.
  /// - Throws: `GAPError.noPrimaryPHY`, `GAPError.cannotScan`.
  package init(_ parameters: ScanParameters, adapter: String, _ controller: ControllerInfo, sharing: Bool = false) throws(GAPError) {
    let phys = PHYMask(parameters.phys).intersection([.le1M, .coded])
    guard !phys.isEmpty else { throw .noPrimaryPHY }
    isExtended = controller.supported.scansExtended
    if phys.contains(.coded), !isExtended || !controller.leFeatures.contains(.phyCoded) {
      throw .cannotScan(adapter: adapter, on: .coded, hasExtended: isExtended)
    }
    // Scan all the time that links leave. The PHYs take turns.
    let turns = UInt16(clamping: phys.phys.count + (sharing ? 1 : 0))
    let timing = ScanTiming(isActive: parameters.isActive, interval: Slots(rawValue: Self.window.rawValue * turns), window: Self.window)
    let own = controller.ownAddress.type.hciValue
    if isExtended {
      configure = LESetExtendedScanParameters(ownAddressType: own, filterPolicy: 0, phys: phys, phys.phys.map { _ in timing }).packet
      enable = LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0).packet
      disable = LESetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0).packet
    } else {
      configure = LESetScanParameters(timing, ownAddressType: own, filterPolicy: 0).packet
      enable = LESetScanEnable(true, filterDuplicates: false).packet
      disable = LESetScanEnable(false, filterDuplicates: false).packet
    }
  }
}
