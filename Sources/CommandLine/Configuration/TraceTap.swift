import BluetoothLELinux
import Traces

/// The observer that copies the HCI packets of the process to a trace file, with zeros in place of secrets.
@LoopActor
final class TraceTap: Tap {
  /// Whether a trace may start while the radio is in use.
  var startsLater = false
  private var file: TraceFile?
  private var encode: (Snoop.Record) -> [UInt8] = \.encoded
  private var redaction = TraceRedaction()
  private var keepsSecrets = false

  /// Starts to write the HCI packets to a file, or stops if `file` is nil.
  /// - Parameters:
  ///   - isOutput: Whether the file is standard output. It gets pcapng, which Wireshark reads from a pipe. Other files get btsnoop.
  ///   - keepsSecrets: Whether to keep the secrets of blectl's own connections.
  func write(to file: TraceFile?, isOutput: Bool = false, keepsSecrets: Bool = false) {
    (self.file, self.keepsSecrets) = (file, keepsSecrets)
    encode = isOutput ? { Pcapng.packet($0) } : \.encoded
    redaction = TraceRedaction()
  }

  func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) {
    guard let file else { return }
    let redacted = redaction.redacted(packet, direction)
    let kept = keepsSecrets && isOurs ? packet : redacted
    file.write(encode(Snoop.Record(packet: kept, direction: direction, wallClock: EventLoop.shared.wallClock)))
  }
}
