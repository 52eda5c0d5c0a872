package import Bluetooth
import EventLoop
import HCI

extension Recording {
  /// - Parameter file: btsnoop, pcap or pcapng. Of several adapters, the one that is most of a central is taken.
  /// - Throws: MalformedPacket with the offset in the file. What the packets hold is never an error: what cannot be read is left out.
  package init(parsing file: [UInt8]) throws(MalformedPacket) {
    var reader = try FileReader(file)
    while try reader.takeRecord() {}
    self = reader.finished()
  }

  /// As `init`, in turns with everything else on the loop: a long file takes seconds.
  /// - Throws: MalformedPacket; CancellationError.
  @LoopActor
  package static func read(_ file: [UInt8]) async throws -> Recording {
    var reader = try FileReader(file)
    while try reader.takeRecord() {
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
    }
    return reader.finished()
  }

  /// Gives the packets of each adapter to a reader of its own.
  private struct FileReader {
    private var trace: TraceReader
    private var number = 0
    private var readers: [UInt16: RecordingReader] = [:]

    init(_ file: [UInt8]) throws(MalformedPacket) { trace = try TraceReader(file) }

    /// - Returns: false at the end of the file.
    mutating func takeRecord() throws(MalformedPacket) -> Bool {
      guard let record = try trace.next() else { return false }
      number += 1
      guard record.air == nil else { throw MalformedPacket("this is a sniffer capture, without HCI packets of a host", at: 0) }
      // A monitor numbers adapters from 0; a file that names thousands was not made by one.
      guard readers[record.adapter] != nil || readers.count < 64 else { return true }
      readers[record.adapter, default: RecordingReader()].add(record, number: number, isWhole: trace.drops == 0)
      return true
    }

    consuming func finished() -> Recording {
      let best = readers.sorted { $0.key < $1.key }.max { $0.value.weight < $1.value.weight }
      var recording = best?.value.finished() ?? Recording()
      recording.drops = trace.drops
      return recording
    }
  }
}
