import Bluetooth

extension LinkLayer {
  /// What a device says of the links to it.
  mutating func limit(to limits: LinkLimits) {
    packetsPerEvent = limits.packetsPerEvent
    packetErrorRate = limits.packetErrorRate
    guardTime = limits.guardTime
    interFrameSpace = limits.interFrameSpace
    pollingTime = limits.pollingTime
    guard let firmware = limits.firmware else { return }
    // What it drops depends on when each packet came.
    batchLimit = 1
    if firmware.whenFull == .hold { room = firmware.buffers }
  }
}
