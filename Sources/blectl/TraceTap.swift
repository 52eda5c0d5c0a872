import Decoding
import EventLoop
import HCI
import LinuxIO

/// The tap of a process: writes to a trace file, which may begin and end while the radio is in use, and zeroes secrets on the way.
@LoopActor
final class TraceTap: HCI.Tap {
  private var file: SnoopFile?
  private var redaction = TraceRedaction()
  private var keepsSecrets = false

  /// Records from now on; nil ends that. - Parameter keepsSecrets: leaves the packets of our own links as they are.
  func write(to file: SnoopFile?, keepsSecrets: Bool = false) {
    (self.file, self.keepsSecrets) = (file, keepsSecrets)
    redaction = TraceRedaction()
  }

  func record(_ packet: [UInt8], _ direction: HCI.Direction, isOurs: Bool) {
    guard let file else { return }
    let redacted = redaction.redacted(packet, direction)
    file.record(keepsSecrets && isOurs ? packet : redacted, direction)
  }
}
