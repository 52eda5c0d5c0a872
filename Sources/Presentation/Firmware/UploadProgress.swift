package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText
import Terminal

/// The progress of the uploads to one device, one after the other.
@LoopActor
package final class UploadProgress {
  /// The bytes of the last upload that the device confirmed, and all. Nil before the first.
  package private(set) var position: (confirmed: Int, total: Int)?
  private let progress: Progress
  /// The time when the current upload began, and its first byte. Nil between uploads.
  private var begin: (time: LoopClock.Instant, byte: Int)?

  init(_ device: RecordWriter.Members, _ output: Output) { progress = Progress(device, output) }

  /// - Throws: The errors of the output.
  package func show(_ sent: Int, _ confirmed: Int, of total: Int) throws {
    let begin = begin ?? (EventLoop.shared.now, sent)
    (self.begin, position) = (begin, (confirmed, total))
    try progress.update(sent, of: total, from: begin.byte, inFlight: max(0, sent - confirmed), since: begin.time)
  }

  package func end() {
    begin = nil
    progress.end()
  }
}

extension UploadCount {
  /// The time in seconds. Nil if nothing was sent.
  var seconds: Double? { bytes > 0 ? (time.inSeconds * 1000).rounded() / 1000 : nil }

  var text: String { "\(Quantity.bytes(bytes)) in \((seconds ?? 0).plainText) s, \(Quantity.rate(bytes, in: time.inSeconds))" }
}
