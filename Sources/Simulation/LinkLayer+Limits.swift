import Peripherals

extension LinkLayer {
  /// Applies the limits that a device sets for its links.
  /// - Parameter number: The number of this connection, from 1.
  mutating func limit(to limits: LinkLimits, connection number: Int) {
    if number <= limits.cuts ?? .max { cutAfterOctets = limits.cutAfterOctets }
    packetsPerEvent = limits.packetsPerEvent
    packetErrorRate = limits.packetErrorRate
    guardTime = limits.guardTime
    interFrameSpace = limits.interFrameSpace
    pollingTime = limits.pollingTime
    isEncrypted = limits.isEncrypted
    guard let firmware = limits.firmware else { return }
    // The firmware's drops depend on the arrival time of each packet.
    batchLimit = 1
    if firmware.whenFull == .hold { room = firmware.buffers }
  }
}
