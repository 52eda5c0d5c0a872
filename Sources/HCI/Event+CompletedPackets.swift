import Bluetooth

extension Event {
  /// An entry of Number Of Completed Packets (§7.7.19).
  package struct CompletedPackets: Sendable, Equatable {
    package var handle: ConnectionHandle
    package var count: UInt16

    package init(handle: ConnectionHandle, count: UInt16) {
      self.handle = handle
      self.count = count
    }

    /// All entries of one event, without copying: during a transfer, events arrive for every few packets.
    package struct List: Sendable, Equatable, RandomAccessCollection, ExpressibleByArrayLiteral {
      /// The entries as received, four bytes each.
      private let octets: ArraySlice<UInt8>

      init(octets: ArraySlice<UInt8>) { self.octets = octets }

      package init(arrayLiteral entries: CompletedPackets...) {
        var writer = ByteWriter()
        for entry in entries {
          writer.handle(entry.handle)
          writer.uint16(entry.count)
        }
        octets = writer.bytes[...]
      }

      package var startIndex: Int { 0 }
      package var endIndex: Int { octets.count / 4 }

      package subscript(index: Int) -> CompletedPackets {
        let at = octets.startIndex + 4 * index
        return CompletedPackets(
          handle: ConnectionHandle(UInt16(octets[at]) | UInt16(octets[at + 1]) << 8),
          count: UInt16(octets[at + 2]) | UInt16(octets[at + 3]) << 8)
      }

      package static func == (one: Self, other: Self) -> Bool { one.elementsEqual(other) }
    }
  }
}
