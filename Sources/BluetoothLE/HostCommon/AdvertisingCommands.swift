// SPDX-License-Identifier: Apache-2.0
/// The HCI commands that configure, start and stop advertising (Vol 4 Part E §7.8.5 to §7.8.9, or §7.8.52 to §7.8.60).
package struct AdvertisingCommands: Sendable, Equatable {
  /// The advertising intervals that a controller accepts.
  package static let intervals: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(10_240)
  /// The most bytes of data in legacy PDUs.
  static let legacyLimit = 31
  /// The most bytes of data in one command of the extended set.
  private static let fragmentLimit = 251
  /// The only advertising set of this host.
  package static let set: UInt8 = 0

  /// Whether these are commands of the extended set. A controller refuses a mix of both sets (Vol 4 Part E §3.1.1).
  package let isExtended: Bool
  /// The commands before `enable`, in order.
  package let configure: [CommandPacket]
  package let enable: CommandPacket
  package let disable: CommandPacket
  /// The command after `disable`, which removes the advertising set. Nil for the legacy set.
  package let remove: CommandPacket?

  /// Creates the commands for advertising.
  /// - Parameters:
  ///   - adapter: the name of the adapter for error messages.
  ///   - controller: the controller. If it supports extended advertising, legacy PDUs use the extended commands, too.
  ///   - limit: the most bytes of data in extended PDUs.
  /// - Throws: `GAPError.advertisingIntervalOutOfRange`, `.cannotAdvertiseExtended`, `.advertisingTooLong`.
  package init(_ advertising: Advertising, adapter: String, _ controller: ControllerInfo, limit: Int) throws(GAPError) {
    isExtended = controller.supported.advertisesExtended
    guard Self.intervals.contains(advertising.interval) else { throw .advertisingIntervalOutOfRange(advertising.interval) }
    let interval = UInt16(clamping: (advertising.interval.wholeNanoseconds + 312_500) / 625_000)
    if advertising.isExtended, !isExtended { throw .cannotAdvertiseExtended(adapter: adapter) }
    let limit = advertising.isExtended ? limit : Self.legacyLimit
    // An extended advertisement is connectable, or has data, or has a scan response (Vol 4 Part E §7.8.53).
    let allowsResponse = !advertising.isExtended || !advertising.isConnectable && advertising.data.isEmpty
    try Self.check(advertising.data, .data, adapter, limit)
    try Self.check(advertising.scanResponse, .scanResponse, adapter, allowsResponse ? limit : 0)
    let own = controller.ownAddress
    let isScannable = !advertising.scanResponse.isEmpty || advertising.isConnectable && !advertising.isExtended
    let noPeer = PeerAddress(Address(rawValue: 0), .public)
    if isExtended {
      let properties: UInt16 = (advertising.isConnectable ? 1 : 0) | (isScannable ? 2 : 0) | (advertising.isExtended ? 0 : 0x10)
      var commands = [
        LESetExtendedAdvertisingParameters(
          advertisingHandle: Self.set, properties: properties, intervalMin: UInt32(interval), intervalMax: UInt32(interval),
          ownAddressType: own.type.hciValue, peer: noPeer
        ).packet
      ]
      if own.type == .random {
        commands.append(LESetAdvertisingSetRandomAddress(advertisingHandle: Self.set, own.address).packet)
      }
      if !isScannable || !advertising.isExtended {
        commands += Self.fragments(advertising.data) {
          LESetExtendedAdvertisingData(advertisingHandle: Self.set, operation: $0, $1).packet
        }
      }
      if isScannable {
        commands += Self.fragments(advertising.scanResponse) {
          LESetExtendedScanResponseData(advertisingHandle: Self.set, operation: $0, $1).packet
        }
      }
      configure = commands
      enable = LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: Self.set)]).packet
      disable = LESetExtendedAdvertisingEnable(false, sets: [.init(advertisingHandle: Self.set)]).packet
      remove = LERemoveAdvertisingSet(advertisingHandle: Self.set).packet
    } else {
      let type: UInt8 = advertising.isConnectable ? 0 : isScannable ? 2 : 3
      configure = [
        LESetAdvertisingParameters(
          intervalMin: Slots(rawValue: interval), intervalMax: Slots(rawValue: interval), type: type,
          ownAddressType: own.type.hciValue, peer: noPeer
        ).packet, LESetAdvertisingData(advertising.data).packet, LESetScanResponseData(advertising.scanResponse).packet,
      ]
      enable = LESetAdvertisingEnable(true).packet
      disable = LESetAdvertisingEnable(false).packet
      remove = nil
    }
  }

  private static func check(_ data: [UInt8], _ part: AdvertisingPart, _ adapter: String, _ limit: Int) throws(GAPError) {
    if data.count > limit { throw .advertisingTooLong(adapter: adapter, part, data.count, limit: limit) }
  }

  /// Splits data into fragments, each with its operation (Vol 4 Part E §7.8.54).
  private static func fragments(_ data: [UInt8], _ command: (_ operation: UInt8, [UInt8]) -> CommandPacket) -> [CommandPacket] {
    guard data.count > fragmentLimit else { return [command(3, data)] }
    return stride(from: 0, to: data.count, by: fragmentLimit).map { start in
      let end = min(start + fragmentLimit, data.count)
      return command(start == 0 ? 1 : end == data.count ? 2 : 0, Array(data[start..<end]))
    }
  }
}
