import Decoding
import EventLoop
import HCI
import LinuxIO

/// The observer that copies the HCI packets of the process to a trace file, with zeros in place of secrets.
@LoopActor
final class TraceTap: HCI.Tap {
  /// Whether a trace may start while the radio is in use.
  var startsLater = false
  private var file: SnoopFile?
  private var redaction = TraceRedaction()
  private var keepsSecrets = false

  /// Starts to write the HCI packets to a file, or stops if `file` is nil. With `keepsSecrets`, keeps the secrets of blectl's own connections.
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
