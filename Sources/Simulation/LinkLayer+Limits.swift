import Peripherals

extension LinkLayer {
  /// What a device says of the links to it.
  /// - Parameter number: of this connection, from 1.
  mutating func limit(to limits: LinkLimits, connection number: Int) {
    if number <= limits.cuts ?? .max { cutAfterOctets = limits.cutAfterOctets }
    packetsPerEvent = limits.packetsPerEvent
    packetErrorRate = limits.packetErrorRate
    guardTime = limits.guardTime
    interFrameSpace = limits.interFrameSpace
    pollingTime = limits.pollingTime
    isEncrypted = limits.isEncrypted
    guard let firmware = limits.firmware else { return }
    // What it drops depends on when each packet came.
    batchLimit = 1
    if firmware.whenFull == .hold { room = firmware.buffers }
  }
}
