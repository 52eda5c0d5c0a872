package import EventLoop
import Text

/// A source of bytes for a transfer, with random access, because a transfer may return to the place where a lost link left it.
@LoopActor
package protocol OctetSource: AnyObject {
  /// The total number of bytes. Nil until the source knows its end.
  var count: Int? { get }
  /// Returns bytes without waiting. Nil if they are not available yet. Fewer than `count` only at the end, empty after it.
  func buffered(at offset: Int, atMost count: Int) -> ArraySlice<UInt8>?
  /// Returns the bytes at an offset, and waits for them if necessary.
  /// - Throws: the reason why they are unavailable, CancellationError.
  func octets(at offset: Int, atMost count: Int) async throws -> ArraySlice<UInt8>
  /// Releases the bytes before this offset, which the transfer does not request again.
  func release(before offset: Int)
  /// Computes the CRC-32 of all bytes before this offset.
  /// - Throws: the errors of `octets`.
  func crc(upTo offset: Int) async throws -> UInt32
  /// Checks that the source has not changed since the transfer read its bytes. Throws an error if it has.
  func checkUnchanged() throws
}

extension OctetSource {
  package func checkUnchanged() throws {}
}

/// The error of a source that changed during reading.
package protocol OctetSourceError: Error {
  /// The size in bytes before and after the change. Nil for another error.
  var change: (before: Int, now: Int)? { get }
}

/// A source of bytes in memory.
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
