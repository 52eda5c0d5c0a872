import Decoding
import EventLoop
import HCI
import LinuxIO

/// The process's tap on HCI. Zeroes secrets. Its trace file may start and end while the radio is in use.
@LoopActor
final class TraceTap: HCI.Tap {
  /// Whether a trace may start while the radio is in use.
  var startsLater = false
  private var file: SnoopFile?
  private var redaction = TraceRedaction()
  private var keepsSecrets = false

  /// Starts writing to a file, or stops if `file` is nil. `keepsSecrets` keeps the secrets of blectl's own links.
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
