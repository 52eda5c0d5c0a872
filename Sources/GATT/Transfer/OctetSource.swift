package import EventLoop
import Text

/// What a transfer takes its octets from: by their place, because a transfer may go back to where a lost link left it.
@LoopActor
package protocol OctetSource: AnyObject {
  /// Octets in all; nil until the end is known.
  var count: Int? { get }
  /// Without waiting: nil when the octets at this place must be waited for or read first. Fewer than `count` only at the end, none after it.
  func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>?
  /// As `buffered`, and waits. - Throws: why they cannot be had; CancellationError.
  func octets(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8>
  /// Nothing before this place is asked for again.
  func release(before offset: Int)
  /// CRC-32 of all before this place. - Throws: as `octets`.
  func crc(upTo offset: Int) async throws -> UInt32
  /// - Throws: an error if the source has changed since its bytes were read.
  func checkUnchanged() throws
}

extension OctetSource {
  package func checkUnchanged() throws {}
}

/// The error of a source that changed while it was read.
package protocol OctetSourceError: Error {
  /// The size in bytes before and now. Nil for another error.
  var change: (before: Int, now: Int)? { get }
}

/// Octets in memory.
@LoopActor
package final class OctetArray: OctetSource {
  private let array: [UInt8]

  package init(_ array: [UInt8]) { self.array = array }

  package var count: Int? { array.count }

  package func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>? {
    let start = min(max(0, offset), array.count)
    return array[start..<min(array.count, start + min(max(0, count), array.count - start))]
  }

  package func octets(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8> { buffered(at: offset, atMost: count) ?? [] }

  package func release(before offset: Int) {}

  package func crc(upTo offset: Int) async throws -> UInt32 {
    var crc = CRC32()
    crc.add(array.prefix(max(0, offset)))
    return crc.value
  }
}
